"""Maps whose rows are divided between tap groups.

Each group has a root and a bus of its own, and computes some rows of each map. A convolution also reads some rows of
its neighbours. Words pass from group to group through the sum over the whole array alone. So rows are passed on by two
sums, in which each group multiplies a row by 1 where it is wanted, and by 0 elsewhere:

* ``T.first[g][r] = sum[q](own[g][q] * T.first.own[q][r])``, where q is cut: every group gets the first rows of each
  group g.
* ``T.rows[g][r] = sum[q](beside[g][q] * T.first[q][r])``, where g is cut: each group keeps those of its neighbour.

A sum of one word and zeros is exact, so no word of a program changes. No group passes on the rows before the first and
behind the last row of a map, so these are zeros. A convolution with pads needs no statements of its own for them. A map
that some statement reads whole, or that is a result, comes to all groups by the first sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod

from tabla.base.source import Span
from tabla.graph.format import Format
from tabla.graph.graph import Affine, Graph, Index, Linear, Operand, Read, Statement, Tensor, Term
from tabla.graph.rewrite import with_operands
from tabla.schedule.mapping.partition import Axis
from tabla.schedule.mapping.row_axes import Division, Local, Rows, summed_along
from tabla.schedule.mapping.selectors import EACH, GROUP, PART, ROW, Selectors

MOST_POINTS = 16
"""The most points of a sum or an extreme that is computed twice for the rows that are passed on."""


def with_divided_rows(graph: Graph, division: Division, groups: int, fmt: Format) -> Graph:
    """Return the graph that computes the same words, with the rows of some maps divided between groups.

    `fmt` must have the number 1. :func:`tabla.schedule.mapping.selectors.cut_axes` says where the graph must be cut so
    that each group has its rows.
    """
    return _Dividing(graph, division, Selectors(groups, fmt.one)).run()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Map:
    """A tensor of `shape` whose `axis` is that of its rows. Each other axis has an index of its own."""

    shape: tuple[int, ...]
    axis: int

    def around(self, *new: int) -> tuple[int, ...]:
        """Return the shape with other extents in place of that of the rows."""
        return (*self.shape[: self.axis], *new, *self.shape[self.axis + 1 :])

    def at(self, *new: Affine) -> tuple[Affine, ...]:
        """Return the subscripts of an element, with those of its rows."""
        return _at([Affine.index(f"axis{d}") if n > 1 else Affine() for d, n in enumerate(self.shape)], self.axis, *new)

    def indices(self, *new: Index) -> tuple[Index, ...]:
        """Return the indices of all elements, with those of its rows."""
        every = [Index(name=f"axis{d}", low=0, high=n) if n > 1 else None for d, n in enumerate(self.shape)]
        others = (every[: self.axis], new, every[self.axis + 1 :])
        return tuple(index for part in others for index in part if index is not None)

    @property
    def extent(self) -> int:
        """The number of its rows."""
        return self.shape[self.axis]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Edge:
    """Rows of each group that other groups read.

    They are `count` rows from the group's row `first` on. The groups `givers` are those whose edge some other group
    reads. A reader keeps `reach` rows in all: of the groups behind it where `side` is 1, and of those before it where
    `side` is -1.
    """

    name: str
    side: int
    first: int
    count: int
    reach: int
    givers: Index


@dataclass(eq=False)
class _Dividing:
    """The statements and tensors of the divided graph, as they are made, and the `passage` that asks for them."""

    graph: Graph
    division: Division
    selectors: Selectors
    statements: list[Statement] = field(default_factory=list)
    tensors: dict[str, Tensor] = field(default_factory=dict)
    passage: Span | None = None

    def run(self) -> Graph:
        graph, whole = self.graph, self._whole()
        self.tensors = {name: t for name, t in graph.tensors.items() if name not in self.division.rows or name in whole}
        for statement in graph.statements:
            self.passage = statement.span
            local = self._local.get(statement.id)
            if local is None:
                self._add(self._sums.get(statement.id, statement))
                continue
            self._divide(statement, local)
            self._pass_on(statement.target)
            if statement.target in whole:
                self._gather(statement.target)
        return replace(
            graph,
            tensors={**self.tensors, **self.selectors.tensors},
            statements=tuple(self.statements),
            words={**graph.words, **self.selectors.words},
        )

    @cached_property
    def _local(self) -> dict[int, Local]:
        """The statements that are divided, by number."""
        return {each.statement: each for each in self.division.statements}

    @cached_property
    def _sums(self) -> dict[int, Statement]:
        """The statements that sum over all rows of divided maps, by number, as sums over the rows of each group."""
        others = (statement for statement in self.graph.statements if statement.id not in self._local)
        return {s.id: made for s in others if (made := self._sum_of_rows(s)) is not None}

    def _whole(self) -> frozenset[str]:
        """Return the tensors of which every group needs all rows."""
        whole = {tensor for _, tensor in self.graph.results}
        for statement in self.graph.statements:
            local = self._local.get(statement.id)
            if local is None:
                whole.update(self._sums.get(statement.id, statement).sources)
            else:
                whole |= {r.tensor for r in statement.reads if not self._is_divided(self._read_along(r, local))}
        return frozenset(whole)

    @cached_property
    def _entries(self) -> dict[tuple[Axis, int], Rows]:
        """The rows of whole tensors that groups take, by axis and the number of rows of a group."""
        found = dict[tuple[Axis, int], Rows]()
        for local in self.division.statements:
            divided = self.division.rows[local.axis[0]]
            for window in local.windows:
                if self._is_divided(window.axis):
                    continue
                own = window.stride * divided.rows
                old = found.get((window.axis, own), Rows(axis=window.axis[1], rows=own, clean=own))
                found[window.axis, own] = old.reaching(window, divided.made)
        return found

    def _is_divided(self, axis: Axis | None) -> bool:
        return axis is not None and axis[0] in self.division.rows and self.division.rows[axis[0]].axis == axis[1]

    @staticmethod
    def _read_along(read: Read, local: Local) -> Axis | None:
        """Return the axis of a tensor that a divided statement reads along its rows; None if there is none."""
        return next(((read.tensor, d) for d, s in enumerate(read.subscripts) if local.index in s.names), None)

    # ---- what the program computes

    def _divide(self, statement: Statement, local: Local) -> None:
        """Add the statements that compute the rows of each group, and before them what takes rows of whole tensors."""

        def change(operand: Operand) -> Operand:
            axis = self._read_along(operand, local) if isinstance(operand, Read) else None
            if axis is None or not isinstance(operand, Read):
                return operand
            if self._is_divided(axis):
                return self._in_group(operand, f"{operand.tensor}.rows", self.division.rows[operand.tensor])
            stride = operand.subscripts[axis[1]].coefficient(local.index)
            rows = self._entries[axis, stride * self.division.rows[statement.target].rows]
            return self._in_group(operand, self._entered(operand.tensor, rows), rows)

        name, rows = statement.target, self.division.rows[statement.target]
        made = replace(
            statement,
            operation=with_operands(statement.operation, change),
            constraints=tuple(c for c in statement.constraints if local.index not in c.names),
        )
        index, edges, kept = local.index, self._edges(name), self._rows(f"{name}.rows", name, rows.kept)
        first, last = rows.made
        if edges and prod(each.extent for each in made.reduced) > MOST_POINTS:
            # The rows that are passed on are read where no row of a neighbour is awaited.
            self._add_rows(made, index, self._rows(f"{name}.own", name, rows.rows), 0, rows.rows)
            made, index = self._copy_of_rows(name), ROW
        clean = rows.clean if rows.zeros else last + 1
        if first < 0 and rows.zeros:
            self._mask(made, index, f"{name}.ahead", first, -first)
            first = 0
        if first < clean:
            self._add_rows(made, index, kept, first, clean - first, rows.before + first)
        if clean <= last:
            self._mask(made, index, f"{name}.some", clean, last + 1 - clean)
        for edge in edges:
            own = self._rows(f"{name}.{edge.name}.own", name, edge.count)
            self._add_rows(made, index, own, edge.first, edge.count)

    def _mask(self, statement: Statement, index: str, some: str, first: int, count: int) -> None:
        """Add the statements that compute `count` rows of each group, from its row `first` on, first into `some`.

        Those that the tensor does not have become zeros.
        """
        name = statement.target
        rows, shape = self.division.rows[name], self._map(name)
        self._add_rows(statement, index, self._rows(some, name, count), first, count)
        self._add_sum(
            f"{name}.rows",
            shape.at(Affine.index(GROUP), Affine.index(ROW) + rows.before + first),
            shape.indices(self._groups(GROUP), Index(name=ROW, low=0, high=count)),
            self.selectors.inside(shape.extent, rows, first, count),
            Read(tensor=some, subscripts=shape.at(Affine.index(GROUP), Affine.index(ROW))),
        )

    def _add_rows(self, statement: Statement, along: str, target: str, first: int, count: int, place: int = 0) -> None:
        """Add the statement that computes `count` rows of each group, from its row `first` on.

        `along` is the index of the rows in the statement of the whole map. The first of them is row `place` of the
        target.
        """
        indices = list[Index]()
        for index in statement.indices:
            rows = (self._groups(GROUP), replace(index, low=first, high=first + count))
            indices += rows if index.name == along else (index,)
        row = Affine.index(along) + (place - first)
        write = _at(statement.write, self.division.rows[statement.target].axis, Affine.index(GROUP), row)
        self._add(replace(statement, target=target, write=write, indices=tuple(indices)))

    def _copy_of_rows(self, tensor: str) -> Statement:
        """Return the statement that copies all of a map from each group's own rows. Its rows run along `ROW`."""
        whole = self._map(tensor)
        read = Read(tensor=f"{tensor}.own", subscripts=whole.at(Affine.index(GROUP), Affine.index(ROW)))
        return Statement(
            id=0,
            target=tensor,
            write=whole.at(Affine.index(ROW)),
            indices=whole.indices(Index(name=ROW, low=0, high=whole.extent)),
            operation=Linear(terms=(Term(factors=(read,)),)),
        )

    def _sum_of_rows(self, statement: Statement) -> Statement | None:
        """Return a sum over all rows of divided tensors as one over the rows of each group; None for anything else.

        Rows that do not exist are summed, too, so they must be zeros.
        """
        operation, theirs = statement.operation, self.division.rows
        index = summed_along(statement, {tensor: rows.axis for tensor, rows in theirs.items()})
        if index is None or not isinstance(operation, Linear):
            return None
        divided = {read.tensor for read in statement.reads if read.tensor in theirs}
        counts = {theirs[tensor].rows for tensor in divided}
        extents = {self._map(tensor).extent for tensor in divided}
        if len(counts) > 1 or extents != {index.high} or index.low:
            return None
        own = counts.pop()
        if own * self.selectors.groups != index.high and not all(theirs[tensor].zeros for tensor in divided):
            return None

        def change(operand: Operand) -> Operand:
            if not isinstance(operand, Read) or operand.tensor not in theirs:
                return operand
            return self._in_group(operand, f"{operand.tensor}.rows", theirs[operand.tensor], PART)

        changed = with_operands(operation, change)
        assert isinstance(changed, Linear)
        terms = tuple(replace(t, reduce=(PART, *t.reduce) if t.reduce else ()) for t in changed.terms)
        reduced = (replace(i, high=own) if i is index else i for i in statement.reduced)
        return replace(statement, operation=replace(changed, terms=terms), reduced=(self._groups(PART), *reduced))

    @staticmethod
    def _in_group(read: Read, tensor: str, rows: Rows, group: str = GROUP) -> Read:
        """Return the read of a row of the whole map as that of a group's row."""
        row = read.subscripts[rows.axis] + rows.before
        return replace(read, tensor=tensor, subscripts=_at(read.subscripts, rows.axis, Affine.index(group), row))

    # ---- what passes from group to group

    def _edges(self, tensor: str) -> list[_Edge]:
        """Return the rows of a map that are passed on."""
        rows = self.division.rows[tensor]
        having, own = -(-self._map(tensor).extent // rows.rows), rows.rows
        ahead, behind = min(rows.before, own), min(rows.after, own)
        first = _Edge(name="first", side=1, first=0, count=behind, reach=rows.after, givers=self._givers(1, having))
        last = _Edge(
            name="last", side=-1, first=own - ahead, count=ahead, reach=rows.before, givers=self._givers(0, having - 1)
        )
        return [edge for edge in (first, last) if edge.reach and not rows.computed]

    def _givers(self, low: int, high: int) -> Index:
        """Return the index of the groups from `low` to `high`, but of one at least, so that a sum adds something."""
        return Index(name=EACH, low=min(low, self.selectors.groups - 1), high=max(high, low + 1))

    def _pass_on(self, tensor: str) -> None:
        """Add the statements with which each group keeps rows of its neighbours."""
        rows, whole = self.division.rows[tensor], self._map(tensor)
        for edge in self._edges(tensor):
            given = self._give(tensor, edge)
            for away in range(1, -(-edge.reach // rows.rows) + 1):
                count = min(rows.rows, edge.reach - (away - 1) * rows.rows)
                # Rows of a group before come in front of those of a nearer one; of the farthest, the last ones.
                place = rows.before + (away * rows.rows if edge.side > 0 else (1 - away) * rows.rows - count)
                known = 0 if edge.side > 0 else edge.count - count
                row = whole.at(Affine.index(PART) - edge.givers.low, Affine.index(ROW) + known)
                self._add_sum(
                    f"{tensor}.rows",
                    whole.at(Affine.index(GROUP), Affine.index(ROW) + place),
                    whole.indices(self._groups(GROUP), Index(name=ROW, low=0, high=count)),
                    self.selectors.beside(edge.side * away),
                    Read(tensor=given, subscripts=row),
                    over=replace(edge.givers, name=PART),
                )

    def _give(self, tensor: str, edge: _Edge) -> str:
        """Add the statement that brings the edge of each giver to all groups. Return the tensor of these rows.

        Rows that do not exist, but must be zeros, are not passed on.
        """
        rows, whole = self.division.rows[tensor], self._map(tensor)
        given = self._tensor(f"{tensor}.{edge.name}", whole.around(edge.givers.extent, edge.count))
        all_exist = edge.first + edge.count <= rows.clean
        self._add_sum(
            given,
            whole.at(Affine.index(EACH) - edge.givers.low, Affine.index(ROW)),
            whole.indices(edge.givers, Index(name=ROW, low=0, high=edge.count)),
            self.selectors.own() if all_exist else self.selectors.existing(whole.extent, rows, edge.first, edge.count),
            Read(tensor=f"{given}.own", subscripts=whole.at(Affine.index(PART), Affine.index(ROW))),
            over=self._groups(PART),
        )
        return given

    def _gather(self, tensor: str) -> None:
        """Add the statement that brings all rows of a map to all groups."""
        rows, whole = self.division.rows[tensor], self._map(tensor)
        row = Affine.index(EACH) * rows.rows + Affine.index(ROW)
        even = rows.rows * self.selectors.groups == whole.extent
        self._add_sum(
            tensor,
            whole.at(row),
            whole.indices(self._groups(EACH), Index(name=ROW, low=0, high=rows.rows)),
            self.selectors.own(),
            Read(tensor=f"{tensor}.rows", subscripts=whole.at(Affine.index(PART), Affine.index(ROW) + rows.before)),
            over=self._groups(PART),
            constraints=() if even else (-row + (whole.extent - 1),),
        )

    def _entered(self, tensor: str, rows: Rows) -> str:
        """Return the tensor of the rows of a whole tensor that each group keeps. Add what takes them, if need be."""
        name = f"{tensor}.rows{rows.axis}.{rows.rows}"
        if name in self.tensors:
            return name
        whole = _Map(shape=self.graph.tensors[tensor].shape, axis=rows.axis)
        row = Affine.index(PART) * rows.rows + Affine.index(ROW) - rows.before
        self._add_sum(
            self._tensor(name, whole.around(self.selectors.groups, rows.kept)),
            whole.at(Affine.index(GROUP), Affine.index(ROW)),
            whole.indices(self._groups(GROUP), Index(name=ROW, low=0, high=rows.kept)),
            self.selectors.beside(0),
            Read(tensor=tensor, subscripts=whole.at(row)),
            over=self._groups(PART),
            constraints=(row, -row + (whole.extent - 1)),
        )
        return name

    # ---- statements and tensors

    def _add_sum(
        self,
        target: str,
        write: tuple[Affine, ...],
        indices: tuple[Index, ...],
        selector: Read,
        read: Read,
        *,
        over: Index | None = None,
        constraints: tuple[Affine, ...] = (),
    ) -> None:
        """Add the sum, `over` the groups, of what is read times a selector; a single product without such an index."""
        summed = () if over is None else (over,)
        term = Term(factors=(selector, read), reduce=tuple(index.name for index in summed))
        self._add(
            Statement(
                id=0,
                target=target,
                write=write,
                indices=indices,
                reduced=summed,
                operation=Linear(terms=(term,)),
                constraints=constraints,
            )
        )

    def _add(self, statement: Statement) -> None:
        """Add a statement. One that no text says belongs to the passage for the sake of which it is there."""
        span = statement.span or self.passage
        self.statements.append(replace(statement, id=len(self.statements), span=span))

    def _map(self, tensor: str) -> _Map:
        return _Map(shape=self.graph.tensors[tensor].shape, axis=self.division.rows[tensor].axis)

    def _tensor(self, name: str, shape: tuple[int, ...]) -> str:
        self.tensors[name] = Tensor(name=name, shape=shape, role="value")
        return name

    def _rows(self, name: str, tensor: str, count: int) -> str:
        """Add a tensor of so many rows of each group of a map. Return its name."""
        return self._tensor(name, self._map(tensor).around(self.selectors.groups, count))

    def _groups(self, name: str) -> Index:
        return Index(name=name, low=0, high=self.selectors.groups)


def _at(subscripts: Sequence[Affine], axis: int, *new: Affine) -> tuple[Affine, ...]:
    """Return subscripts with others in place of the one of an axis."""
    return (*subscripts[:axis], *new, *subscripts[axis + 1 :])
