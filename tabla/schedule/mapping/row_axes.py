"""Which axes of a network's maps can be divided between tap groups, so that each group has some rows of each map.

An output index h of a statement is *local* if the statement reads rows near row h alone: each subscript that mentions h
is ``s*h + k``, where k lies in a short range that is the same for every h. Convolutions and pools are local along the
axes of a map, and so is everything that is done element by element. Maps that local statements join have rows in one
proportion: a pool of two rows makes half as many rows as it reads.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, replace

from tabla.graph.accesses import is_written_whole
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
    Tensor,
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

    def reach(self, first: int, last: int) -> tuple[int, int]:
        """Return the first and the last row that is read for the rows `first` to `last` of what is written."""
        return self.stride * first + self.low, self.stride * last + self.high


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

    Group g owns the rows from ``rows*g`` on. It keeps `before` rows before its own, and `after` rows behind them: it
    computes these itself if they are `computed`, and else its neighbours pass them on. Groups may own or keep rows that
    the tensor does not have. With `zeros` some statement relies on it that these are zeros. The first `clean` rows of
    every group are rows of the tensor, or need not be zeros.
    """

    axis: int
    rows: int
    clean: int
    before: int = 0
    after: int = 0
    computed: bool = False
    zeros: bool = False

    @property
    def kept(self) -> int:
        """The number of rows that a group keeps, with those of its neighbours."""
        return self.before + self.rows + self.after

    @property
    def made(self) -> tuple[int, int]:
        """The first and the last row that a group computes, counted from its first own row."""
        return (-self.before, self.rows + self.after - 1) if self.computed else (0, self.rows - 1)

    def reaching(self, window: Window, theirs: tuple[int, int]) -> Rows:
        """Return the division with which a group finds all that it reads through a window for the rows `theirs`."""
        first, last = window.reach(*theirs)
        return replace(self, before=max(self.before, -first), after=max(self.after, last - self.rows + 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Division:
    """A division of a graph: the statements that each group computes for its own rows, and the rows of each tensor.

    `rows` has the tensors that such statements write. What they read beside these is whole.
    """

    statements: tuple[Local, ...]
    rows: dict[str, Rows]


def all_local(graph: Graph) -> Iterator[Local]:
    """Yield the statements that are local along an index, for each such index."""
    written = Counter(statement.target for statement in graph.statements)
    complete = {tensor.name for tensor in graph.tensors.values() if _is_complete(graph, tensor)}
    for statement in graph.statements:
        target = graph.tensors[statement.target]
        if target.role != "value" or target.filled or written[target.name] > 1:
            continue
        for index in statement.indices:
            found = _local_along(graph, statement, index, complete)
            if found is not None:
                yield found


def _local_along(graph: Graph, statement: Statement, index: Index, complete: Container[str]) -> Local | None:
    """Return what a statement reads along one of its output indices; None if it is not local along the index.

    `complete` are the tensors of which groups may take any rows.
    """
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
        if read.tensor not in complete:
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


def _is_complete(graph: Graph, tensor: Tensor) -> bool:
    """Say whether a tensor is an input or a value, and every element of it has a word.

    A group may take elements that the statements of the whole map do not read, for rows that do not exist.
    """
    return tensor.role == "input" or (
        tensor.role == "value" and (tensor.filled or is_written_whole(graph, tensor.name))
    )


def summed_along(statement: Statement, axes: Mapping[str, int]) -> Index | None:
    """Return the index over which a statement sums all rows of tensors; None if it does anything else with them.

    `axes` has the axis of the rows of each tensor that counts.
    """
    operation = statement.operation
    divided = [read for read in statement.reads if read.tensor in axes]
    if not divided or not isinstance(operation, Linear) or statement.constraints:
        return None
    along = {read.subscripts[axes[read.tensor]] for read in divided}
    index = next((i for i in statement.reduced if along == {Affine.index(i.name)}), None)
    if index is None or any(index.name not in term.reduce for term in operation.terms if term.reduce):
        return None
    # Every mention of the index is that of a row.
    mentions = sum(index.name in s.names for read in statement.reads for s in read.subscripts)
    return index if mentions == len(divided) else None


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
