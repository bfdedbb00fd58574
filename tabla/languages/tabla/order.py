"""Loops in order: statements whose turns depend on each other.

``iterator t[1:T] in order;`` makes a loop of the statements behind each other that use `t`. Turn by turn, all of them
are computed with the next value of `t`, so that a turn reads what the turn before it has computed. With ``in reverse
order`` the last value comes first. A loop is written out: each turn is statements of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from tabla.base.faults import Faults
from tabla.languages.tabla.syntax import (
    Assignment,
    Call,
    Expression,
    Item,
    Literal,
    Negation,
    Operation,
    Reference,
    chain,
)

MOST_STATEMENTS = 4096
"""The most statements that a loop may be when it is written out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """Statements that are computed turn by turn, and the iterator with its values in the order of the turns."""

    name: str
    values: range
    statements: tuple[Assignment, ...]

    @property
    def reads(self) -> frozenset[str]:
        """The names that the statements read."""
        values = (each.value for each in self.statements)
        places = (place for each in self.statements for place in each.target.subscripts)
        return frozenset(name for expression in (*values, *places) for name in _free(expression))

    def turns(self) -> Iterator[tuple[Assignment, ...]]:
        """Yield the statements of each turn, with the turn's value in place of the iterator."""
        for value in self.values:
            yield tuple(_at(statement, self.name, value) for statement in self.statements)


def loop_at(items: Sequence[Item], first: int, orders: Mapping[str, range], faults: Faults) -> Loop | None:
    """Return the loop that begins at an item, or None if that item belongs to none.

    `orders` has the values of the iterators that run in order, by name. A statement along two of them is a fault, and
    so is a loop that is too long. Such a loop has no turns.
    """
    item = items[first]
    if not isinstance(item, Assignment) or not (along := _along(item, orders)):
        return None
    name, statements = along[0], []
    for each in items[first:]:
        if not isinstance(each, Assignment) or name not in (found := _along(each, orders)):
            break
        statements.append(each)
        if len(found) > 1:
            faults.add(
                f"this statement runs in order along '{found[0]}' and along '{found[1]}'",
                each.span,
                hint="a statement runs in order along one iterator; write the turns of the shorter one out",
            )
            return Loop(name=name, values=range(0), statements=tuple(statements))
    values = orders[name]
    count = len(values) * len(statements)
    if count > MOST_STATEMENTS:
        faults.add(
            f"the loop along '{name}' is {count:,} statements, and at most {MOST_STATEMENTS:,} are allowed",
            item.span,
            hint="a loop in order is written out, turn by turn, so let it have fewer turns",
        )
        values = range(0)
    return Loop(name=name, values=values, statements=tuple(statements))


def _along(item: Assignment, orders: Mapping[str, range]) -> list[str]:
    """Return the iterators in order that a statement uses outside of the groups that run over them."""
    names = {name: None for side in (item.target, item.value) for name in _free(side) if name in orders}
    return list(names)


def _free(node: Expression) -> Iterator[str]:
    """Yield the names in an expression that no group around them binds."""
    match node:
        case Literal():
            return
        case Reference(name=name, subscripts=subscripts):
            yield name.text
            for subscript in subscripts:
                yield from _free(subscript)
        case Negation(operand=operand):
            yield from _free(operand)
        case Operation():
            first, operations = chain(node)
            yield from _free(first)
            for each in operations:
                yield from _free(each.right)
        case Call(arguments=arguments):
            bound = _bound(node)
            yield from (name for argument in arguments for name in _free(argument) if name not in bound)


def _bound(call: Call) -> frozenset[str]:
    """Return the names that a group function binds."""
    return frozenset(s.name.text for s in call.subscripts if isinstance(s, Reference) and not s.subscripts)


def _at(statement: Assignment, name: str, value: int) -> Assignment:
    target = replace(statement.target, subscripts=tuple(_put(s, name, value) for s in statement.target.subscripts))
    return replace(statement, target=target, value=_put(statement.value, name, value))


def _put(node: Expression, name: str, value: int) -> Expression:
    """Return an expression with a number in place of an iterator."""
    match node:
        case Literal():
            return node
        case Reference(subscripts=()) if node.name.text == name:
            return Literal(value=Fraction(value), span=node.span)
        case Reference(subscripts=subscripts):
            return replace(node, subscripts=tuple(_put(each, name, value) for each in subscripts))
        case Negation(operand=operand):
            return replace(node, operand=_put(operand, name, value))
        case Operation():
            first, operations = chain(node)
            left = _put(first, name, value)
            for each in operations:
                left = replace(each, left=left, right=_put(each.right, name, value))
            return left
        case Call() if name in _bound(node):
            return node
        case Call(arguments=arguments):
            return replace(node, arguments=tuple(_put(each, name, value) for each in arguments))
