"""Maps whose rows are divided between tap groups.

Each group has a root and a bus of its own, and computes some rows of each map. A convolution also reads some rows of
its neighbours. Words pass from group to group through the sum over the whole array alone, and this file writes the
rows that are passed on as such sums: each group multiplies its row by 1 where it is wanted, and by 0 elsewhere.

* ``T.edge[g][r] = sum[q](own[g][q] * T.rows[q][r])``, where q is cut: every group gets the rows of each group g.
* ``T.rows[g][r] = sum[q](beside[g][q] * T.edge[q][r])``, where g is cut: each group keeps those of its neighbour.

A sum of one word and zeros is exact, so no word of a program changes. Rows above the first and below the last row of a
map are zeros, so a convolution with pads needs no statements of its own for them. A map that some statement reads
whole, or that is a result, comes to all groups in the first way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod

import numpy as np
from numpy.typing import NDArray

from tabla.base.source import Span
from tabla.graph.format import Format
from tabla.graph.graph import Affine, Graph, Index, Linear, Operand, Read, Statement, Tensor, Term
from tabla.graph.rewrite import with_operands
from tabla.schedule.mapping.row_axes import Axis, Division, Local, Rows

GROUP, PART, EACH, ROW = "rows.group", "rows.part", "rows.each", "rows.row"
"""The indices of added statements: the tap group that computes, the one whose words a sum takes, the one whose words
come to all groups, and the row.
"""
SELECTORS = "rows."
"""The names of the constants begin so; no name of a program does."""
OWN = f"{SELECTORS}own"
MOST_POINTS = 16
"""The most points of a sum or an extreme that is computed twice for the rows that are passed on."""


def with_divided_rows(graph: Graph, division: Division, groups: int, fmt: Format) -> Graph:
    """Return the graph that computes the same words, with the rows of some maps divided between groups.

    `fmt` must have the number 1. Cutting the graph along the index of the groups, which is that of the first axis of
    the constants ``beside``, gives each group its rows.
    """
    return _Dividing(graph, division, groups, fmt).run()


def cut_axes(graph: Graph) -> frozenset[Axis]:
    """Return the axes of constants that must be cut between the groups of a graph with divided rows."""
    names = (name for name in graph.tensors if _is_selector(graph, name))
    return frozenset((name, 1 if name.startswith(OWN) else 0) for name in names)


def passes_rows_on(statement: Statement, graph: Graph) -> bool:
    """Say whether a statement passes rows from group to group, so that none of its products is one of the program."""
    return any(_is_selector(graph, name) for name in statement.sources)


def _is_selector(graph: Graph, name: str) -> bool:
    return name.startswith(SELECTORS) and graph.tensors[name].role == "constant"


@dataclass(eq=False)
class _Dividing:
    """The statements, tensors and constants of the divided graph, as they are made."""

    graph: Graph
    division: Division
    groups: int
    fmt: Format
    statements: list[Statement] = field(default_factory=list)
    tensors: dict[str, Tensor] = field(default_factory=dict)
    words: dict[str, NDArray[np.int64]] = field(default_factory=dict)
    entries: dict[tuple[Axis, int], Rows] = field(default_factory=dict)
    made: set[tuple[Axis, int]] = field(default_factory=set)
    passage: Span | None = None

    def run(self) -> Graph:
        graph, local = self.graph, {each.statement: each for each in self.division.statements}
        self.words = dict(graph.words)
        self.entries = self._entries()
        whole = self._whole(local)
        self.tensors = {name: t for name, t in graph.tensors.items() if name not in self.division.rows or name in whole}
        for statement in graph.statements:
            self.passage = statement.span
            if statement.id not in local:
                self._add(self._sum_of_rows(statement) or statement)
                continue
            self._divide(statement, local[statement.id])
            self._pass_on(statement.target)
            if statement.target in whole:
                self._gather(statement.target)
        return replace(graph, tensors=self.tensors, statements=tuple(self.statements), words=self.words)

    def _whole(self, local: Mapping[int, Local]) -> frozenset[str]:
        """Return the tensors of which every group needs all rows."""
        whole = {tensor for _, tensor in self.graph.results}
        for statement in self.graph.statements:
            found = local.get(statement.id)
            if found is None and (changed := self._sum_of_rows(statement)) is not None:
                whole.update(set(statement.sources) & set(changed.sources))
                continue
            for read in statement.reads:
                axes = [d for d, s in enumerate(read.subscripts) if found is not None and found.index in s.names]
                if not axes or not self._is_divided((read.tensor, axes[0])):
                    whole.add(read.tensor)
            whole.update(set(statement.sources) - {read.tensor for read in statement.reads})
        return frozenset(whole)

    def _entries(self) -> dict[tuple[Axis, int], Rows]:
        """Return the rows of whole tensors that groups take, by axis and the number of rows of a group."""
        found = dict[tuple[Axis, int], Rows]()
        for local in self.division.statements:
            rows = self.division.rows[local.axis[0]].rows
            for window in local.windows:
                if self._is_divided(window.axis):
                    continue
                own = window.stride * rows
                last = window.stride * (rows - 1) + window.high
                old = found.get((window.axis, own), Rows(axis=window.axis[1], rows=own, clean=own))
                found[window.axis, own] = replace(
                    old, before=max(old.before, -window.low), after=max(old.after, last - own + 1)
                )
        return found

    def _is_divided(self, axis: Axis) -> bool:
        rows = self.division.rows.get(axis[0])
        return rows is not None and rows.axis == axis[1]

    def _rows_of(self, read: Read, local: Local) -> tuple[str, Rows] | None:
        """Return the divided tensor that a group reads instead of a whole one; None where it reads the whole one."""
        axes = [d for d, s in enumerate(read.subscripts) if local.index in s.names]
        if not axes:
            return None
        axis = (read.tensor, axes[0])
        if self._is_divided(axis):
            return f"{read.tensor}.rows", self.division.rows[read.tensor]
        own = read.subscripts[axes[0]].coefficient(local.index) * self.division.rows[local.axis[0]].rows
        return f"{read.tensor}.rows{own}", self.entries[axis, own]

    def _divide(self, statement: Statement, local: Local) -> None:
        """Add the statement that computes the rows of each group, and before it what takes them from whole tensors."""
        rows = self.division.rows[statement.target]

        def change(operand: Operand) -> Operand:
            found = self._rows_of(operand, local) if isinstance(operand, Read) else None
            if found is None or not isinstance(operand, Read):
                return operand
            name, theirs = found
            if not self._is_divided((operand.tensor, theirs.axis)):
                self._enter(name, operand.tensor, theirs)
            axis = operand.subscripts[theirs.axis] + theirs.before
            return replace(operand, tensor=name, subscripts=_at(operand.subscripts, theirs.axis, (_of(GROUP), axis)))

        made = replace(
            statement,
            operation=with_operands(statement.operation, change),
            constraints=tuple(c for c in statement.constraints if local.index not in c.names),
        )
        shape = self.graph.tensors[statement.target].shape
        kept = self._tensor(f"{statement.target}.rows", self._shape(shape, rows))
        edges = self._edges(rows)
        if edges and _points(made.reduced) > MOST_POINTS:
            # The rows that are passed on are read where no row of a neighbour is awaited.
            own = self._tensor(f"{statement.target}.own", self._shape(shape, replace(rows, before=0, after=0)))
            self._add(self._of_rows(made, local, own, rows.axis, 0, rows.rows, 0))
            made, local = self._copy(own, shape, rows.axis), replace(local, index=ROW)
        if rows.clean:
            self._add(self._of_rows(made, local, kept, rows.axis, 0, rows.clean, rows.before))
        if rows.clean < rows.rows:
            self._mask(made, local, rows)
        for name, (first, count) in edges.items():
            target = self._tensor(
                f"{statement.target}.{name}.own", self._shape(shape, Rows(axis=rows.axis, rows=count, clean=count))
            )
            self._add(self._of_rows(made, local, target, rows.axis, first, count, 0))

    def _mask(self, statement: Statement, local: Local, rows: Rows) -> None:
        """Add the statements that compute the rows which not every group has, and make those that do not exist 0."""
        name = local.axis[0]
        shape, count = self.graph.tensors[name].shape, rows.rows - rows.clean
        some = self._tensor(f"{name}.some", self._shape(shape, Rows(axis=rows.axis, rows=count, clean=count)))
        self._add(self._of_rows(statement, local, some, rows.axis, rows.clean, count, 0))
        read = Read(tensor=some, subscripts=_at(_plain(shape), rows.axis, (_of(GROUP), _of(ROW))))
        inside = Read(tensor=self._inside(shape[rows.axis], rows), subscripts=(_of(GROUP), _of(ROW)))
        before, behind = _axes(shape, rows.axis)
        self._add(
            Statement(
                id=0,
                target=f"{name}.rows",
                write=_at(_plain(shape), rows.axis, (_of(GROUP), _of(ROW) + rows.before + rows.clean)),
                indices=(*before, self._group(GROUP), Index(name=ROW, low=0, high=count), *behind),
                operation=Linear(terms=(Term(factors=(inside, read)),)),
            )
        )

    def _of_rows(
        self, statement: Statement, local: Local, target: str, axis: int, first: int, count: int, at: int
    ) -> Statement:
        """Return a statement that computes `count` of a group's rows, the first of which is written at row `at`."""
        (split,) = (index for index in statement.indices if index.name == local.index)
        rows = replace(split, low=first, high=first + count)
        return replace(
            statement,
            target=target,
            write=_at(statement.write, axis, (_of(GROUP), _of(local.index) + (at - first))),
            indices=tuple(
                each
                for index in statement.indices
                for each in ((self._group(GROUP), rows) if index is split else (index,))
            ),
        )

    def _copy(self, tensor: str, shape: tuple[int, ...], axis: int) -> Statement:
        """Return a statement that copies the words of a divided tensor, all of whose rows are a group's own."""
        before, behind = _axes(shape, axis)
        read = Read(tensor=tensor, subscripts=_at(_plain(shape), axis, (_of(GROUP), _of(ROW))))
        return Statement(
            id=0,
            target=tensor,
            write=_at(_plain(shape), axis, (_of(ROW),)),
            indices=(*before, Index(name=ROW, low=0, high=1), *behind),
            operation=Linear(terms=(Term(factors=(read,)),)),
        )

    @staticmethod
    def _edges(rows: Rows) -> dict[str, tuple[int, int]]:
        """Return the first and the number of the rows that each group passes on, by the name of their tensor."""
        first, last = min(rows.after, rows.rows), min(rows.before, rows.rows)
        edges = {"first": (0, first), "last": (rows.rows - last, last)}
        return {name: edge for name, edge in edges.items() if edge[1]}

    def _sum_of_rows(self, statement: Statement) -> Statement | None:
        """Return a sum over all rows of divided tensors as one over the rows of each group; None for anything else.

        Rows that do not exist would be summed, too, so every group must have all of its rows.
        """
        if not isinstance(statement.operation, Linear) or statement.constraints:
            return None
        divided = [read for read in statement.reads if read.tensor in self.division.rows]
        along = {read.subscripts[self.division.rows[read.tensor].axis] for read in divided}
        index = next((i for i in statement.reduced if along == {_of(i.name)}), None)
        if index is None or any(index.name not in t.reduce for t in statement.operation.terms if t.reduce):
            return None
        rows = {self.division.rows[read.tensor].rows for read in divided}
        whole = {self.graph.tensors[read.tensor].shape[self.division.rows[read.tensor].axis] for read in divided}
        mentions = sum(index.name in s.names for read in statement.reads for s in read.subscripts)
        if len(rows) > 1 or whole != {min(rows) * self.groups} or mentions > len(divided):
            return None
        if (index.low, index.high) != (0, min(whole)):
            return None

        def change(operand: Operand) -> Operand:
            if not isinstance(operand, Read) or operand.tensor not in self.division.rows:
                return operand
            theirs = self.division.rows[operand.tensor]
            places = (_of(PART), _of(index.name) + theirs.before)
            subscripts = _at(operand.subscripts, theirs.axis, places)
            return replace(operand, tensor=f"{operand.tensor}.rows", subscripts=subscripts)

        changed = with_operands(statement.operation, change)
        assert isinstance(changed, Linear)
        terms = tuple(replace(t, reduce=(PART, *t.reduce) if t.reduce else ()) for t in changed.terms)
        reduced = (replace(i, high=min(rows)) if i is index else i for i in statement.reduced)
        return replace(statement, operation=replace(changed, terms=terms), reduced=(self._group(PART), *reduced))

    def _enter(self, name: str, tensor: str, rows: Rows) -> None:
        """Add the statement with which each group takes its rows, and its neighbours', from a whole tensor."""
        key = ((tensor, rows.axis), rows.rows)
        if key in self.made:
            return
        self.made.add(key)
        shape = self.graph.tensors[tensor].shape
        axes = _axes(shape, rows.axis)
        row = _of(PART) * rows.rows + _of(ROW) - rows.before
        factors = (
            Read(tensor=self._selector(0), subscripts=(_of(GROUP), _of(PART))),
            Read(tensor=tensor, subscripts=_at(_plain(shape), rows.axis, (row,))),
        )
        kept = Index(name=ROW, low=0, high=rows.before + rows.rows + rows.after)
        self._add(
            Statement(
                id=0,
                target=self._tensor(name, self._shape(shape, rows)),
                write=_at(_plain(shape), rows.axis, (_of(GROUP), _of(ROW))),
                indices=(*axes[0], self._group(GROUP), kept, *axes[1]),
                reduced=(self._group(PART),),
                operation=Linear(terms=(Term(factors=factors, reduce=(PART,)),)),
                constraints=(row, -row + (shape[rows.axis] - 1)),
            )
        )

    def _pass_on(self, tensor: str) -> None:
        """Add the statements with which each group keeps rows of its neighbours."""
        rows = self.division.rows[tensor]
        own, before = rows.rows, rows.before
        for name, (_, known) in self._edges(rows).items():
            givers = self._givers(tensor, name)
            edge = self._edge(tensor, name, known, givers)
            reach = rows.after if name == "first" else before
            for away in range(1, -(-reach // own) + 1):
                count = min(own, reach - (away - 1) * own)
                if name == "first":
                    self._keep(tensor, edge, givers, away, before + away * own, 0, count)
                else:
                    self._keep(tensor, edge, givers, -away, before - (away - 1) * own - count, known - count, count)

    def _givers(self, tensor: str, name: str) -> Index:
        """Return the groups whose edge some other group reads. There is always one."""
        rows = self.division.rows[tensor]
        having = -(-self.graph.tensors[tensor].shape[rows.axis] // rows.rows)
        low, high = (1, having) if name == "first" else (0, having - 1)
        return Index(name=EACH, low=min(low, self.groups - 1), high=max(high, low + 1))

    def _edge(self, tensor: str, name: str, count: int, givers: Index) -> str:
        """Add the statement that brings the edge of each of some groups to all groups. Return the tensor of these rows.

        Rows that do not exist, but must be zeros, are not passed on.
        """
        shape, rows = self.graph.tensors[tensor].shape, self.division.rows[tensor]
        axes = _axes(shape, rows.axis)
        part = (*shape[: rows.axis], givers.extent, count, *shape[rows.axis + 1 :])
        row = Index(name=ROW, low=0, high=count)
        own = f"{tensor}.{name}.own"
        first = self._edges(rows)[name][0]
        passed = self._own() if first + count <= rows.clean else self._existing(shape[rows.axis], rows, first, count)
        return self._to_all(
            self._tensor(f"{tensor}.{name}", part),
            _at(_plain(shape), rows.axis, (_of(EACH) - givers.low, _of(ROW))),
            Read(tensor=own, subscripts=_at(_plain(shape), rows.axis, (_of(PART), _of(ROW)))),
            (*axes[0], givers, row, *axes[1]),
            passed,
        )

    def _to_all(
        self,
        target: str,
        write: tuple[Affine, ...],
        read: Read,
        indices: tuple[Index, ...],
        passed: Read,
        constraints: tuple[Affine, ...] = (),
    ) -> str:
        """Add the sum over the whole array that brings words of each group to all groups. Return its tensor.

        `passed` is 1 for the words of the group that owns them, and else 0.
        """
        factors = (passed, read)
        self._add(
            Statement(
                id=0,
                target=target,
                write=write,
                indices=indices,
                reduced=(self._group(PART),),
                operation=Linear(terms=(Term(factors=factors, reduce=(PART,)),)),
                constraints=constraints,
            )
        )
        return target

    def _keep(self, tensor: str, edge: str, givers: Index, shift: int, first: int, known: int, count: int) -> None:
        """Add the statement with which each group keeps `count` rows of the group that lies `shift` groups behind it.

        `first` is where the first of them lies in the group, and `known` is its number among the rows that were passed
        on, which are those of the groups `givers`.
        """
        shape, rows = self.graph.tensors[tensor].shape, self.division.rows[tensor]
        axes = _axes(shape, rows.axis)
        factors = (
            Read(tensor=self._selector(shift), subscripts=(_of(GROUP), _of(PART))),
            Read(tensor=edge, subscripts=_at(_plain(shape), rows.axis, (_of(PART) - givers.low, _of(ROW) + known))),
        )
        self._add(
            Statement(
                id=0,
                target=f"{tensor}.rows",
                write=_at(_plain(shape), rows.axis, (_of(GROUP), _of(ROW) + first)),
                indices=(*axes[0], self._group(GROUP), Index(name=ROW, low=0, high=count), *axes[1]),
                reduced=(replace(givers, name=PART),),
                operation=Linear(terms=(Term(factors=factors, reduce=(PART,)),)),
            )
        )

    def _gather(self, tensor: str) -> None:
        """Add the statement that brings all rows of a map to all groups."""
        shape, rows = self.graph.tensors[tensor].shape, self.division.rows[tensor]
        axes = _axes(shape, rows.axis)
        row = _of(EACH) * rows.rows + _of(ROW)
        whole = rows.rows * self.groups == shape[rows.axis]
        self._to_all(
            tensor,
            _at(_plain(shape), rows.axis, (row,)),
            Read(
                tensor=f"{tensor}.rows",
                subscripts=_at(_plain(shape), rows.axis, (_of(PART), _of(ROW) + rows.before)),
            ),
            (*axes[0], self._group(EACH), Index(name=ROW, low=0, high=rows.rows), *axes[1]),
            self._own(),
            () if whole else (-row + (shape[rows.axis] - 1),),
        )

    def _add(self, statement: Statement) -> None:
        """Add a statement. One that no text says belongs to the passage for the sake of which it is there."""
        span = statement.span or self.passage
        self.statements.append(replace(statement, id=len(self.statements), span=span))

    def _tensor(self, name: str, shape: Sequence[int]) -> str:
        if name not in self.tensors:
            self.tensors[name] = Tensor(name=name, shape=tuple(shape), role="value")
        return name

    def _group(self, name: str) -> Index:
        return Index(name=name, low=0, high=self.groups)

    def _shape(self, shape: tuple[int, ...], rows: Rows) -> tuple[int, ...]:
        kept = rows.before + rows.rows + rows.after
        return (*shape[: rows.axis], self.groups, kept, *shape[rows.axis + 1 :])

    def _own(self) -> Read:
        """Return the word that is 1 if a group is the one whose words come to all groups."""
        name = self._constant(OWN, np.eye(self.groups, dtype=np.int64))
        return Read(tensor=name, subscripts=(_of(EACH), _of(PART)))

    def _existing(self, extent: int, rows: Rows, first: int, count: int) -> Read:
        """Return the same word, but 0 for rows that a tensor does not have; `count` rows begin at a group's `first`."""
        row = np.arange(self.groups)[:, None] * rows.rows + first + np.arange(count)
        one = np.eye(self.groups, dtype=np.int64)[:, :, None] * (row < extent)[None]
        name = self._constant(f"{OWN}.{extent}.{rows.rows}.{first}.{count}", one)
        return Read(tensor=name, subscripts=(_of(EACH), _of(PART), _of(ROW)))

    def _inside(self, extent: int, rows: Rows) -> str:
        """Return the constant that is 1 at [g][r] if group g has the r-th of its rows that are not clean."""
        row = np.arange(self.groups)[:, None] * rows.rows + np.arange(rows.clean, rows.rows)
        return self._constant(f"{SELECTORS}inside.{extent}.{rows.rows}", (row < extent).astype(np.int64))

    def _selector(self, shift: int) -> str:
        """Return the constant that is 1 at [g][g + shift], and 0 elsewhere."""
        return self._constant(f"{SELECTORS}beside{shift:+d}", np.eye(self.groups, k=shift, dtype=np.int64))

    def _constant(self, name: str, ones: NDArray[np.int64]) -> str:
        if name not in self.tensors:
            self.tensors[name] = Tensor(name=name, shape=ones.shape, role="constant")
            self.words[name] = ones << self.fmt.fraction
        return name


def _of(name: str) -> Affine:
    return Affine.of(0, **{name: 1})


def _at(subscripts: tuple[Affine, ...], axis: int, new: tuple[Affine, ...]) -> tuple[Affine, ...]:
    """Return subscripts with others in place of the one of an axis."""
    return (*subscripts[:axis], *new, *subscripts[axis + 1 :])


def _plain(shape: Sequence[int]) -> tuple[Affine, ...]:
    """Return the subscripts of all elements of a shape, each axis with an index of its own."""
    return tuple(_of(f"axis{d}") if n > 1 else Affine() for d, n in enumerate(shape))


def _axes(shape: Sequence[int], axis: int) -> tuple[tuple[Index, ...], tuple[Index, ...]]:
    """Return the indices of `_plain` on the axes before one, and behind it."""
    every = [(d, Index(name=f"axis{d}", low=0, high=n)) for d, n in enumerate(shape) if n > 1]
    return tuple(index for d, index in every if d < axis), tuple(index for d, index in every if d > axis)


def _points(indices: Sequence[Index]) -> int:
    return prod(index.extent for index in indices)
