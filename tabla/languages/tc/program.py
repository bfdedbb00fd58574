"""The checked program: every name resolved, every value with its type."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from tabla.base.source import Label, Span, TablaError
from tabla.languages.tc.scalars import Scalar

Role = Literal["input", "output", "temporary"]
Reduction = Literal["+", "*", "min", "max"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """Anything with a place."""

    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Typed(Node):
    """A value of one scalar type."""

    scalar: Scalar


@dataclass(frozen=True, slots=True, kw_only=True)
class Constant(Typed):
    """A number of the text, as an exact fraction."""

    value: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeVariable(Typed):
    """A size of the signature."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent(Typed):
    """``T.n``: how many values dimension n of a tensor has."""

    tensor: str
    axis: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Index(Typed):
    """An index of the statement as a value."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Read(Typed):
    """One element of a tensor."""

    tensor: str
    subscripts: tuple[Value, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Convert(Typed):
    """The operand as a value of this type. A float becomes an integer by rounding toward zero."""

    operand: Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Unary(Typed):
    """``-`` or ``!``."""

    operator: str
    operand: Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Binary(Typed):
    """An operator. `common` is the type in which the operands meet; the result of a comparison is bool."""

    operator: str
    left: Value
    right: Value
    common: Scalar


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice(Typed):
    """``condition ? chosen : other``."""

    condition: Value
    chosen: Value
    other: Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Apply(Typed):
    """A built-in function, `min` or `max`."""

    function: str
    arguments: tuple[Value, ...]


Value = Constant | SizeVariable | Extent | Index | Read | Convert | Unary | Binary | Choice | Apply


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexRange(Node):
    """``index in low:high``. If an end mentions another index, the domain is no box."""

    index: str
    low: Value
    high: Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Assign(Node):
    """``target[indices] reduction= value`` at every point of the domain of all its indices.

    `reduction` is None for ``=``. `initialise` says that the target starts from the identity. `reduced` are the indices
    that the left side lacks. `guards` are read only for the ranges (``exists``, ``where x = e``).
    """

    target: str
    indices: tuple[str, ...]
    reduced: tuple[str, ...]
    reduction: Reduction | None
    initialise: bool
    value: Value
    ranges: tuple[IndexRange, ...]
    guards: tuple[Value, ...]
    places: Mapping[str, Span] = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallStatement(Node):
    """``targets = function(arguments)``; arguments are tensors."""

    targets: tuple[str, ...]
    function: Function
    arguments: tuple[str, ...]


Statement = Assign | CallStatement


@dataclass(frozen=True, slots=True, kw_only=True)
class Tensor(Node):
    """A tensor of a function. `dimensions` are those that its type writes, and None where they are inferred.

    `initial` says that the caller's values are read before any statement defines the tensor (``+=`` without ``!``).
    """

    name: str
    scalar: Scalar
    rank: int
    role: Role
    dimensions: tuple[str | int, ...] | None
    initial: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Function(Node):
    """One ``def``: its sizes in the order of appearance, inputs, results, all tensors, statements, and warnings."""

    name: str
    sizes: tuple[str, ...]
    inputs: tuple[str, ...]
    results: tuple[str, ...]
    tensors: Mapping[str, Tensor]
    statements: tuple[Statement, ...]
    notes: tuple[str, ...]

    @property
    def read(self) -> frozenset[str]:
        """The tensors whose elements matter. Of other inputs only the sizes matter."""
        found: set[str] = {name for name, tensor in self.tensors.items() if tensor.initial}
        for statement in self.statements:
            match statement:
                case Assign(value=value, guards=guards, ranges=ranges):
                    values = [value, *guards, *(end for each in ranges for end in (each.low, each.high))]
                    found |= {part.tensor for one in values for part in walk(one) if isinstance(part, Read)}
                case CallStatement(function=function, arguments=arguments):
                    passed = zip(function.inputs, arguments, strict=True)
                    found |= {argument for parameter, argument in passed if parameter in function.read}
        return frozenset(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """All functions of a file, in order."""

    functions: Mapping[str, Function]

    def function(self, name: str | None = None) -> Function:
        """Return the function of this name, or the last one without a name. An unknown name is a `TablaError`."""
        if name is None:
            return list(self.functions.values())[-1]
        if name not in self.functions:
            last = list(self.functions.values())[-1]
            known = ", ".join(self.functions)
            raise TablaError(f"there is no function '{name}'", Label(last.span), hint=f"the file defines {known}")
        return self.functions[name]


def parts(value: Value) -> tuple[Value, ...]:
    """Return the values directly inside a value."""
    match value:
        case Constant() | SizeVariable() | Extent() | Index():
            return ()
        case Read(subscripts=subscripts):
            return subscripts
        case Convert(operand=operand) | Unary(operand=operand):
            return (operand,)
        case Binary(left=left, right=right):
            return (left, right)
        case Choice(condition=condition, chosen=chosen, other=other):
            return (condition, chosen, other)
        case Apply(arguments=arguments):
            return arguments


def walk(value: Value) -> Iterator[Value]:
    """Return the value and all values inside it, left to right."""
    yield value
    for part in parts(value):
        yield from walk(part)
