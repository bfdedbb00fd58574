"""Cuts: how a graph is partitioned between tap groups that have a root each.

The groups run in lockstep, each on its part of the tensors. A *cut* is a set of tensor axes that are divided between
the groups. Axes that one index of a statement runs over are cut together. Each tensor is cut along one axis at most,
and each statement along one index, so that only the sum over the whole array brings words from group to group. Every
group has all of a tensor that is not cut, and computes all of a statement that is not cut. The idea is that of
partitioning tensor programs for many devices (Xu et al., "GSPMD", 2021).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace

import networkx as nx

from tabla.graph.graph import Compare, Divide, Extreme, Function, Gather, Graph, Index, Linear, Statement, offsets_of

Axis = tuple[str, int]
"""A tensor, and the number of one of its axes."""
MOST_CUTS = 8
"""The most cuts that the search for cuts keeps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """The axes that are cut, and for each statement that is cut, by number, the name of the index."""

    axes: frozenset[Axis]
    indices: tuple[tuple[int, str], ...]


def cuts(graph: Graph, groups: int) -> list[Cut]:
    """Return ways to cut a graph into `groups` equal parts: at most `MOST_CUTS`, those that divide the most work first.

    Axes that must be cut together form classes. Sets of classes grow by one class at a time, those with the most work
    first, and only the best few sets are kept, because a program of many independent parts has too many sets.
    """
    classes = [c for c in (_cut(graph, axes, groups) for axes in _classes(graph)) if c is not None]
    found: list[Cut] = []
    for each in sorted(classes, key=lambda c: _rank(graph, c)):
        wider = (_joined((cut, each)) for cut in found)
        found = sorted([*found, each, *(cut for cut in wider if cut is not None)], key=lambda c: _rank(graph, c))
        del found[MOST_CUTS:]
    return found


def partition(graph: Graph, cut: Cut, groups: int) -> Graph:
    """Return the graph that each group runs.

    Cut axes and indices are `groups` times shorter, and statements that sum over a cut index are marked `crosses`.
    """
    axes, indices = dict(cut.axes), dict(cut.indices)
    tensors = {
        name: replace(
            tensor,
            shape=tuple(n // groups if d == axes.get(name) else n for d, n in enumerate(tensor.shape)),
            split=axes.get(name, -1),
        )
        for name, tensor in graph.tensors.items()
    }
    statements = tuple(_part(s, indices.get(s.id, ""), groups) for s in graph.statements)
    return replace(graph, tensors=tensors, statements=statements)


def _part(statement: Statement, name: str, groups: int) -> Statement:
    def shorter(indices: tuple[Index, ...]) -> tuple[Index, ...]:
        return tuple(replace(i, high=i.high // groups) if i.name == name else i for i in indices)

    return replace(
        statement,
        indices=shorter(statement.indices),
        reduced=shorter(statement.reduced),
        crosses=any(i.name == name for i in statement.reduced),
    )


def _classes(graph: Graph) -> Iterator[frozenset[Axis]]:
    """Yield the classes of axes that must be cut together.

    An index of a statement joins the axes that it runs over, and an update joins a model's axes with its next value's.
    """
    joined: nx.Graph[Axis] = nx.Graph()
    for model, following in graph.updates.items():
        joined.add_edges_from(((model, d), (following, d)) for d in range(len(graph.tensors[model].shape)))
    for statement in graph.statements:
        for index in (*statement.indices, *statement.reduced):
            axes = _axes(statement, index.name)
            joined.add_nodes_from(axes)
            joined.add_edges_from(itertools.pairwise(axes))
    for component in nx.connected_components(joined):
        yield frozenset(component)


def _axes(statement: Statement, name: str) -> list[Axis]:
    found = [(statement.target, d) for d, s in enumerate(statement.write) if name in s.names]
    return found + [(r.tensor, d) for r in statement.reads for d, s in enumerate(r.subscripts) if name in s.names]


def _cut(graph: Graph, axes: frozenset[Axis], groups: int) -> Cut | None:
    """Return the cut along some axes; None if the machine cannot run it."""
    tensors = [tensor for tensor, _ in axes]
    if len(set(tensors)) < len(tensors):
        return None
    if any(graph.tensors[t].shape[d] % groups for t, d in axes):
        return None
    indices = []
    for statement in graph.statements:
        along = [i for i in (*statement.indices, *statement.reduced) if not axes.isdisjoint(_axes(statement, i.name))]
        touched = statement.target in tensors or any(tensor in tensors for tensor in statement.sources)
        if not along and not touched:
            continue
        if len(along) != 1 or not _even(statement, along[0], axes, graph):
            return None
        indices.append((statement.id, along[0].name))
    return Cut(axes=axes, indices=tuple(indices))


def _even(statement: Statement, index: Index, axes: frozenset[Axis], graph: Graph) -> bool:
    """Say whether every group can compute its part of a statement from the words that it has."""
    if any(index.name in constraint.names for constraint in statement.constraints):
        return False
    cut = dict(axes)
    own = [(statement.target, statement.write)] if index in statement.indices else []
    for tensor, subscripts in (*own, *((r.tensor, r.subscripts) for r in statement.reads)):
        mentions = [d for d, s in enumerate(subscripts) if index.name in s.names]
        if (tensor in cut) != bool(mentions):
            return False
        if mentions:
            plain = subscripts[cut[tensor]]
            if mentions != [cut[tensor]] or plain.coefficients != ((index.name, 1),) or plain.constant:
                return False
            if (index.low, index.high) != (0, graph.tensors[tensor].shape[cut[tensor]]):
                return False
    if index in statement.indices:
        match statement.operation:
            case Gather(tensor=gathered, subscripts=places):
                # Every group needs all of the gathered tensor; the tensor of positions may be cut.
                return gathered not in cut and not any(index.name in own.names for own in offsets_of(places))
            case operation:
                return isinstance(operation, Linear | Compare | Extreme | Function | Divide)
    if statement.target in cut:
        return False
    match statement.operation:
        case Linear(terms=terms):
            # Terms without the cut index are added once, at the root, so they must not sum over anything.
            return all(index.name in t.reduce or not t.reduce for t in terms)
        case _:
            return False


def _joined(cuts: tuple[Cut, ...]) -> Cut | None:
    """Return several cuts as one; None if it would cut a tensor or a statement twice."""
    axes = [axis for cut in cuts for axis in cut.axes]
    indices = [index for cut in cuts for index in cut.indices]
    if len({t for t, _ in axes}) < len(axes) or len({s for s, _ in indices}) < len(indices):
        return None
    return Cut(axes=frozenset(axes), indices=tuple(sorted(indices)))


def _rank(graph: Graph, cut: Cut) -> tuple[int, list[Axis]]:
    return -_shared_work(graph, cut), sorted(cut.axes)


def _shared_work(graph: Graph, cut: Cut) -> int:
    """Count the points of the statements that are cut."""
    return sum(graph.statements[number].points for number, _ in cut.indices)
