"""Indices with a single value are replaced by that value.

A mapping spreads one index over the lanes, and a subscript such as ``c + g`` depends on two. Where ``c`` runs over
[0, 1), as in a convolution of which each group has one channel, the subscript is ``g`` alone, and the statement leaves
the root. Every point stays, so no word changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import assert_never

from tabla.graph.format import Format
from tabla.graph.graph import (
    Affine,
    Compare,
    Divide,
    Extreme,
    Function,
    Gather,
    Gathered,
    Graph,
    Linear,
    Operand,
    Operation,
    Product,
    Statement,
)
from tabla.graph.passes.framework import graph_pass
from tabla.graph.rewrite import operand_at, substituted, with_operands, with_statements


@graph_pass("drop-unit-indices", "replace indices that have one value by this value")
def drop_unit_indices(graph: Graph, fmt: Format) -> Graph:
    """Return the graph without indices of extent 1. A statement that writes nothing keeps its indices."""
    return with_statements(graph, map(_without, graph.statements))


def _without(statement: Statement) -> Statement:
    values = {index.name: Affine(constant=index.low) for index in statement.box.values() if index.extent == 1}
    values = _removable(statement, values)
    constraints = tuple(substituted(constraint, values) for constraint in statement.constraints)
    if not values or any(not c.names and c.constant < 0 for c in constraints):
        return statement
    return replace(
        statement,
        write=tuple(substituted(subscript, values) for subscript in statement.write),
        indices=tuple(index for index in statement.indices if index.name not in values),
        reduced=tuple(index for index in statement.reduced if index.name not in values),
        operation=_at(statement.operation, values),
        constraints=tuple(constraint for constraint in constraints if constraint.names),
    )


def _removable(statement: Statement, values: Mapping[str, Affine]) -> dict[str, Affine]:
    """Return the values of the indices that may go.

    A constraint on a summed index takes points out of a sum. One on output indices alone would take the output away, so
    a summed index stays as long as a constraint mentions it beside an index that stays.
    """
    kept, summed = dict(values), {index.name for index in statement.reduced}
    while held := [
        name
        for constraint in statement.constraints
        if not kept.keys() >= set(constraint.names)
        for name in constraint.names
        if name in kept and name in summed
    ]:
        kept = {name: value for name, value in kept.items() if name not in held}
    return kept


def _at(operation: Operation, values: Mapping[str, Affine]) -> Operation:
    """Return the operation with indices replaced, over which it no longer sums."""

    def change(operand: Operand) -> Operand:
        return operand_at(operand, values)

    def rest(names: Iterable[str]) -> tuple[str, ...]:
        return tuple(name for name in names if name not in values)

    changed = with_operands(operation, change)
    match changed:
        case Linear(terms=terms):
            return replace(changed, terms=tuple(replace(term, reduce=rest(term.reduce)) for term in terms))
        case Product(reduce=reduce) | Extreme(reduce=reduce):
            return replace(changed, reduce=rest(reduce))
        case Gather(subscripts=subscripts):
            return replace(changed, subscripts=tuple(_subscript(subscript, values) for subscript in subscripts))
        case Compare() | Function() | Divide():
            return changed
        case _:
            assert_never(changed)


def _subscript(subscript: Affine | Gathered, values: Mapping[str, Affine]) -> Affine | Gathered:
    match subscript:
        case Affine():
            return substituted(subscript, values)
        case Gathered(offset=offset):
            return replace(subscript, offset=substituted(offset, values))
        case _:
            assert_never(subscript)
