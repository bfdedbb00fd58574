"""The checked tree: what a TABLA text means. Names are resolved, sizes are integers, and every read is proved sound."""

from __future__ import annotations

from collections.abc import Iterator as IteratorOf
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction

from tabla.base.source import Source, Span
from tabla.graph.graph import Affine
from tabla.languages.tabla.operators import Function, GroupFunction, Operator


class Kind(Enum):
    """What a variable is to the outside. A label is called ``model_output`` in the language."""

    INPUT = "model_input"
    LABEL = "model_output"
    MODEL = "model"
    GRADIENT = "gradient"
    TEMPORARY = "temporary"


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """Anything with a place; two nodes that differ in place only are equal."""

    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable(Node):
    """A tensor of the program; a scalar has the shape ``()``.

    A temporary's shape reaches to the last element that is ever assigned.
    """

    name: str
    kind: Kind
    shape: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Iterator(Node):
    """An index that runs from `start` to `stop` - 1; never empty."""

    name: str
    start: int
    stop: int

    def __post_init__(self) -> None:
        if self.start >= self.stop:
            raise ValueError(f"iterator {self.name} has no value in [{self.start}, {self.stop})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Number(Node):
    """A literal, exactly as written."""

    value: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Constant(Node):
    """A scalar whose value at this place is known from the text; exact, not yet in any number format."""

    name: str
    value: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Index(Node):
    """An iterator as a value; it is bound by the left side of its statement or by a `Group` around it."""

    iterator: Iterator


@dataclass(frozen=True, slots=True, kw_only=True)
class Read(Node):
    """An element of a variable as it is before the statement. It is proved to be within bounds and assigned."""

    name: str
    subscripts: tuple[Affine, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookup(Node):
    """An element of a variable of which an input says the place, as in ``U[u][k]`` for an input `u`.

    Each subscript is affine or a *position*: a whole number that inputs, iterators and constants make. Every element
    that a position may lead to has a value.
    """

    name: str
    subscripts: tuple[Subscript, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Negation(Node):
    """Unary minus."""

    operand: Expression


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation(Node):
    """A binary operator; a comparison gives 0 or 1."""

    operator: Operator
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Node):
    """A function of values, with as many arguments as it takes."""

    function: Function
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Group(Node):
    """A group function over all values of `iterators` (outermost first), which `body` may use."""

    function: GroupFunction
    iterators: tuple[Iterator, ...]
    body: Expression


Expression = Number | Constant | Index | Read | Lookup | Negation | Operation | Call | Group
Subscript = Affine | Expression
"""An affine subscript, or a position."""


def nodes(expression: Expression) -> IteratorOf[Expression]:
    """Yield an expression and all expressions in it. Long sums are deep, so that no function calls itself here."""
    waiting = [expression]
    while waiting:
        node = waiting.pop()
        yield node
        match node:
            case Operation(left=left, right=right):
                waiting += [right, left]
            case Negation(operand=operand):
                waiting.append(operand)
            case Call(arguments=arguments):
                waiting += arguments[::-1]
            case Group(body=body):
                waiting.append(body)
            case Lookup(subscripts=subscripts):
                waiting += positions(subscripts)
            case _:
                pass


def positions(subscripts: tuple[Subscript, ...]) -> tuple[Expression, ...]:
    """Return the positions among subscripts."""
    return tuple(each for each in subscripts if not isinstance(each, Affine))


def iterators_in(position: Expression) -> IteratorOf[str]:
    """Yield the names of the iterators in a position, each as often as it stands there."""
    for node in nodes(position):
        match node:
            case Index(iterator=iterator):
                yield iterator.name
            case Read(subscripts=subscripts):
                yield from (name for form in subscripts for name in form.names)


def chain(operation: Operation) -> tuple[Expression, tuple[Operation, ...]]:
    """Return the leftmost operand of ``a + b - c ...`` and the operations that follow it, the innermost first.

    Chains lean to the left and may be thousands of operations long, so they are walked in a loop. Everything else nests
    to a bounded depth.
    """
    operations = [operation]
    while isinstance(operations[-1].left, Operation):
        operations.append(operations[-1].left)
    return operations[-1].left, tuple(reversed(operations))


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment(Node):
    """``target[subscripts] = value`` for all values of `iterators`. All values are computed before any is stored.

    Each subscript is a constant, or one of `iterators` times 1 or -1 plus a constant. Each iterator is in one
    subscript, so no element is stored twice. Elements that are not stored keep the value that they had, if any.
    A gradient may have positions among its subscripts. Then each value is added to the element that it leads to, and
    `again` says whether a statement before has assigned the gradient; if none has, the elements begin as 0.
    `constant` is the exact value where the target is a scalar that is known from the text: a size, a learning rate, a
    factor.
    """

    target: str
    subscripts: tuple[Subscript, ...]
    iterators: tuple[Iterator, ...]
    value: Expression
    constant: Fraction | None = None
    again: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Gradient(Node):
    """``gradient -> model``: after the sample, ``model = model - learning_rate * gradient``. Both have one shape."""

    gradient: str
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Warned(Node):
    """A warning: what is legal and probably a slip, with its cure. `name` is the name that it is about."""

    name: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A whole text, checked.

    `variables` come in the order of their first mention, `assignments` and `gradients` in the order of the text.
    `learning_rate` is the last value of ``mu``, 1 if it has none, and `learning_rate_span` is where it got that value.
    `outputs` are what a program without gradients returns: the variables whose last value nothing else reads.
    `warnings` come in the order of the text.
    """

    source: Source
    variables: tuple[Variable, ...]
    iterators: tuple[Iterator, ...]
    gradients: tuple[Gradient, ...]
    assignments: tuple[Assignment, ...]
    outputs: tuple[str, ...]
    learning_rate: Fraction = Fraction(1)
    learning_rate_span: Span | None = field(default=None, compare=False, repr=False)
    warnings: tuple[Warned, ...] = field(default=(), compare=False, repr=False)

    def variable(self, name: str) -> Variable:
        """Return the variable called `name`. Raises KeyError if there is none."""
        for variable in self.variables:
            if variable.name == name:
                return variable
        raise KeyError(name)
