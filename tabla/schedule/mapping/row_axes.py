"""Which axes of a network's maps can be divided between tap groups, so that each group has some rows of each map.

An output index h of a statement is *local* if the statement reads rows near row h alone: each subscript that mentions h
is ``s*h + k``, where k lies in a short range that is the same for every h. Convolutions and pools are local along the
axes of a map, and so is everything that is done element by element. Maps that local statements join have rows in one
proportion: a pool of two rows makes half as many rows as it reads.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import gcd, lcm

import networkx as nx

from tabla.graph.graph import (
    Affine,
    Compare,
    Divide,
    Extreme,
    Function,
    Graph,
    Index,
    Linear,
    Read,
    Statement,
)
from tabla.schedule.mapping.partition import Axis


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """What a local statement reads of one axis: the rows ``stride*h + low`` to ``stride*h + high`` for its row h.

    With `zeros`, rows outside of the tensor count as zeros, and constraints of the statement leave them out.
    """

    axis: Axis
    stride: int
    low: int
    high: int
    zeros: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Local:
    """A statement that is local along the index with the name `index`, which writes `axis`."""

    statement: int
    index: str
    axis: Axis
    windows: tuple[Window, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """How one tensor is divided: the rows of `axis` that each group owns, and those of its neighbours that it keeps.

    Group g owns the rows from ``rows*g`` on. It keeps `before` rows before its own, and `after` rows behind them. The
    last groups may own rows that the tensor does not have. Some statement relies on it that these are zeros if not all
    rows are `clean`: those that every group has.
    """

    axis: int
    rows: int
    clean: int
    before: int = 0
    after: int = 0

    @property
    def kept(self) -> int:
        """The number of rows that a group keeps, with those of its neighbours."""
        return self.before + self.rows + self.after

    def reaching(self, window: Window, rows: int) -> Rows:
        """Return the division with which a group finds all that it reads through a window for so many rows."""
        last = window.stride * (rows - 1) + window.high
        return replace(self, before=max(self.before, -window.low), after=max(self.after, last - self.rows + 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Division:
    """A division of a graph: the statements that each group computes for its own rows, and the rows of each tensor.

    `rows` has the tensors that such statements write. What they read beside these is whole.
    """

    statements: tuple[Local, ...]
    rows: dict[str, Rows]


def divisions(graph: Graph, groups: int) -> Iterator[Division]:
    """Yield the ways to divide the rows of a graph's maps between `groups` tap groups.

    The first divides as many maps as it can. Each further one leaves out the maps with the fewest rows.
    """
    local = list(_all_local(graph))
    if not any(_reaches(window) for each in local for window in each.windows):
        return
    found = set[frozenset[str]]()
    heights = {each.axis: graph.tensors[each.axis[0]].shape[each.axis[1]] for each in local}
    for least in sorted({height for height in heights.values() if height > 1}):
        division = _division(graph, groups, [each for each in local if heights[each.axis] >= least])
        if division is not None and frozenset(division.rows) not in found:
            found.add(frozenset(division.rows))
            yield division


def _division(graph: Graph, groups: int, statements: Sequence[Local]) -> Division | None:
    """Return the division of all maps that some local statements write; None where no map can be divided."""
    local = {each.axis: each for each in statements}
    joined: nx.Graph[Axis] = nx.Graph()
    joined.add_nodes_from(local)
    for each in local.values():
        for window in each.windows:
            if window.axis in local:
                joined.add_edge(each.axis, window.axis, coarse=each.axis, stride=window.stride)
    parts = [sorted(part) for part in nx.connected_components(joined)]
    taken = list[Local]()
    rows = dict[str, Rows]()
    for part in sorted(parts, key=lambda part: (-sum(graph.statements[local[a].statement].points for a in part), part)):
        names = {tensor for tensor, _ in part}
        reach = any(_reaches(window) for axis in part for window in local[axis].windows)
        if len(names) < len(part) or not names.isdisjoint(rows) or not reach:
            continue
        divided = _rows_of(graph, [local[axis] for axis in part], joined, groups)
        if divided is not None:
            rows |= divided
            taken += [local[axis] for axis in part]
    if not taken:
        return None
    return Division(statements=tuple(sorted(taken, key=lambda each: each.statement)), rows=rows)


def _reaches(window: Window) -> bool:
    """Say whether a window has more than the row itself. If none has, an ordinary cut divides the axis."""
    return (window.stride, window.low, window.high) != (1, 0, 0)


def _rows_of(graph: Graph, part: Sequence[Local], joined: nx.Graph[Axis], groups: int) -> dict[str, Rows] | None:
    """Return the rows of the tensors of one part; None where no number of rows fits all of them."""
    ratios = {part[0].axis: Fraction(1)}
    for one, other in nx.edge_bfs(joined, part[0].axis):
        edge = joined.edges[one, other]
        finer = Fraction(edge["stride"]) if edge["coarse"] == one else Fraction(1, edge["stride"])
        ratios.setdefault(other, ratios[one] * finer)
    scale = lcm(*(ratio.denominator for ratio in ratios.values()))
    common = gcd(*(int(ratio * scale) for ratio in ratios.values()))
    whole = {axis: int(ratio * scale) // common for axis, ratio in ratios.items()}
    extents = {(t, d): graph.tensors[t].shape[d] for t, d in whole}
    steps = max(-(-extents[axis] // (groups * ratio)) for axis, ratio in whole.items())
    own = {axis: steps * ratio for axis, ratio in whole.items()}
    rows = {axis: Rows(axis=axis[1], rows=count, clean=count) for axis, count in own.items()}
    for each in part:
        uneven = own[each.axis] * groups != extents[each.axis]
        if uneven and isinstance(graph.statements[each.statement].operation, Function | Divide):
            return None
        for window in each.windows:
            axis = window.axis
            if axis not in rows:
                continue
            if own[axis] != window.stride * own[each.axis]:
                return None
            rows[axis] = rows[axis].reaching(window, own[each.axis])
            if window.zeros:
                # Rows of the last group that the tensor does not have are not clean.
                clean = min(own[axis], max(0, extents[axis] - (groups - 1) * own[axis]))
                rows[axis] = replace(rows[axis], clean=clean)
    return {tensor: divided for (tensor, _), divided in rows.items()}


def _all_local(graph: Graph) -> Iterator[Local]:
    """Yield the statements that are local along an index, for each such index."""
    written = Counter(statement.target for statement in graph.statements)
    for statement in graph.statements:
        target = graph.tensors[statement.target]
        if target.role != "value" or target.filled or written[target.name] > 1:
            continue
        for index in statement.indices:
            found = local_along(graph, statement, index)
            if found is not None:
                yield found


def local_along(graph: Graph, statement: Statement, index: Index) -> Local | None:
    """Return what a statement reads along one of its output indices; None if it is not local along the index."""
    if not isinstance(statement.operation, Linear | Compare | Extreme | Function | Divide):
        return None
    written = [d for d, s in enumerate(statement.write) if index.name in s.names]
    if len(written) != 1 or statement.write[written[0]] != Affine.index(index.name):
        return None
    if (index.low, index.high) != (0, graph.tensors[statement.target].shape[written[0]]):
        return None
    box = statement.box
    windows = dict[tuple[Axis, Affine], Window]()
    for read in statement.reads:
        mentions = [d for d, s in enumerate(read.subscripts) if index.name in s.names]
        if not mentions:
            continue
        subscript = read.subscripts[mentions[0]]
        rest = subscript - Affine.of(0, **{index.name: subscript.coefficient(index.name)})
        outputs = {other.name for other in statement.indices}
        if len(mentions) > 1 or subscript.coefficient(index.name) < 1 or not outputs.isdisjoint(rest.names):
            return None
        if graph.tensors[read.tensor].role not in ("value", "input"):
            return None
        low, high = rest.bounds(box)
        axis = (read.tensor, mentions[0])
        stride = subscript.coefficient(index.name)
        windows[axis, subscript] = Window(axis=axis, stride=stride, low=low, high=high, zeros=False)
    for constraint in statement.constraints:
        if index.name in constraint.names:
            bounded = _bounded(graph, statement, index, constraint)
            if bounded is None:
                return None
            windows |= {key: replace(windows[key], zeros=True) for key in bounded}
    if not windows:
        return None
    return Local(
        statement=statement.id, index=index.name, axis=(statement.target, written[0]), windows=tuple(windows.values())
    )


def _bounded(graph: Graph, statement: Statement, index: Index, constraint: Affine) -> list[tuple[Axis, Affine]] | None:
    """Return the accesses that a constraint keeps inside of their tensors; None if it says anything else.

    The constraint may then go, if rows outside of the tensor are zeros: each term that it leaves out has such a factor.
    """
    if not isinstance(statement.operation, Linear):
        return None
    summed = set(constraint.names) - {other.name for other in statement.indices}
    if not summed:
        return None
    found = list[tuple[Axis, Affine]]()
    for term in statement.operation.terms:
        if summed.isdisjoint(term.reduce):
            continue
        keys = [
            ((factor.tensor, d), subscript)
            for factor in term.factors
            if isinstance(factor, Read)
            for d, subscript in enumerate(factor.subscripts)
            if index.name in subscript.names
            and constraint in (subscript, -subscript + (graph.tensors[factor.tensor].shape[d] - 1))
        ]
        if not keys:
            return None
        found += keys[:1]
    return found or None
