"""The kernel: what every notation says, as typed statements over index domains. This file is its definition.

A kernel computes from inputs, labels and models. Its statements run one after the other. It knows no number format, no
word and no rounding: its numbers are reals, integers and truth values, and :mod:`tabla.languages.kernel.evaluate` says
what they are in float64.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import prod
from typing import Literal

from tabla.base.source import Span
from tabla.graph.boxes import Box, around, volume
from tabla.graph.graph import Affine, Index

Type = Literal["real", "integer", "truth"]
Role = Literal["input", "label", "model", "value", "initial"]
"""An ``initial`` tensor comes in like an input, and statements may write it."""
End = Literal["lowest", "highest"]
Reduction = Literal["sum", "product", "max", "min", "norm"]
"""How the values of a body become one. The ``norm`` is the square root of the sum of their squares."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """Anything with a place in the user's text. Two nodes that differ in place only are equal."""

    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Number(Node):
    """A number, exactly as the text says it."""

    value: Fraction
    type: Type = "real"


@dataclass(frozen=True, slots=True, kw_only=True)
class Position(Node):
    """The value of an index: an integer."""

    index: str

    @property
    def type(self) -> Type:
        """The type of the value."""
        return "integer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Read(Node):
    """The element of a tensor at `subscripts`, as it is before the statement. It is within the tensor."""

    tensor: str
    subscripts: tuple[Affine, ...] = ()
    type: Type = "real"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gather(Node):
    """The element of a tensor at subscripts of which some are computed: they are integers, and within the tensor.

    A computed subscript is within the tensor at every point, whatever conditions choose the element or another value.
    """

    tensor: str
    subscripts: tuple[Affine | Expression, ...]
    type: Type = "real"

    @property
    def computed(self) -> tuple[Expression, ...]:
        """The subscripts that are computed."""
        return tuple(each for each in self.subscripts if not isinstance(each, Affine))


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit(Node):
    """The lowest or the highest number: infinite if it is real. On the machine it is an end of the number format."""

    end: End
    type: Type = "real"


@dataclass(frozen=True, slots=True, kw_only=True)
class Apply(Node):
    """A function or an operator of the table :data:`tabla.languages.kernel.signatures.SIGNATURES`.

    :func:`tabla.languages.kernel.signatures.apply` makes one with its type.
    """

    function: str
    arguments: tuple[Expression, ...]
    type: Type


@dataclass(frozen=True, slots=True, kw_only=True)
class Reduce(Node):
    """The values of `body` over all values of `indices`, the outermost first, as one value of their type.

    A norm is of reals. A maximum or a minimum may be of truth values: whether one of them, or each of them, is true.
    Only values count at which all `conditions` are at least 0. Without any value a sum and a norm are 0, a product is
    1, and a maximum of truth values is false. A maximum of numbers is `Limit`, where it is an argument of a ``max``
    with the lowest number; elsewhere it has a value at each point. The same holds for a minimum.
    """

    reduction: Reduction
    indices: tuple[Index, ...]
    body: Expression
    conditions: tuple[Affine, ...] = ()

    @property
    def type(self) -> Type:
        """The type of the value."""
        return self.body.type


Expression = Number | Position | Read | Gather | Limit | Apply | Reduce


@dataclass(frozen=True, slots=True, kw_only=True)
class Tensor(Node):
    """A tensor of a kernel; the shape () is that of a single value. The elements of a value begin as 0.

    `base` has the subscripts that the user's text gives to the first element, where these are not 0. Only messages need
    it.
    """

    name: str
    shape: tuple[int, ...]
    role: Role
    type: Type = "real"
    base: tuple[int, ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement(Node):
    """``target[write] = value`` for all values of `indices`. All values are computed before any of them is stored.

    No element is written twice. Elements that are not written keep the value that they had. With `conditions` only
    those are written at which all of these are at least 0. If the target has no value yet, elements that conditions
    leave out, or that are between those that a stride reaches, are 0.
    """

    target: str
    write: tuple[Affine, ...]
    indices: tuple[Index, ...]
    value: Expression
    conditions: tuple[Affine, ...] = ()

    @property
    def box(self) -> Box:
        """The box around the elements that it writes, whatever its conditions say."""
        return around(self.write, {index.name: index for index in self.indices})

    @property
    def dense(self) -> bool:
        """Whether it writes all elements of that box where its conditions hold everywhere."""
        return prod(index.extent for index in self.indices) == volume(self.box)

    @property
    def partial(self) -> bool:
        """Whether it may leave elements of that box out."""
        return bool(self.conditions) or not self.dense


@dataclass(frozen=True, slots=True, kw_only=True)
class Update(Node):
    """``model -= rate * gradient``, element by element, after all statements. `rate_span` is where the rate is."""

    model: str
    gradient: str
    rate: Fraction
    rate_span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel(Node):
    """A whole kernel, checked. `tensors` come in the order of the text, and `results` are the tensors to return."""

    name: str
    tensors: Mapping[str, Tensor]
    statements: tuple[Statement, ...]
    updates: tuple[Update, ...] = ()
    results: tuple[str, ...] = ()


def spine(expression: Expression) -> tuple[Expression, tuple[Apply, ...]]:
    """Return the leftmost operand of ``a + b - c ...``, and the operators that follow it, the innermost first.

    Chains lean to the left and may be thousands of operators long, so they are walked in a loop. Everything else nests
    to a bounded depth.
    """
    chain: list[Apply] = []
    while isinstance(expression, Apply) and expression.arguments:
        chain.append(expression)
        expression = expression.arguments[0]
    return expression, tuple(reversed(chain))


def walk(expression: Expression) -> Iterator[Expression]:
    """Yield an expression and all expressions in it, in no particular order."""
    waiting = [expression]
    while waiting:
        part = waiting.pop()
        yield part
        match part:
            case Apply(arguments=arguments):
                waiting += arguments
            case Reduce(body=body):
                waiting.append(body)
            case Gather():
                waiting += part.computed


def reads(expression: Expression) -> Iterator[str]:
    """Yield the tensor of each element in an expression, in no particular order."""
    for part in walk(expression):
        if isinstance(part, Read | Gather):
            yield part.tensor


def rewritten(expression: Expression, leaf: Callable[[Expression], Expression]) -> Expression:
    """Return an expression in which `leaf` has rewritten everything that is no function. A reduction comes to it with
    its new body, and an element with its new computed subscripts.
    """
    first, chain = spine(expression)
    match first:
        case Apply():
            result: Expression = first
        case Reduce(body=body):
            result = leaf(replace(first, body=rewritten(body, leaf)))
        case Gather(subscripts=subscripts):
            new = (each if isinstance(each, Affine) else rewritten(each, leaf) for each in subscripts)
            result = leaf(replace(first, subscripts=tuple(new)))
        case _:
            result = leaf(first)
    for call in chain:
        others = tuple(rewritten(argument, leaf) for argument in call.arguments[1:])
        result = replace(call, arguments=(result, *others))
    return result
