"""Chains of rows: statements whose words are 0 for all rows of a model that a sample does not name.

A chain begins with comparisons of positions with the numbers of all rows, and ends in the update of the model. What
lies between them is a sum of products, each with a factor that is 0 for rows that no position names.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from tabla.graph.boxes import Box, around, covers
from tabla.graph.format import Format
from tabla.graph.graph import (
    Affine,
    Compare,
    Constant,
    Gather,
    Gathered,
    Graph,
    Index,
    Linear,
    Ordinal,
    Read,
    Statement,
    Term,
    tables_of,
)
from tabla.graph.rewrite import operation_at, read_at, substituted

_TURN, _AT = "turn.", "at."
"""The starts of the names of indices over positions, and over the one element of an axis. No name of a program has a
dot.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Positions:
    """Positions that a sample names: the words of a table, one for each turn of `turns`, each plus an offset."""

    table: Read
    offset: Affine
    turns: tuple[Index, ...]

    @property
    def count(self) -> int:
        """How many positions there are."""
        return math.prod(turn.extent for turn in self.turns)

    @property
    def box(self) -> Box:
        """The smallest box of the table that holds the words of all positions."""
        return around(self.table.subscripts, {turn.name: turn for turn in self.turns})

    def numbered(self, group: int) -> Positions:
        """Return the positions with turns that have the names of a group. The same positions have the same names."""
        turns = enumerate(self.turns)
        return self.named([Index(name=f"{_TURN}{group}.{number}", low=0, high=turn.extent) for number, turn in turns])

    def named(self, turns: Sequence[Index]) -> Positions:
        """Return the positions with other indices over the same turns."""
        values = {old.name: Affine.index(new.name) for old, new in zip(self.turns, turns, strict=True)}
        table = read_at(replace(self.table, span=None), values)
        return Positions(table=table, offset=substituted(self.offset, values), turns=tuple(turns))


@dataclass(frozen=True, slots=True, kw_only=True)
class Flags:
    """A tensor that is 1 for the rows that positions name, and 0 elsewhere.

    `axis` is its axis of rows, and `turns` has the axis of each turn of the `positions`, in their order.
    """

    statement: Statement
    axis: int
    turns: tuple[int, ...]
    positions: Positions


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """What lies between comparisons of positions and the update of a model along one axis.

    `zeros` are the tensors whose words are 0 for rows that no position names, each with the statements that write it
    and with its axis of rows. The `updates` write the model's next value. `groups` are the
    positions, those of each table once. All statements are as `by_axis` returns them.
    """

    graph: Graph
    model: str
    axis: int
    updates: tuple[Statement, ...]
    flags: dict[str, Flags]
    zeros: dict[str, tuple[tuple[Statement, ...], int]]
    groups: tuple[Positions, ...]

    @property
    def row_words(self) -> int:
        """How many words a row has."""
        tensor = self.graph.tensors[self.model]
        return tensor.size // tensor.shape[self.axis]

    @property
    def touched(self) -> int:
        """About how many slots of the root the touched rows take."""
        rows = sum(group.count for group in self.groups)
        pairs = rows * rows if rows > 1 else 0
        passed = self._points // self._rows
        return rows * (3 * self.row_words + 4 + passed) + 4 * pairs

    def cycles(self, pes: int) -> int:
        """About how many cycles so many lanes take for all rows, with the look-ups that then need all rows, too.

        Either lanes sum over all rows, or all words of the model go up to the root.
        """
        summed = self._points + sum(update.points for update in self.updates)
        compared = sum(flags.statement.points for flags in self.flags.values())
        words, plain = 0, True
        for statement in self.graph.statements:
            if isinstance(statement.operation, Gather) and statement.operation.tensor == self.model:
                words += statement.points
                plain &= len(tables_of(statement.operation.subscripts)) == 1
        sent = pes * (self.graph.tensors[self.model].size + words)
        looked_up = min(words * self._rows, sent) if plain else sent
        return -(-(summed + compared + looked_up) // pes)

    @property
    def _rows(self) -> int:
        return self.graph.tensors[self.model].shape[self.axis]

    @property
    def sums(self) -> list[Statement]:
        """The statements that write the zeros, in the order of the graph."""
        return sorted((s for statements, _ in self.zeros.values() for s in statements), key=lambda each: each.id)

    @property
    def _points(self) -> int:
        """The points of all statements between comparisons and updates, for all rows."""
        return sum(statement.points for statement in self.sums)


def chain_of(graph: Graph, model: str, axis: int, fmt: Format) -> Chain | None:
    """Return the chain of a model along an axis, or None if its update is not one of named rows alone.

    A position that names no row leaves all rows as they are, but a scatter would write elsewhere. So each position also
    has to be one of a gather of which no position may be outside of the rows.
    """
    tensor, following = graph.tensors[model], graph.updates[model]
    counted = tensor.shape[axis] if axis == len(tensor.shape) - 1 else tensor.size
    if tensor.guard or tensor.shape[axis] < 2 or counted - 1 > fmt.highest:
        return None
    updates = _writers(graph, following)
    found = _Search(graph=graph, model=model, rows=tensor.shape[axis], format=fmt)
    if not updates or not all(found.leaves_others(update, axis) for update in updates):
        return None
    if not found.flags or not found.alone():
        return None
    groups = tuple(dict.fromkeys(each.positions for each in found.flags.values()))
    if not _all_rows(graph, fmt, groups, tensor.shape[axis]) or not _countable(graph, model, groups, fmt):
        return None
    zeros = found.zeros
    return Chain(graph=graph, model=model, axis=axis, updates=updates, flags=found.flags, zeros=zeros, groups=groups)


def _all_rows(graph: Graph, fmt: Format, groups: Iterable[Positions], rows: int) -> bool:
    """Say whether all positions are among those of gathers whose evaluation refuses every position that is none of so
    many rows.
    """
    refused = list[Positions]()
    for statement in graph.statements:
        if not isinstance(statement.operation, Gather) or statement.constraints:
            continue
        shape = graph.tensors[statement.operation.tensor].shape
        for subscript, extent in zip(statement.operation.subscripts, shape, strict=True):
            if isinstance(subscript, Gathered) and extent <= rows:
                positions = _positions(graph, fmt, subscript.table, subscript.offset, statement.indices)
                refused.append(positions.numbered(0))
    return all(any(_among(group, others) for others in refused) for group in groups)


def _among(some: Positions, others: Positions) -> bool:
    """Say whether positions are among others. It is not said of all that are."""
    if some == others:
        return True
    if some.table.tensor != others.table.tensor or some.offset != others.offset or some.offset.names:
        return False
    # The words of the others fill a box if each of their indices stands in one subscript, alone.
    names = [name for subscript in others.table.subscripts for name in subscript.names]
    steps = [abs(step) for subscript in others.table.subscripts for _, step in subscript.coefficients]
    alone = all(len(subscript.names) < 2 for subscript in others.table.subscripts) and set(steps) <= {1}
    return alone and len(set(names)) == len(names) and covers(others.box, some.box)


def _positions(graph: Graph, fmt: Format, table: Read, offset: Affine, indices: Sequence[Index]) -> Positions:
    """Return positions with turns of the `indices` that begin at 0, in the order of their appearance.

    A table that is another one plus a whole number counts as that one with an offset.
    """
    while (base := _base(graph, fmt, table)) is not None:
        table, offset = base[0], offset + base[1]
    order = [name for form in (*table.subscripts, offset) for name in form.names]
    turns = sorted((index for index in indices if index.name in order), key=lambda index: order.index(index.name))
    values = {turn.name: Affine.index(turn.name) + turn.low for turn in turns}
    return Positions(
        table=read_at(table, values),
        offset=substituted(offset, values),
        turns=tuple(replace(turn, low=0, high=turn.extent) for turn in turns),
    )


def _countable(graph: Graph, model: str, groups: Sequence[Positions], fmt: Format) -> bool:
    """Say whether words of the format count positions, and the offsets of all that is read of a model."""
    shape = graph.tensors[model].shape
    for statement in graph.statements:
        if not isinstance(statement.operation, Gather) or statement.operation.tensor != model:
            continue
        for axis, subscript in enumerate(statement.operation.subscripts):
            stride = math.prod(shape[axis + 1 :])
            if isinstance(subscript, Gathered):
                low, high = subscript.offset.bounds(statement.box)
                if max(-low, high) * stride > fmt.highest:
                    return False
    return all(group.count - 1 <= fmt.highest for group in groups)


def _base(graph: Graph, fmt: Format, table: Read) -> tuple[Read, int] | None:
    """Return the read to which a table adds a whole number, and the number; None for any other table."""
    writers = _writers(graph, table.tensor)
    if len(writers) != 1:
        return None
    (statement,) = writers
    match statement.operation:
        case Linear(
            terms=(
                Term(factors=(Read() as read,), sign=1, reduce=()),
                Term(factors=(Constant(value=value),), sign=sign),
            ),
            test=None,
            guard=0,
        ) if (value * fmt.one).denominator == 1:
            values = {index.name: at for index, at in zip(statement.indices, table.subscripts, strict=True)}
            return read_at(read, values), sign * int(value * fmt.one)
        case _:
            return None


def _writers(graph: Graph, tensor: str) -> tuple[Statement, ...]:
    """Return the statements that write a tensor, by axis, or none if one of them cannot be written so."""
    found = tuple(map(_by_axis, graph.writers(tensor)))
    return tuple(statement for statement in found if statement is not None) if None not in found else ()


def _by_axis(statement: Statement) -> Statement | None:
    """Return a statement with an output index for each axis of what it writes, in their order.

    Each index runs over the elements that are written: over a single one where the subscript is a number, which stays.
    Return None for a statement that has constraints or does not write element by element.
    """
    if statement.constraints:
        return None
    values, indices = dict[str, Affine](), list[Index]()
    for axis, subscript in enumerate(statement.write):
        at = subscript.constant
        match subscript.coefficients:
            case ():
                indices.append(Index(name=f"{_AT}{axis}", low=at, high=at + 1))
            case ((name, 1),) if name not in values:
                index = statement.box[name]
                values[name] = Affine.index(name) - at
                indices.append(replace(index, low=index.low + at, high=index.high + at))
            case _:
                return None
    if len(values) != len(statement.indices):
        return None
    return replace(
        statement,
        write=tuple(substituted(subscript, values) for subscript in statement.write),
        indices=tuple(indices),
        operation=operation_at(statement.operation, values),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Search:
    """The search for the statements of a chain, from the update backwards."""

    graph: Graph
    model: str
    rows: int
    format: Format
    flags: dict[str, Flags] = field(default_factory=dict)
    zeros: dict[str, tuple[tuple[Statement, ...], int]] = field(default_factory=dict)

    def leaves_others(self, update: Statement, axis: int) -> bool:
        """Say whether an update adds to the model's own words in all rows, and nothing where no position names them."""
        operation, index = update.operation, update.indices[axis]
        if (index.low, index.high) != (0, self.rows):
            return False
        if not isinstance(operation, Linear) or operation.test is not None or operation.guard:
            return False
        own = Term(factors=(Read(tensor=self.model, subscripts=update.write),))
        others = [term for term in operation.terms if term != own]
        row = index.name
        return len(others) == len(operation.terms) - 1 and all(self._is_zero(term, row, update) for term in others)

    def alone(self) -> bool:
        """Say whether nothing else reads the chain, and everything else looks the model's rows up."""
        inside = {self.graph.updates[self.model], *self.zeros}
        if any(tensor in self.zeros or tensor == self.model for _, tensor in self.graph.results):
            return False
        for statement in self.graph.statements:
            if statement.target in inside:
                continue
            # A gather reads the rows of the model, but needs all rows of everything else.
            if self.zeros.keys() & set(statement.sources) or any(read.tensor == self.model for read in statement.reads):
                return False
        return True

    def _is_zero(self, term: Term, row: str, statement: Statement) -> bool:
        """Say whether a term is 0 for rows that no position names, and what else it reads of a row can be looked up."""
        reads = [factor for factor in term.factors if isinstance(factor, Read)]
        if row in term.reduce or any(isinstance(f, Ordinal) and row in f.value.names for f in term.factors):
            return False
        return any([self._vanishes(read, row) for read in reads]) and all(self._looked_up(read, row) for read in reads)

    def _looked_up(self, read: Read, row: str) -> bool:
        mentions = [subscript for subscript in read.subscripts if row in subscript.names]
        if not mentions or read.tensor in self.flags or read.tensor in self.zeros:
            return True
        axis = read.subscripts.index(mentions[0])
        all_rows = self.graph.tensors[read.tensor].shape[axis] == self.rows
        return mentions == [Affine.index(row)] and all_rows and not read.stored

    def _vanishes(self, read: Read, row: str) -> bool:
        """Say whether a read is of a tensor that is 0 for rows that no position names."""
        axes = [axis for axis, subscript in enumerate(read.subscripts) if row in subscript.names]
        if len(axes) != 1 or read.subscripts[axes[0]] != Affine.index(row):
            return False
        known = self.flags.get(read.tensor)
        if known is not None or read.tensor in self.zeros:
            return axes[0] == (known.axis if known is not None else self.zeros[read.tensor][1])
        if self.graph.tensors[read.tensor].role != "value":
            return False
        writers = _writers(self.graph, read.tensor)
        return bool(writers) and self._found(read.tensor, writers, axes[0])

    def _found(self, target: str, writers: tuple[Statement, ...], axis: int) -> bool:
        """Say whether a tensor belongs to the chain, by the statements that write it, and note it if it does."""
        rows = [statement.indices[axis] for statement in writers]
        if any((row.low, row.high) != (0, self.rows) for row in rows):
            return False
        match writers[0].operation:
            case Compare() if len(writers) == 1:
                return self._compares(writers[0], axis)
            case _ if all(self._sums_zeros(each, row.name) for each, row in zip(writers, rows, strict=True)):
                self.zeros[target] = (writers, axis)
                return True
            case _:
                return False

    def _sums_zeros(self, statement: Statement, row: str) -> bool:
        """Say whether a statement is a sum of terms that are 0 for rows that no position names."""
        match statement.operation:
            case Linear(terms=terms, test=None, guard=0):
                return all(self._is_zero(term, row, statement) for term in terms)
            case _:
                return False

    def _compares(self, statement: Statement, axis: int) -> bool:
        """Say whether a statement compares positions with the numbers of all rows, and note it if it does."""
        match statement.operation:
            case Compare(op="==", left=Read() as table, right=Ordinal() as here):
                pass
            case Compare(op="==", left=Ordinal() as here, right=Read() as table):
                pass
            case _:
                return False
        row = statement.indices[axis].name
        others = tuple(index for index in statement.indices if index.name != row)
        offset = Affine.index(row) - here.value
        if here.fraction != self.format.fraction or row in offset.names or row in table.names:
            return False
        positions = _positions(self.graph, self.format, table, offset, others)
        turns = [turn.name for turn in positions.turns]
        if any(index.extent > 1 and index.name not in turns for index in others):
            return False
        names = [index.name for index in statement.indices]
        axes = tuple(names.index(turn) for turn in turns)
        self.flags[statement.target] = Flags(
            statement=statement, axis=axis, turns=axes, positions=positions.numbered(0)
        )
        return True
