"""Gathers at the root: the position register's word is added to the address of an operation.

All words that one position decides are its *row*. A position is fetched once for its row. The position register shows
it from eight cycles after the fetch until the next position arrives, so fetches run ahead of their words. There are two
shapes of strands:

* Rows in one loop (software pipelining). The body fetches the position of one row, and issues words of earlier rows
  whose positions the register shows by then. A row of w words takes w + 1 cycles. The first bodies lack words and the
  last ones lack fetches, so they are unrolled as strands of their own.
* Nested loops, for all other nests and for few rows. The body first fetches as many positions as there is time for
  before the words of the first one, and then issues the words of all of them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tabla.graph.graph import Affine, Gather, Index, Read, Statement, offsets_of, tables_of
from tabla.graph.rewrite import substituted
from tabla.schedule.mapping.places import ROOT
from tabla.schedule.strands.bodies import RootContext
from tabla.schedule.strands.chunks import Chunk, chunks
from tabla.schedule.strands.leaving import Nest, nest
from tabla.schedule.strands.loops import Loop, address, plain
from tabla.schedule.strands.site import Extras, Site, task_of
from tabla.schedule.strands.strand import Operation, Strand
from tabla.schedule.strands.tasks import Task
from tabla.templates.template import timing

MOST_WORDS = 64
"""The most words of a row in one body. The position of a longer row is fetched again for each part of it."""
_STEP, _REST, _NOTHING = "chunk", Operation(fields={"a": "zero"}), Operation(fields={"source": "result"})


def gather(site: Site, statement: Statement, name: str, shows: str) -> Task:
    """Return the task of a gather whose positions lie in one table and count words of the gathered tensor.

    If `shows` names a result, its words leave as they are made.
    """
    rows, words = _split(statement)
    made, other = (_Making(site=site, statement=statement, name=name, leaves=bool(shows)) for _ in range(2))
    other.nested(rows, words)
    if not _in_one_loop(made, rows, words) or other.start < made.start:
        # For few positions the nested shape takes fewer cycles.
        made = other
    size = site.graph.tensors[statement.target].size
    leaves = () if not shows or (len(made.nests) == 1 and made.nests[0].row_major(size)) else tuple(made.nests)
    extras = Extras(produces=(statement.target,), shows=shows, leaves=leaves)
    return task_of(site, name, made.strands, extras, statement=statement.id)


def _split(statement: Statement) -> tuple[list[Index], list[Index]]:
    """Divide the indices of a gather into those that decide the position and those that count the words of a row."""
    assert isinstance(statement.operation, Gather)
    (table,) = tables_of(statement.operation.subscripts)
    deciding = table.names
    rows = [index for index in statement.indices if index.name in deciding]
    return rows, [index for index in statement.indices if index.name not in deciding]


def _in_one_loop(made: _Making, rows: Sequence[Index], words: Sequence[Index]) -> bool:
    """Build the strands of rows in one loop, and say whether the gather has that shape."""
    width = math.prod(index.extent for index in words)
    loops = tuple(plain(index) for index in rows)
    if not rows or width > MOST_WORDS:
        return False
    members = [dict(zip((i.name for i in words), at, strict=True)) for at in _points(words)]
    row = made.row(loops, members)
    if any(not _even(loops, generator.strides) for o in row.operations for generator in o.addresses.values()):
        return False
    made.pipelined(row.in_one_loop(), math.prod(loop.count for loop in loops))
    made.nests.append(nest(made.site.graph, made.statement.target, made.statement.write, (*loops, *map(plain, words))))
    return True


def _points(words: Sequence[Index]) -> Iterator[tuple[Affine, ...]]:
    ranges = [range(index.low, index.low + index.extent) for index in words]
    return (tuple(Affine.of(at) for at in point) for point in itertools.product(*ranges))


def _even(loops: Sequence[Loop], strides: Sequence[int]) -> bool:
    """Say whether an address generator goes through a nest of loops in steps of one size, as if it were one loop."""
    inner = zip(itertools.pairwise(strides), loops[1:], strict=False)
    return all(outer == stride * loop.count for (outer, stride), loop in inner)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """The operations of a row: the fetch of its position, its words, and their writes."""

    fetch: Operation
    words: tuple[Operation, ...]
    writes: tuple[Operation, ...]

    @property
    def operations(self) -> tuple[Operation, ...]:
        """The fetch, the words and the writes."""
        return (self.fetch, *self.words, *self.writes)

    def in_one_loop(self) -> _Row:
        """Return the row with one loop instead of a nest: each address keeps the stride of the innermost loop."""
        return _Row(
            fetch=_only_inner(self.fetch),
            words=tuple(map(_only_inner, self.words)),
            writes=tuple(map(_only_inner, self.writes)),
        )


def _only_inner(operation: Operation) -> Operation:
    addresses = {name: replace(at, strides=at.strides[-1:]) for name, at in operation.addresses.items()}
    return replace(operation, addresses=addresses)


def _moved(operation: Operation, rows: int) -> Operation:
    """Return the operation that serves a row so many rows later."""
    addresses = {name: replace(at, base=at.base + rows * at.strides[-1]) for name, at in operation.addresses.items()}
    return replace(operation, addresses=addresses)


def _alone(operation: Operation) -> Operation:
    """Return the operation that serves the first row alone, in no loop."""
    addresses = {name: replace(at, strides=()) for name, at in operation.addresses.items()}
    return replace(operation, addresses=addresses)


@dataclass(slots=True, kw_only=True)
class _Making:
    """The strands of one gather as they grow: in turn, one of the root's issues and one of its writes.

    `nests` has the elements in the order in which they are made. `start` is the cycle in which the next strand begins.
    """

    site: Site
    statement: Statement
    name: str
    leaves: bool
    strands: list[Strand] = field(default_factory=list)
    nests: list[Nest] = field(default_factory=list)
    start: int = 0

    def row(self, loops: Sequence[Loop], members: Sequence[Mapping[str, Affine]]) -> _Row:
        """Return a row under some loops. `members` has the indices of each of its words; all have the same position."""
        statement, site = self.statement, self.site
        assert isinstance(statement.operation, Gather)
        subscripts = statement.operation.subscripts
        place = site.layout.place(statement.operation.tensor, ROOT)
        (table,), offsets = tables_of(subscripts), offsets_of(subscripts)
        position = Read(tensor=table.tensor, subscripts=tuple(substituted(s, members[0]) for s in table.subscripts))
        fetch = RootContext(layout=site.layout, loops=tuple(loops)).operation({"c": position}, base="addend")
        words, writes = [], []
        for member in members:
            at = address(place, [substituted(s, member) for s in offsets], loops, window=place.banks[0] == "data")
            words.append(Operation(fields={"a": f"gathered_{place.banks[0]}"}, addresses={"a": at}))
            writes.append(self._write([substituted(s, member) for s in statement.write], loops))
        return _Row(fetch=fetch.with_fields(b="position"), words=tuple(words), writes=tuple(writes))

    def _write(self, at: Sequence[Affine], loops: Sequence[Loop]) -> Operation:
        target, addresses = self.statement.target, {}
        if held := not self.leaves or self.site.layout.holds(target, ROOT):
            addresses["address"] = address(self.site.layout.place(target, ROOT), at, loops)
        fields: dict[str, str | int] = {"source": "result", "to_memory": int(held), "to_output": int(self.leaves)}
        return Operation(fields=fields, addresses=addresses)

    def pipelined(self, row: _Row, rows: int) -> None:
        """Add the strands of rows in one loop: ramp-up, the loop, and ramp-down.

        Slot 0 of a body fetches a position. Slot s > 0 issues a word of the row whose position the register shows in
        the cycle of that slot, `late[s]` rows before the one that is fetched.
        """
        period, ahead = len(row.words) + 1, timing().held
        late = [(ahead - slot + period - 1) // period for slot in range(period)]
        first = -ahead % period
        steady: list[tuple[int, Operation, Operation]] = [(0, row.fetch, _NOTHING)]
        for slot in range(1, period):
            place = (slot - ahead) % period
            word = place - (place > first)
            steady.append((late[slot], row.words[word], row.writes[word]))
        lead = max(late[1:])

        def unrolled(iterations: range) -> list[tuple[Operation, Operation]]:
            """Return the operations of some iterations one after the other, with a rest where there is no row."""
            out = []
            for iteration in iterations:
                for back, issue, write in steady:
                    own = iteration - back
                    there = 0 <= own < rows
                    out.append((_alone(_moved(issue, own)), _alone(_moved(write, own))) if there else (_REST, _NOTHING))
            return out

        begin, end = min(lead, rows), rows
        self._add(unrolled(range(begin)), ())
        if end > begin:
            body = [(_moved(issue, lead - back), _moved(write, lead - back)) for back, issue, write in steady]
            self._add(body, (end - begin,))
        tail = unrolled(range(end, end + lead))
        while tail[-1][0] is _REST:
            tail.pop()
        self._add(tail, ())

    def nested(self, rows: Sequence[Index], words: Sequence[Index]) -> None:
        """Add the strands of any nest of loops; a body takes some rows, or a part of one row."""
        ahead, width = timing().held, words[-1].extent if words else 1
        part = -(-width // -(-width // MOST_WORDS))
        outer = tuple(plain(index) for index in (*rows[:-1], *words[:-1]))
        for some in chunks("rows", rows[-1] if rows else None, max(1, ahead // part)):
            for others in chunks("words", words[-1] if words else None, part):
                self._bodies(outer, some, others)

    def _bodies(self, outer: tuple[Loop, ...], rows: Chunk, words: Chunk) -> None:
        """Add the strand of one body: the fetches of its rows, as far apart as their words, and then the words."""
        loops = (*outer, *rows.loops, *words.loops)
        ahead, width = timing().held, words.size
        slots = [(_REST, _NOTHING)] * (ahead + rows.size * width)
        for k in range(rows.size):
            row = self.row(loops, [{**rows.member(k), **words.member(j)} for j in range(width)])
            slots[k * width] = (row.fetch, _NOTHING)
            begin = ahead + k * width
            slots[begin : begin + width] = zip(row.words, row.writes, strict=True)
        self._add(slots, tuple(loop.count for loop in loops))
        write = [substituted(s, {**rows.members, **words.members}) for s in self.statement.write]
        inner = (Loop(name=rows.own, count=rows.size), Loop(name=words.own, count=width))
        self.nests.append(nest(self.site.graph, self.statement.target, write, (*loops, *inner)))

    def _add(self, slots: Sequence[tuple[Operation, Operation]], counts: tuple[int, ...]) -> None:
        """Add a strand of issues and the strand of its writes.

        The issues follow those before without a gap, so that no other task's position comes between.
        """
        if not slots:
            return
        issue, write = (tuple(side) for side in zip(*slots, strict=True))
        after = self.start + timing().result
        self.strands += [
            Strand(unit="root_issue", start=self.start, body=issue, counts=counts, comment=self.name),
            Strand(unit="root_write", start=after, body=write, counts=counts, comment=self.name),
        ]
        self.start = self.strands[-2].end
