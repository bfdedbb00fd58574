"""The ways to divide the rows of a network's maps between tap groups.

A group owns some rows of each map. A statement may also read rows of the neighbours. Either they pass these rows on, or
the group computes them itself, from more rows of what it reads. The second takes fewer cycles where a row is made from
few products, as behind a convolution of one channel: a row that is passed on takes a slot for each of its words and
each group.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from math import gcd, inf, lcm, prod

import networkx as nx

from tabla.graph.graph import Divide, Function, Graph, Index, Statement
from tabla.schedule.mapping.partition import Axis
from tabla.schedule.mapping.refined_axes import quotient_and_rest
from tabla.schedule.mapping.row_axes import Division, Local, Rows, Window, all_local, summed_along

_SHARE = 20
"""An axis without neighbours is divided for statements with one part in so many of the graph's sums, or more."""
Owned = Mapping[Axis, int]
"""The number of rows of each tensor that a group owns."""


def divisions(graph: Graph, groups: int, lanes: int) -> Iterator[Division]:
    """Yield the ways to divide the rows of a graph's maps between `groups` tap groups of `lanes` lanes each.

    The first divides as many maps as it can. Each further one leaves out the maps with the fewest rows. Maps of which
    statements read rows of neighbours come first. Then there are such with other axes along which much is summed.
    """
    local = list(all_local(graph))
    found = set[frozenset[str]]()
    heights = {each.axis: graph.tensors[each.axis[0]].shape[each.axis[1]] for each in local}
    for alone in (False, True):
        for least in sorted({height for height in heights.values() if height > 1}):
            tall = [each for each in local if heights[each.axis] >= least]
            division = _division(graph, groups, lanes, tall, alone)
            if division is not None and frozenset(division.rows) not in found:
                found.add(frozenset(division.rows))
                yield division


def _division(graph: Graph, groups: int, lanes: int, statements: Sequence[Local], alone: bool) -> Division | None:
    """Return the division of all maps that some local statements write; None where no map can be divided.

    Axes of which each statement reads its own row `alone` are divided, too, where much is summed along them.
    """
    local = {each.axis: each for each in statements}
    joined: nx.Graph[Axis] = nx.Graph()
    joined.add_nodes_from(local)
    for each in local.values():
        for window in each.windows:
            if window.axis in local:
                joined.add_edge(each.axis, window.axis, coarse=each.axis, stride=window.stride)
    taken = list[Local]()
    rows = dict[str, Rows]()
    parts = _parts(graph, joined, local)
    while parts:
        part = parts.pop(0)
        names = {tensor for tensor, _ in part}
        reach = any(_reaches(window) for axis in part for window in local[axis].windows)
        if len(names) < len(part) or not (reach or (alone and _is_heavy(graph, [local[a] for a in part]))):
            continue
        divided = _Part(graph, {axis: local[axis] for axis in part}, groups, lanes).rows(joined)
        if divided is None:
            continue
        rows |= divided
        taken += [local[axis] for axis in part]
        # A tensor is divided along one axis. What is left of the other parts may still be divided.
        joined.remove_nodes_from([axis for axis in joined if axis[0] in names])
        parts = _parts(graph, joined.subgraph(axis for each in parts for axis in each if axis in joined), local)
    if not taken:
        return None
    return Division(statements=tuple(sorted(taken, key=lambda each: each.statement)), rows=rows)


def _parts(graph: Graph, joined: nx.Graph[Axis], local: Mapping[Axis, Local]) -> list[list[Axis]]:
    """Return the axes that are joined, those with the most points first."""
    parts = [sorted(part) for part in nx.connected_components(joined)]
    return sorted(parts, key=lambda part: (-sum(graph.statements[local[a].statement].points for a in part), part))


def _is_heavy(graph: Graph, statements: Sequence[Local]) -> bool:
    """Say whether statements take a good share of all that a graph multiplies and sums."""
    most = sum(_work(statement) for statement in graph.statements)
    return sum(_work(graph.statements[each.statement]) for each in statements) >= most / _SHARE


def _work(statement: Statement) -> int:
    """Return how many words a statement sums, or 0 if it sums nothing."""
    return statement.points if statement.reduced else 0


def _reaches(window: Window) -> bool:
    """Say whether a window has more than the row itself. If none has, an ordinary cut divides the axis."""
    return (window.stride, window.low, window.high) != (1, 0, 0)


@dataclass(frozen=True, eq=False)
class _Part:
    """Maps that local statements join, to be divided between `groups` tap groups of `lanes` lanes each."""

    graph: Graph
    local: Mapping[Axis, Local]
    groups: int
    lanes: int

    def rows(self, joined: nx.Graph[Axis]) -> dict[str, Rows] | None:
        """Return how each tensor is divided; None if the rows of one do not fit those of another."""
        ratios = self._ratios(joined)
        divided = self._with_neighbours(self._owned(ratios, ratios))
        if divided is None:
            return None
        # The groups need not own all rows of a tensor if each of them computes all that it reads. What no statement of
        # the part reads is not computed so, so there is always a tensor that they own.
        computed = {axis for axis, rows in divided.items() if rows.computed} - self._read_whole()
        if computed:
            owned = self._owned(ratios, ratios.keys() - computed)
            divided = self._with_neighbours(owned, computed) or divided
        return {tensor: rows for (tensor, _), rows in divided.items()}

    def _ratios(self, joined: nx.Graph[Axis]) -> dict[Axis, int]:
        """Return in what proportion the tensors have rows."""
        first = next(iter(self.local))
        ratios = {first: Fraction(1)}
        for one, other in nx.edge_bfs(joined, first):
            edge = joined.edges[one, other]
            finer = Fraction(edge["stride"]) if edge["coarse"] == one else Fraction(1, edge["stride"])
            ratios.setdefault(other, ratios[one] * finer)
        scale = lcm(*(ratio.denominator for ratio in ratios.values()))
        common = gcd(*(int(ratio * scale) for ratio in ratios.values()))
        return {axis: int(ratio * scale) // common for axis, ratio in ratios.items()}

    def _owned(self, ratios: Mapping[Axis, int], needed: Iterable[Axis]) -> Owned:
        """Return the fewest rows of each tensor with which the groups own all rows of those that are `needed`."""
        steps = max(-(-self._extent(axis) // (self.groups * ratios[axis])) for axis in needed)
        return {axis: steps * ratio for axis, ratio in ratios.items()}

    def _extent(self, axis: Axis) -> int:
        return self.graph.tensors[axis[0]].shape[axis[1]]

    def _read_whole(self) -> frozenset[Axis]:
        """Return the axes of the tensors that are results, or that statements outside of the part read."""
        results = {tensor for _, tensor in self.graph.results}
        tensors = results.union(*(statement.sources for statement in self._outside()))
        return frozenset(axis for axis in self.local if axis[0] in tensors)

    def _summed(self) -> frozenset[Axis]:
        """Return the axes of tensors whose rows some statement sums. Rows that do not exist must be zeros there."""
        axes = dict(self.local.keys())
        sums = (statement for statement in self._outside() if summed_along(statement, axes) is not None)
        tensors = {tensor for statement in sums for tensor in statement.sources}
        return frozenset(axis for axis in self.local if axis[0] in tensors)

    def _outside(self) -> Iterator[Statement]:
        """Yield the statements that are not of the part."""
        inside = {each.statement for each in self.local.values()}
        return (statement for statement in self.graph.statements if statement.id not in inside)

    def _with_neighbours(self, own: Owned, must: Container[Axis] = ()) -> dict[Axis, Rows] | None:
        """Return the rows of each tensor with those of the neighbours; None if a group cannot find what it reads.

        Rows of the neighbours are computed where that takes fewer slots than to pass them on, and in `must`.
        """
        rows = {axis: Rows(axis=axis[1], rows=count, clean=count) for axis, count in own.items()}
        for axis in self._summed():
            rows[axis] = self._with_zeros(axis, rows[axis])
        price = _Price(self, own)
        for each in sorted(self.local.values(), key=lambda each: -each.statement):
            mine = rows[each.axis]
            if own[each.axis] * self.groups != self._extent(each.axis) and self.counts_errors(each):
                return None
            if mine.before or mine.after:
                computed = each.axis in must or price.is_computed(each.axis, mine.before, mine.after)
                mine = rows[each.axis] = replace(mine, computed=computed)
            for window in each.windows:
                axis = window.axis
                if axis not in rows:
                    continue
                if own[axis] != window.stride * own[each.axis]:
                    return None
                reached = rows[axis].reaching(window, mine.made)
                rows[axis] = self._with_zeros(axis, reached) if window.zeros else reached
        return rows

    def _with_zeros(self, axis: Axis, rows: Rows) -> Rows:
        """Return rows that must be zeros where the tensor has no such row, as in the last groups."""
        clean = min(rows.rows, max(0, self._extent(axis) - (self.groups - 1) * rows.rows))
        return replace(rows, clean=clean, zeros=True)

    def counts_errors(self, local: Local) -> bool:
        """Say whether a statement would count domain errors of rows that do not exist."""
        return isinstance(self.graph.statements[local.statement].operation, Function | Divide)

    def words(self, axis: Axis) -> int:
        """Return how many words a row of a tensor has."""
        return self.graph.tensors[axis[0]].size // self._extent(axis)


def _runs_over_lanes(statement: Statement, index: Index) -> bool:
    """Say whether an output index may run over lanes.

    It may if no subscript mentions it beside another index, or if the axis can be refined so.
    """
    for subscript in (s for read in statement.reads for s in read.subscripts if index.name in s.names):
        inner = subscript.coefficient(index.name)
        alone = len(subscript.names) == 1
        if not alone and (inner < 2 or quotient_and_rest(subscript, inner, statement.box) is None):
            return False
    return True


class _Price:
    """An estimate of the slots of a group's lanes that the rows of its neighbours take."""

    def __init__(self, part: _Part, own: Owned) -> None:
        self.part = part
        self.own = own
        self._cheapest = cache(self._of_neighbours)

    def is_computed(self, axis: Axis, before: int, after: int) -> bool:
        """Say whether a group had better compute so many rows of its neighbours than have them passed on."""
        return self._computed(axis, before, after) < self._passed_on(axis, before, after)

    def _of_neighbours(self, axis: Axis, before: int, after: int) -> float:
        if not before and not after:
            return 0.0
        return min(self._computed(axis, before, after), self._passed_on(axis, before, after))

    def _passed_on(self, axis: Axis, before: int, after: int) -> float:
        """Return the slots with which the words come up from each group, reach all groups, and are taken by one."""
        return (before + after) * self.part.words(axis) * (self.part.groups + 2)

    def _computed(self, axis: Axis, before: int, after: int) -> float:
        """Return the slots of the rows themselves, and of what they are computed from."""
        part, each = self.part, self.part.local[axis]
        if part.counts_errors(each):
            return inf
        statement = part.graph.statements[each.statement]
        spread = (i for i in statement.indices if i.name != each.index and _runs_over_lanes(statement, i))
        channels = max((i.extent for i in spread), default=1)
        products = prod(i.extent for i in statement.reduced)
        slots = (before + after) * self.part.words(axis) / channels * -(-channels // part.lanes) * products
        rows = self.own[axis]
        for window in each.windows:
            first, last = window.reach(-before, rows + after - 1)
            least, most = window.reach(0, rows - 1)
            if window.axis in part.local:
                theirs = self.own[window.axis]
                slots += self._cheapest(window.axis, max(0, -first), max(0, last - theirs + 1))
                slots -= self._cheapest(window.axis, max(0, -least), max(0, most - theirs + 1))
            else:
                # A row of a whole tensor is chosen by a product, and comes to the lanes.
                slots += (least - first + last - most) * self.part.words(window.axis) * 2
        return slots
