"""The tree that the grammar of kernels builds: names are still text, and nothing is checked."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from tabla.base.lexemes import Lexeme
from tabla.base.source import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """Anything with a place."""

    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Literal(Node):
    """A number as written; with a point it is real."""

    value: Fraction
    real: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Element(Node):
    """A name with its subscripts, or without."""

    name: Lexeme
    subscripts: tuple[Value, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation(Node):
    """An operator and its operands."""

    sign: str
    operands: tuple[Value, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Range(Node):
    """``index in low:high``."""

    index: Lexeme
    low: int
    high: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Node):
    """``name(arguments)``, or with ranges ``name[i in 0:3 where i > 0](argument)``."""

    name: Lexeme
    ranges: tuple[Range, ...]
    arguments: tuple[Value, ...]
    conditions: tuple[Value, ...] = ()


Value = Literal | Element | Operation | Call


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration(Node):
    """``role name[shape]: type;``."""

    role: Lexeme
    name: Lexeme
    shape: tuple[int, ...]
    type: Lexeme


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment(Node):
    """``target = value for ranges where conditions;``."""

    target: Element
    value: Value
    ranges: tuple[Range, ...]
    conditions: tuple[Value, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Update(Node):
    """``update model -= rate * gradient;``."""

    model: Lexeme
    step: Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Return(Node):
    """``return name, name;``."""

    names: tuple[Lexeme, ...]


Item = Declaration | Assignment | Update | Return
