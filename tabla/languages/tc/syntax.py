"""The tree that the grammar builds: names are still text, nothing is checked."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from tabla.base.lexemes import Lexeme
from tabla.base.source import Span
from tabla.languages.tc.scalars import Scalar


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """Anything with a place."""

    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Term(Node):
    """An expression; `depth` counts the levels down to its leaves."""

    depth: int = field(default=1, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Literal(Term):
    """A number as written, exactly; with a point or an exponent it is a float."""

    value: Fraction
    floating: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Name(Term):
    """A name alone: a size, an index, a tensor of rank 0, or what a ``where`` defines."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Dimension(Term):
    """``T.n``: the size of dimension n of a tensor."""

    tensor: Lexeme
    axis: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Apply(Term):
    """``name(arguments)``: an element of a tensor, or a function's value."""

    name: Lexeme
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cast(Term):
    """``type(operand)``."""

    scalar: Scalar
    operand: Expression


@dataclass(frozen=True, slots=True, kw_only=True)
class Unary(Term):
    """``-`` or ``!`` before its operand."""

    operator: str
    operand: Expression


@dataclass(frozen=True, slots=True, kw_only=True)
class Binary(Term):
    """An operator between two expressions."""

    operator: Lexeme
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice(Term):
    """``condition ? chosen : other``."""

    condition: Expression
    chosen: Expression
    other: Expression


Expression = Literal | Name | Dimension | Apply | Cast | Unary | Binary | Choice


@dataclass(frozen=True, slots=True, kw_only=True)
class Range(Node):
    """``index in low:high``."""

    index: Lexeme
    low: Expression
    high: Expression


@dataclass(frozen=True, slots=True, kw_only=True)
class Let(Node):
    """``name = value`` in a ``where``."""

    name: Lexeme
    value: Expression


@dataclass(frozen=True, slots=True, kw_only=True)
class Exists(Node):
    """``exists T(i)``: the ranges are such that this element exists."""

    element: Expression


Clause = Range | Let | Exists


@dataclass(frozen=True, slots=True, kw_only=True)
class Comprehension(Node):
    """``target(indices) operator value where clauses``; `indices` is None where the target stands bare.

    `equivalent` is the name in an annotation ``<=> name(arguments)``, which says which library function computes the
    same. Nothing else of the annotation is kept.
    """

    target: Lexeme
    indices: tuple[Lexeme, ...] | None
    operator: Lexeme
    value: Expression
    clauses: tuple[Clause, ...] = ()
    equivalent: Lexeme | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Node):
    """``a, b = function(c, d)``."""

    targets: tuple[Lexeme, ...]
    function: Lexeme
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken(Node):
    """What could not be read; the fault is noted already. `names` may have been defined in it."""

    names: frozenset[str] = frozenset()


Statement = Comprehension | Call | Broken


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorType(Node):
    """``float(N, 4)``: a dimension is a name or an integer."""

    scalar: Scalar
    dimensions: tuple[Lexeme, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter(Node):
    """``type name`` among the arguments; the type of a returned tensor may be left out."""

    type: TensorType | None
    name: Lexeme


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition(Node):
    """``def name(parameters) -> (returns) { statements }``."""

    name: Lexeme
    parameters: tuple[Parameter, ...]
    returns: tuple[Parameter, ...]
    statements: tuple[Statement, ...]
