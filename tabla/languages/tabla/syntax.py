"""The tree that the grammar builds. Names are still text, sizes are still expressions, and nothing is checked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction

from tabla.base.lexemes import Lexeme
from tabla.base.source import Span
from tabla.languages.tabla.operators import Operator


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """Anything with a place."""

    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Literal(Node):
    """A number as written, exactly."""

    value: Fraction
    depth: int = field(default=1, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference(Node):
    """A name with its subscripts. `depth`, as in every expression, counts the levels down to the leaves."""

    name: Lexeme
    subscripts: tuple[Expression, ...]
    depth: int = field(default=1, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Negation(Node):
    """Unary minus."""

    operand: Expression
    depth: int = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation(Node):
    """A binary operator between two expressions."""

    operator: Operator
    left: Expression
    right: Expression
    depth: int = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Node):
    """``name[a][b](arguments)``. What stands in the brackets of a call should be iterators."""

    name: Lexeme
    subscripts: tuple[Expression, ...]
    arguments: tuple[Expression, ...]
    depth: int = field(compare=False, repr=False)


Expression = Literal | Reference | Negation | Operation | Call


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration(Node):
    """``kind a[x], b;`` where `kind` is the keyword."""

    kind: Lexeme
    variables: tuple[Reference, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Link(Node):
    """``gradient -> model`` in a gradient declaration. `model` is None where the user left the arrow out."""

    gradient: Reference
    model: Reference | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GradientDeclaration(Node):
    """``gradient g -> w, h -> v;``"""

    links: tuple[Link, ...]


class Order(Enum):
    """The direction of a loop in order: its first value comes first, or its last one."""

    FORWARD = "in order"
    REVERSE = "in reverse order"


@dataclass(frozen=True, slots=True, kw_only=True)
class Range(Node):
    """``i[start:stop]``. Both ends are None where the user gave no range.

    `order` says whether the range is one of a loop in order, and in which direction it runs.
    """

    name: Lexeme
    ends: tuple[Expression, Expression] | None
    order: Order | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class IteratorDeclaration(Node):
    """``iterator i[0:n], t[1:m] in order;``"""

    ranges: tuple[Range, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment(Node):
    """``target = value;``"""

    target: Reference
    value: Expression


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken(Node):
    """A statement that could not be read, and the names that it speaks of. Its fault is noted already."""

    names: frozenset[str] = frozenset()


Item = Declaration | GradientDeclaration | IteratorDeclaration | Assignment | Broken


def chain(operation: Operation) -> tuple[Expression, tuple[Operation, ...]]:
    """Return the leftmost operand of ``a + b - c ...`` and the operations that follow it, the innermost first."""
    operations = [operation]
    while isinstance(operations[-1].left, Operation):
        operations.append(operations[-1].left)
    return operations[-1].left, tuple(reversed(operations))


def expressions_of(item: Item) -> Iterator[Expression]:
    """Return the outermost expressions of an item."""
    match item:
        case Declaration():
            yield from item.variables
        case GradientDeclaration():
            for link in item.links:
                yield link.gradient
                if link.model is not None:
                    yield link.model
        case IteratorDeclaration():
            for given in item.ranges:
                yield from given.ends or ()
        case Assignment():
            yield item.target
            yield item.value
        case Broken():
            return
