"""The tree of a function in the tensor language: instructions with operands, types and regions."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from tabla.base.source import Span

REALS = frozenset({"bf16", "f16", "f32", "f64"})
INTEGERS = frozenset({"i8", "i16", "i32", "i64", "index"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A part of the text."""

    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scalar(Node):
    """``f32``, ``index``, ``bool``."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Memref(Node):
    """``memref<f32x4x?>``; a size is None where the text has a question mark."""

    element: str
    shape: tuple[int | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Group(Node):
    """``group<memref<...>x?>``: a memref for each group."""

    memref: Memref


Type = Scalar | Memref | Group


@dataclass(frozen=True, slots=True, kw_only=True)
class Local(Node):
    """``%name``."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Literal(Node):
    """A constant: a real number, an integer, or a truth value."""

    value: int | Fraction | bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice(Node):
    """``offset:size``, or an offset alone, whose mode is left out."""

    offset: Local | Literal
    size: Local | Literal | None


Operand = Local | Literal | Slice


@dataclass(frozen=True, slots=True, kw_only=True)
class Instruction(Node):
    """``%results = name.modifiers operands : types { region }``.

    The operands of ``for`` are the ends and the step, and those of ``foreach`` all first ends and then all second ones;
    `bound` are the names that the region gets: of loops, and of the values that a ``for`` carries, whose first values
    are `begin`.
    """

    name: str
    modifiers: tuple[str, ...] = ()
    results: tuple[Local, ...] = ()
    operands: tuple[Operand, ...] = ()
    bound: tuple[Local, ...] = ()
    begin: tuple[Local | Literal, ...] = ()
    types: tuple[Type, ...] = ()
    regions: tuple[tuple[Instruction, ...], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter(Node):
    """A parameter of a function."""

    name: str
    type: Type


@dataclass(frozen=True, slots=True, kw_only=True)
class Function(Node):
    """A function. Its place is its head."""

    name: str
    parameters: tuple[Parameter, ...]
    body: tuple[Instruction, ...]
