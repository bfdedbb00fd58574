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
    Graph,
    Linear,
    Operation,
    Product,
    Scatter,
    Statement,
)
from tabla.graph.passes.framework import graph_pass
from tabla.graph.rewrite import operation_at, substituted, with_statements


@graph_pass("drop-unit-indices", "replace indices that have one value by this value")
def drop_unit_indices(graph: Graph, fmt: Format) -> Graph:
    """Return the graph without indices of extent 1. A statement that writes nothing keeps its indices."""
    return with_statements(graph, map(_without, graph.statements))


def _without(statement: Statement) -> Statement:
    values = {index.name: Affine(constant=index.low) for index in statement.box.values() if index.extent == 1}
    if isinstance(statement.operation, Scatter):
        # Each axis of what a scatter writes has an index.
        values = {name: value for name, value in values.items() if name not in {i.name for i in statement.indices}}
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

    def rest(names: Iterable[str]) -> tuple[str, ...]:
        return tuple(name for name in names if name not in values)

    changed = operation_at(operation, values)
    match changed:
        case Linear(terms=terms):
            return replace(changed, terms=tuple(replace(term, reduce=rest(term.reduce)) for term in terms))
        case Product(reduce=reduce) | Extreme(reduce=reduce):
            return replace(changed, reduce=rest(reduce))
        case Scatter(reduce=reduce):
            return replace(changed, reduce=rest(reduce))
        case Compare() | Function() | Divide() | Gather():
            return changed
        case _:
            assert_never(changed)
