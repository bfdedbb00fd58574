"""What a function of tensors becomes when it has run: nodes that say how each tensor is made of others.

A node is one tensor of known shape. Nodes are compared by identity, because a tensor that is used twice is computed
once. Subscripts are sums of index variables with rational factors: a quotient divides exactly.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from tabla.base.source import Span
from tabla.languages.kernel.intervals import Rational

Kind = Literal["float", "integer", "boolean"]
Aggregation = Literal["sum", "product", "max", "min", "assign"]
Combination = Literal["none", "multiply", "add", "condition"]
Operator = Literal[
    "add", "subtract", "multiply", "divide", "power",
    "equal", "not_equal", "less", "less_equal", "greater", "greater_equal",
    "negate", "absolute", "square_root", "exponential", "logarithm", "sine", "cosine", "hyperbolic_tangent", "sigmoid",
    "soft_plus",
    "round", "cast", "maximum", "minimum", "select",
    "floor", "ceil", "tangent", "arc_sine", "arc_cosine", "arc_tangent", "hyperbolic_sine", "hyperbolic_cosine",
    "error_function", "complementary_error_function", "atan2",
    "remainder", "bit_and", "bit_or", "bit_xor", "bit_not", "shift_left", "shift_right",
]  # fmt: skip
Shape = tuple[int, ...]


@dataclass(slots=True, eq=False)
class Name:
    """What the user's function calls a tensor; None as long as that is not known. `derived` marks a derivative."""

    text: str | None = None
    derived: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscript:
    """An index expression. Index values for which one of `whole` is not an integer are not valid."""

    value: Rational
    whole: tuple[Rational, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraint:
    """``0 <= subscript < bound``."""

    subscript: Subscript
    bound: int
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Node:
    """A tensor; `span` is where the user's function makes it."""

    shape: Shape
    kind: Kind
    name: Name = field(default_factory=Name, repr=False)
    span: Span | None = field(default=None, repr=False)

    @property
    def operands(self) -> tuple[Node, ...]:
        """The tensors that this tensor is made of."""
        return ()

    @property
    def size(self) -> int:
        """The number of elements: the product of the shape, 1 for a single value."""
        count = 1
        for extent in self.shape:
            count *= extent
        return count


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Input(Node):
    """A parameter of the function."""

    parameter: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Number(Node):
    """A number of the program, of shape ()."""

    value: Fraction


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Factor(Number):
    """A number that a product takes as mantissa and shift, in every format, and not as a word (decision 22).

    A sum of which only this product is used may be larger than the format holds.
    """


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Values(Node):
    """Numbers of the program in an array, in row-major order."""

    values: tuple[Fraction, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ordinal(Node):
    """The coordinate along `axis`, for every element of the shape."""

    axis: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """An element of a tensor."""

    node: Node
    subscripts: tuple[Subscript, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Contraction(Node):
    """``output[write] aggregation= combination(sources)`` over all valid index values, and 0 where nothing is written.

    Index values are valid if they are integers for which every subscript is inside its tensor, the output's too, and
    every constraint holds. `combination` joins the sources: ``none`` takes one, ``multiply`` and ``add`` take two, and
    ``condition`` takes three (``a == b ? c : 0``).
    """

    aggregation: Aggregation
    write: tuple[Subscript, ...]
    combination: Combination
    sources: tuple[Access, ...]
    constraints: tuple[Constraint, ...] = ()

    @property
    def operands(self) -> tuple[Node, ...]:
        return tuple(source.node for source in self.sources)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Elementwise(Node):
    """An operator on every element. Operands broadcast as numpy broadcasts them."""

    operator: Operator
    inputs: tuple[Node, ...]

    @property
    def operands(self) -> tuple[Node, ...]:
        return self.inputs


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Biased(Elementwise):
    """The sum of a contraction, or of a multiple of one, and a bias, rounded once (decision 47).

    The first input is not rounded before the bias is added, where nothing else reads it.
    """


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Reshape(Node):
    """The same elements in row-major order in another shape."""

    operand: Node

    @property
    def operands(self) -> tuple[Node, ...]:
        return (self.operand,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """``weights - rate * gradient`` is the next value of `weights`."""

    weights: Input
    gradient: Node
    rate: Fraction
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Program:
    """What a function says for given shapes. `steps` are the updates of its weights, if it learns.

    `shown` are the names of the outputs; where it is empty, they are ``out0``, ``out1`` and so on. `labels` are the
    inputs that the program learns to predict; None stands for those that it reads only element by element. `predicted`
    is the value that is compared with a label, if the program names one; it is a word.
    """

    name: str
    inputs: tuple[Input, ...]
    outputs: tuple[Node, ...]
    steps: tuple[Step, ...] = ()
    shown: tuple[str, ...] = ()
    labels: tuple[Input, ...] | None = None
    predicted: Node | None = None
    span: Span | None = field(default=None, repr=False)

    def results(self) -> tuple[tuple[str, Node], ...]:
        """Return the outputs with their names."""
        names = self.shown or [f"out{number}" for number in range(len(self.outputs))]
        return tuple(zip(names, self.outputs, strict=True))

    def nodes(self) -> tuple[Node, ...]:
        """Return all nodes that the outputs and the steps need, operands first."""
        return ordered((*self.outputs, *(step.gradient for step in self.steps)))


def ordered(roots: Iterable[Node]) -> tuple[Node, ...]:
    """Return the roots and all that they are made of, each once, operands before the nodes that use them."""
    found: dict[Node, None] = {}
    pending: list[tuple[Node, bool]] = [(root, False) for root in reversed(tuple(roots))]
    while pending:
        node, ready = pending.pop()
        if node in found:
            continue
        if ready:
            found[node] = None
        else:
            pending.append((node, True))
            pending += [(operand, False) for operand in reversed(node.operands)]
    return tuple(found)
