"""Statements whose words no sample and no model changes: tables of the indices."""

from __future__ import annotations

from collections import Counter

from tabla.graph.graph import Graph


def independent(graph: Graph) -> frozenset[int]:
    """Return the statements, by number, that depend on indices alone: all tensors that they read are written by such
    statements only.
    """
    left = Counter(statement.target for statement in graph.statements)
    found: set[int] = set()
    known: set[str] = set()
    for statement in graph.statements:
        if known.issuperset(statement.sources):
            found.add(statement.id)
            left[statement.target] -= 1
            if not left[statement.target]:
                known.add(statement.target)
    return frozenset(found)


def tables(graph: Graph) -> frozenset[str]:
    """Return the values that only independent statements write, apart from results."""
    numbers = independent(graph)
    others = {statement.target for statement in graph.statements if statement.id not in numbers}
    others.update(tensor for _, tensor in graph.results)
    written = {statement.target for statement in graph.statements} - others
    return frozenset(name for name in written if graph.tensors[name].role == "value")
