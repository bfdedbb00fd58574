"""The tree of a C++ file of Tile functions. Every node has its place."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from tabla.base.lexemes import Lexeme
from tabla.base.source import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A part of the text."""

    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Type(Node):
    """A type: `name` as the text has it, without its name space, inside so many vectors; a reference with ``&``."""

    name: str
    vectors: int = 0
    reference: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Expression(Node):
    """An expression. `depth` is how deeply it is nested."""

    depth: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Constant(Expression):
    """A number, a truth value or a text."""

    value: int | Fraction | bool | str


@dataclass(frozen=True, slots=True, kw_only=True)
class Name(Expression):
    """A variable, a function, or a constant such as ``DType::FLOAT32``."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Expression):
    """``callee(arguments)``: a call of a function, or an element of a tensor."""

    callee: Expression
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Construct(Expression):
    """``type(arguments)`` or ``type{arguments}``."""

    type: Type
    arguments: tuple[Expression, ...]
    braces: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Braces(Expression):
    """``{a, b}``: the elements of a vector, or several results."""

    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Element(Expression):
    """``vector[position]``."""

    vector: Expression
    position: Expression


@dataclass(frozen=True, slots=True, kw_only=True)
class Member(Expression):
    """``value.name``, which is always called."""

    value: Expression
    name: Lexeme


@dataclass(frozen=True, slots=True, kw_only=True)
class Unary(Expression):
    """``-a``, ``+a``, ``!a``, ``~a``."""

    operator: str
    operand: Expression


@dataclass(frozen=True, slots=True, kw_only=True)
class Binary(Expression):
    """Two operands and the operator between them."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice(Expression):
    """``condition ? chosen : other``."""

    condition: Expression
    chosen: Expression
    other: Expression


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable(Node):
    """One variable of a declaration. `how` says how `value` is written: ``T x = value``, ``T x(value)``."""

    name: Lexeme
    how: Literal["none", "assign", "parentheses", "braces"] = "none"
    values: tuple[Expression, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement(Node):
    """A statement."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration(Statement):
    """``Type a, b = value;``"""

    type: Type
    variables: tuple[Variable, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding(Statement):
    """``auto [a, b] = value;``"""

    names: tuple[Lexeme, ...]
    value: Expression


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment(Statement):
    """``target = value``, with ``+=`` and so on: a statement of a tensor's elements, or a new value of a variable."""

    target: Expression
    operator: Lexeme
    value: Expression


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation(Statement):
    """An expression as a statement: ``I.bind_dims(N);`` or the maximum ``O(n) >= I(m, n);``."""

    expression: Expression


@dataclass(frozen=True, slots=True, kw_only=True)
class Block(Statement):
    """``{ statements }``, a scope of its own."""

    statements: tuple[Statement, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class If(Statement):
    """``if (condition) chosen else other``."""

    condition: Expression
    chosen: Statement
    other: Statement | None


@dataclass(frozen=True, slots=True, kw_only=True)
class For(Statement):
    """``for (begin; condition; step) body``."""

    begin: tuple[Statement, ...]
    condition: Expression | None
    step: tuple[Statement, ...]
    body: Statement


@dataclass(frozen=True, slots=True, kw_only=True)
class ForEach(Statement):
    """``for (type name : vector) body``."""

    type: Type
    name: Lexeme
    vector: Expression
    body: Statement


@dataclass(frozen=True, slots=True, kw_only=True)
class Leave(Statement):
    """``break;`` or ``continue;``"""

    word: Literal["break", "continue"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Return(Statement):
    """``return value;``"""

    value: Expression | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter(Node):
    """A parameter of a function, with its default value if there is one."""

    type: Type
    name: Lexeme
    default: Expression | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Function(Node):
    """A function. Its place is the line that begins it; `body` is None for a declaration without a body."""

    type: Type
    name: Lexeme
    parameters: tuple[Parameter, ...]
    body: Block | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken(Statement):
    """What could not be read, and has been reported."""
