"""Ranges of integer inputs for which every gather of a graph reads inside its tensor."""

from __future__ import annotations

from collections.abc import Mapping, Set

from tabla.graph.format import Format
from tabla.graph.graph import Gather, Gathered, Graph
from tabla.graph.intervals import Interval, intervals

Range = tuple[int, int]
"""The integers from the first to the second, both included."""


def valid_positions(graph: Graph, names: Set[str], fmt: Format) -> dict[str, Range]:
    """Return a range of integers for each of the inputs and models `names`.

    If all their elements are drawn from these ranges, the intervals of :mod:`tabla.graph.intervals` prove that every
    position lies in its tensor. Where no ranges are found that prove it, such as for positions that must grow with an
    index, each range holds one integer that comes as near as the search gets. An integer that no position depends on
    has the range (0, 0).

    The search descends along one input at a time. A position is affine in most programs, so the distance by which
    positions miss their tensors is convex, and the search ends at its least value.
    """
    search = _Search(graph, fmt)
    ranges: dict[str, Range] = dict.fromkeys(sorted(names), (0, 0))
    steps = [sign << bit for bit in range(fmt.width - 1) for sign in (1, -1)]
    missed = search.missed(ranges)
    while missed:
        moves = [ranges | {name: (low + step, high + step)} for name, (low, high) in ranges.items() for step in steps]
        scores = [search.missed(move) if search.held(move) else missed for move in moves]
        if not min(scores, default=missed) < missed:
            return ranges
        missed = min(scores)
        ranges = moves[scores.index(missed)]
    for name in ranges:
        if search.missed(ranges | {name: (fmt.lowest, fmt.highest)}):
            ranges = search.widened(ranges, name)
    return ranges


class _Search:
    """How far ranges of integers lead positions out of their tensors."""

    def __init__(self, graph: Graph, fmt: Format) -> None:
        self.graph, self.format = graph, fmt
        reach = min(1.0, fmt.highest / fmt.one)
        self.reals = {
            name: Interval(-reach, reach)
            for name, tensor in graph.tensors.items()
            if tensor.role in ("input", "label", "model")
        }

    def held(self, ranges: Mapping[str, Range]) -> bool:
        """Return whether words hold all integers of the ranges."""
        return all(self.format.lowest <= low and high <= self.format.highest for low, high in ranges.values())

    def missed(self, ranges: Mapping[str, Range]) -> float:
        """Return by how many elements, summed over all axes of gathers, positions may lie outside their tensors."""
        one = self.format.one
        given = {name: Interval(low / one, high / one) for name, (low, high) in ranges.items()}
        found = intervals(self.graph, self.reals | given)
        total = 0.0
        for statement in self.graph.statements:
            if isinstance(statement.operation, Gather):
                shape = self.graph.tensors[statement.operation.tensor].shape
                for subscript, extent in zip(statement.operation.subscripts, shape, strict=True):
                    if isinstance(subscript, Gathered):
                        low, high = subscript.offset.bounds(statement.box)
                        held = found[subscript.table.tensor].scaled(one) + Interval(low, high)
                        total += max(0.0, -held.low) + max(0.0, held.high - (extent - 1))
        return total

    def widened(self, ranges: dict[str, Range], name: str) -> dict[str, Range]:
        """Return the ranges with the widest one for `name` that still proves all positions."""
        for end, sign in ((1, 1), (0, -1)):
            for bit in reversed(range(self.format.width - 1)):
                ends = list(ranges[name])
                ends[end] += sign << bit
                wider = ranges | {name: (ends[0], ends[1])}
                if self.held(wider) and not self.missed(wider):
                    ranges = wider
        return ranges
