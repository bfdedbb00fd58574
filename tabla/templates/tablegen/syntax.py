"""The syntax tree of TableGen: what was written, before anything is looked up.

``at`` is the index of a node's first token and ``end`` that of its last one (see `positions`). Statements keep
the order of the file; a name is only a name here, because what it means depends on where it is evaluated.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A part of an expression, or a type."""

    at: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeName(Node):
    """``bit``, ``int``, ``string``, ``code``, ``dag``, ``bits<width>``, ``list<element>`` or a class name."""

    kind: str
    width: int = 0
    element: TypeName | None = None
    name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Name(Node):
    """An identifier used as a value."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Integer(Node):
    """A decimal or hexadecimal number, ``true`` or ``false``."""

    value: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Binary(Node):
    """``0b0101``: a number that knows its width."""

    value: int
    width: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Text(Node):
    """One or more adjacent string literals, or a code fragment."""

    value: str
    is_code: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Question(Node):
    """``?``"""


@dataclass(frozen=True, slots=True, kw_only=True)
class RangePiece:
    """``first``, ``first...last``, ``first-last``; `joined` means that the lexer took the minus into ``last``."""

    first: Expression
    last: Expression | None = None
    joined: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Braces(Node):
    """``{ a, b, 0b10 }``: bits, most significant first; after ``foreach i =`` it is a list of ranges."""

    pieces: tuple[RangePiece, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListLiteral(Node):
    """``[a, b]<type>``"""

    items: tuple[Expression, ...]
    element_type: TypeName | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DagArgument:
    """``value:$name``; a lone ``$name`` has no value."""

    value: Expression | None
    name: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DagLiteral(Node):
    """``(operator:$name argument, ...)``"""

    operator: Expression
    operator_name: str | None
    arguments: tuple[DagArgument, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """One template argument; `name` is set for ``name = value`` of the newer language."""

    value: Expression
    name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference(Node):
    """``Name`` or ``Name<arguments>``: a parent, a multiclass to instantiate, or an anonymous record."""

    name: str
    arguments: tuple[Argument, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Bang(Node):
    """``!operator<type>(arguments)``"""

    operator: str
    type: TypeName | None
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cond(Node):
    """``!cond(condition : value, ...)``"""

    clauses: tuple[tuple[Expression, Expression], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BitSelection(Node):
    """``base{ranges}``"""

    open: int
    base: Expression
    pieces: tuple[RangePiece, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ElementSelection(Node):
    """``base[ranges]``; `trailing_comma` makes one element a list of one in the newer language."""

    open: int
    base: Expression
    pieces: tuple[RangePiece, ...]
    trailing_comma: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldSelection(Node):
    """``base.field``"""

    base: Expression
    field: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Paste(Node):
    """``left # right``; a paste before ``: ; {`` has no right side."""

    hash: int
    left: Expression
    right: Expression | None


Expression: TypeAlias = (
    Name
    | Integer
    | Binary
    | Text
    | Question
    | Braces
    | ListLiteral
    | DagLiteral
    | Reference
    | Bang
    | Cond
    | BitSelection
    | ElementSelection
    | FieldSelection
    | Paste
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """``field type name = value``: a field or a template argument; `at` is the token of the name."""

    at: int
    type: TypeName
    name: str
    value: Expression | None
    is_field: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """``name{ranges} = value`` of a let in a body, or ``name<ranges> = value`` of one around statements."""

    at: int
    name: str
    pieces: tuple[RangePiece, ...] | None
    equals: int
    value: Expression


@dataclass(frozen=True, slots=True, kw_only=True)
class Defvar:
    """``defvar name = value;``"""

    at: int
    name: str
    value: Expression


@dataclass(frozen=True, slots=True, kw_only=True)
class Assert:
    """``assert condition, message;``"""

    at: int
    condition: Expression
    message: Expression


@dataclass(frozen=True, slots=True, kw_only=True)
class Dump:
    """``dump message;``"""

    at: int
    message: Expression


BodyItem: TypeAlias = Declaration | Binding | Defvar | Assert | Dump


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """Parents and items of a class or a def."""

    parents: tuple[Reference, ...]
    items: tuple[BodyItem, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassStatement:
    """``class Name<arguments> : parents { items }``; `at` is the token of the name."""

    at: int
    keyword: int
    name: str
    arguments: tuple[Declaration, ...]
    body: Body


@dataclass(frozen=True, slots=True, kw_only=True)
class DefStatement:
    """``def name : parents { items }``; `at` is the token ``def``."""

    at: int
    name: Expression | None
    body: Body


@dataclass(frozen=True, slots=True, kw_only=True)
class MulticlassStatement:
    """``multiclass Name<arguments> : parents { statements }``"""

    at: int
    keyword: int
    name: str
    arguments: tuple[Declaration, ...]
    parents: tuple[Reference, ...]
    statements: tuple[Statement, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DefmStatement:
    """``defm name : references;``"""

    at: int
    name: Expression | None
    references: tuple[Reference, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LetStatement:
    """``let bindings in statements``"""

    at: int
    bindings: tuple[Binding, ...]
    statements: tuple[Statement, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeachStatement:
    """``foreach variable = values in statements``; `in_` is the token ``in``."""

    at: int
    variable: str
    values: RangePiece
    in_: int
    statements: tuple[Statement, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class IfStatement:
    """``if condition then statements else statements``"""

    at: int
    condition: Expression
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DefsetStatement:
    """``defset list<type> name = { statements }``; `at` is the token of the name."""

    at: int
    type: TypeName
    name: str
    statements: tuple[Statement, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeftypeStatement:
    """``deftype Name = type;`` of the newer language."""

    at: int
    name: str
    type: TypeName


Statement: TypeAlias = (
    ClassStatement
    | DefStatement
    | MulticlassStatement
    | DefmStatement
    | LetStatement
    | ForeachStatement
    | IfStatement
    | DefsetStatement
    | DeftypeStatement
    | Defvar
    | Assert
    | Dump
)
