"""Tap groups with roots of their own: how a graph is cut so that every group does the same at the same time.

Groups run in lockstep on parts of the tensors. A *cut* is a set of tensor axes, joined by the statements that run over
them; each tensor is cut along one axis at most, and each statement along one index, so that no word has to go from
group to group but through the sum over the whole array. What is not cut, every group has and computes itself. The
idea is that of partitioning tensor programs for many devices (Xu et al., "GSPMD", 2021).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace

import networkx as nx

from tabla.ir.graph import Compare, Divide, Extreme, Function, Gather, Gathered, Graph, Index, Linear, Statement

Axis = tuple[str, int]
MOST_CUTS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """Axes that are cut, and the index of each statement that is."""

    axes: frozenset[Axis]
    indices: tuple[tuple[int, str], ...]


def cuts(graph: Graph, groups: int) -> list[Cut]:
    """Ways to cut a graph into `groups` equal parts, the most work first; at most `MOST_CUTS`.

    Classes of axes join one by one, heavy ones first, and only the best few sets go on: a program of many independent
    parts has more sets of classes than anyone can try.
    """
    classes = [c for c in (_cut(graph, axes, groups) for axes in _classes(graph)) if c is not None]
    found: list[Cut] = []
    for each in sorted(classes, key=lambda c: _rank(graph, c)):
        wider = (_joined((cut, each)) for cut in found)
        found = sorted([*found, each, *(cut for cut in wider if cut is not None)], key=lambda c: _rank(graph, c))
        del found[MOST_CUTS:]
    return found


def partition(graph: Graph, cut: Cut, groups: int) -> Graph:
    """What each group does: cut axes `groups` times shorter, sums over a cut index marked `crosses`."""
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
    """Axes that must be cut together: those that one index of a statement runs over, and models with their next."""
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
    """The cut along `axes`, if the machine can do it."""
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
    """Whether every group can do its part of a statement with the words that it has."""
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
                # Every group has all of the table; positions may be cut.
                own_axes = (s.offset if isinstance(s, Gathered) else s for s in places)
                return gathered not in cut and not any(index.name in own.names for own in own_axes)
            case operation:
                return isinstance(operation, Linear | Compare | Extreme | Function | Divide)
    if statement.target in cut:
        return False
    match statement.operation:
        case Linear(terms=terms):
            # Terms without the index are added once, at the root: only words and products that sum over nothing.
            return all(index.name in t.reduce or not t.reduce for t in terms)
        case _:
            return False


def _joined(cuts: tuple[Cut, ...]) -> Cut | None:
    """Several cuts at once, if no tensor and no statement would be cut twice."""
    axes = [axis for cut in cuts for axis in cut.axes]
    indices = [index for cut in cuts for index in cut.indices]
    if len({t for t, _ in axes}) < len(axes) or len({s for s, _ in indices}) < len(indices):
        return None
    return Cut(axes=frozenset(axes), indices=tuple(sorted(indices)))


def _rank(graph: Graph, cut: Cut) -> tuple[int, list[Axis]]:
    return -_shared_work(graph, cut), sorted(cut.axes)


def _shared_work(graph: Graph, cut: Cut) -> int:
    """Points of the statements that are cut."""
    total = 0
    for number, _ in cut.indices:
        points = 1
        for index in (*graph.statements[number].indices, *graph.statements[number].reduced):
            points *= index.extent
        total += points
    return total
