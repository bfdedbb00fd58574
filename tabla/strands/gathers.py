"""Gathers at the root: the word that the position register keeps is added to the address of an operation.

A position is fetched once for a run of words, its *row*. The register shows it from eight cycles after the fetch until
the next one's arrives, so fetches run ahead of their words. Two shapes of strands:

Rows in one loop: each body is the fetch of a row and the words of those before it that the register shows by then; a
row of w words takes w + 1 slots. The first bodies lack words and the last ones lack fetches: they are unrolled.

Any other nest of loops, and few rows: a body fetches as many rows as there is time for before the first one's words.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tabla.ir.graph import Affine, Gather, Gathered, Index, Read, Statement
from tabla.ir.rewrite import substituted
from tabla.mapping.places import ROOT
from tabla.strands.bodies import RootContext
from tabla.strands.leaving import Nest, nest
from tabla.strands.loops import Loop, address, plain
from tabla.strands.site import Extras, Site, task_of
from tabla.strands.strand import Operation, Strand
from tabla.strands.tasks import Task
from tabla.templates.template import timing

MOST_WORDS = 64
"""Words of a row in one body; a longer row is fetched anew for each part."""
_STEP, _REST, _NOTHING = "chunk", Operation(fields={"a": "zero"}), Operation(fields={"source": "result"})


def gather(site: Site, statement: Statement, name: str, shows: str) -> Task:
    """The task of a gather; its positions lie in one table, counted in words of the tensor.

    `shows`: the name under which its words leave as they are made, if they do.
    """
    rows, words = _split(statement)
    made, other = (_Making(site=site, statement=statement, name=name, leaves=bool(shows)) for _ in range(2))
    other.nested(rows, words)
    if not _in_one_loop(made, rows, words) or other.start < made.start:
        # A few positions are fetched sooner one after the other.
        made = other
    size = site.graph.tensors[statement.target].size
    leaves = () if not shows or (len(made.nests) == 1 and made.nests[0].row_major(size)) else tuple(made.nests)
    extras = Extras(produces=(statement.target,), shows=shows, leaves=leaves)
    return task_of(site, name, made.strands, extras, statement=statement.id)


def _split(statement: Statement) -> tuple[list[Index], list[Index]]:
    """Indices that decide the position, and those of a row's words."""
    assert isinstance(statement.operation, Gather)
    table = next(s.table for s in statement.operation.subscripts if isinstance(s, Gathered))
    deciding = table.names
    rows = [index for index in statement.indices if index.name in deciding]
    return rows, [index for index in statement.indices if index.name not in deciding]


def _in_one_loop(made: _Making, rows: Sequence[Index], words: Sequence[Index]) -> bool:
    """Builds the strands of rows in one loop, if that is what they are."""
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
    """Whether a generator goes through a nest in steps of one size."""
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
        """All of them."""
        return (self.fetch, *self.words, *self.writes)

    def in_one_loop(self) -> _Row:
        """The same with the innermost loop's stride alone."""
        return _Row(
            fetch=_only_inner(self.fetch),
            words=tuple(map(_only_inner, self.words)),
            writes=tuple(map(_only_inner, self.writes)),
        )


def _only_inner(operation: Operation) -> Operation:
    addresses = {name: replace(at, strides=at.strides[-1:]) for name, at in operation.addresses.items()}
    return replace(operation, addresses=addresses)


def _moved(operation: Operation, rows: int) -> Operation:
    """The operation of so many rows later."""
    addresses = {name: replace(at, base=at.base + rows * at.strides[-1]) for name, at in operation.addresses.items()}
    return replace(operation, addresses=addresses)


def _alone(operation: Operation) -> Operation:
    """The operation of the first row, in no loop."""
    addresses = {name: replace(at, strides=()) for name, at in operation.addresses.items()}
    return replace(operation, addresses=addresses)


@dataclass(slots=True, kw_only=True)
class _Making:
    """The strands of one gather as they grow, issues and writes of the root in turn; the elements in their order."""

    site: Site
    statement: Statement
    name: str
    leaves: bool
    strands: list[Strand] = field(default_factory=list)
    nests: list[Nest] = field(default_factory=list)
    start: int = 0

    def row(self, loops: Sequence[Loop], members: Sequence[Mapping[str, Affine]]) -> _Row:
        """A row under loops; the indices of its words are those of `members`, which agree on the position."""
        statement, site = self.statement, self.site
        assert isinstance(statement.operation, Gather)
        subscripts = statement.operation.subscripts
        place = site.layout.place(statement.operation.tensor, ROOT)
        table = next(s.table for s in subscripts if isinstance(s, Gathered))
        offsets = [s.offset if isinstance(s, Gathered) else s for s in subscripts]
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
        """Rows in one loop: in a body's slot s > 0 the word that the register's row of that cycle has there."""
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
            """Bodies one after the other, rests where there is no row."""
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
        """Any nest of loops: bodies of some rows, or of a part of one; first their positions, then their words."""
        ahead, width = timing().held, words[-1].extent if words else 1
        part = -(-width // -(-width // MOST_WORDS))
        outer = tuple(plain(index) for index in (*rows[:-1], *words[:-1]))
        for some in _chunks("rows", rows[-1] if rows else None, max(1, ahead // part)):
            for others in _chunks("words", words[-1] if words else None, part):
                self._bodies(outer, some, others)

    def _bodies(self, outer: tuple[Loop, ...], rows: _Chunk, words: _Chunk) -> None:
        """Strands of one body under loops: a fetch for the words of each row, as far apart as those."""
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
        """A strand of issues right after the last, so that no other task's position comes between; and its writes."""
        if not slots:
            return
        issue, write = (tuple(side) for side in zip(*slots, strict=True))
        after = self.start + timing().result
        self.strands += [
            Strand(unit="root_issue", start=self.start, body=issue, counts=counts, comment=self.name),
            Strand(unit="root_write", start=after, body=write, counts=counts, comment=self.name),
        ]
        self.start = self.strands[-2].end


@dataclass(frozen=True, slots=True, kw_only=True)
class _Chunk:
    """A run of an index in parts of `size`: element ``first + counter * size + k`` is part `counter`'s k-th."""

    what: str
    index: Index | None
    first: int
    count: int
    size: int

    @property
    def own(self) -> str:
        """The name of a loop over the elements of a part; no index has such a name."""
        return f"one of {self.what}"

    @property
    def loops(self) -> tuple[Loop, ...]:
        """The loop over the parts, if there are several."""
        return (Loop(name=f"some {self.what}", count=self.count),) if self.count > 1 else ()

    def member(self, k: int) -> Mapping[str, Affine]:
        """The index as the k-th element of a part."""
        if self.index is None:
            return {}
        return {self.index.name: Affine.make(self.first + k, {loop.name: self.size for loop in self.loops})}

    @property
    def members(self) -> Mapping[str, Affine]:
        """The index as all elements of a part."""
        return {
            name: Affine.make(at.constant, {**dict(at.coefficients), self.own: 1})
            for name, at in self.member(0).items()
        }


def _chunks(what: str, index: Index | None, size: int) -> Iterator[_Chunk]:
    """An index in parts of a size, and what is left."""
    extent, low = (index.extent, index.low) if index is not None else (1, 0)
    whole, rest = divmod(extent, size)
    if whole:
        yield _Chunk(what=what, index=index, first=low, count=whole, size=size)
    if rest:
        yield _Chunk(what=what, index=index, first=low + whole * size, count=1, size=rest)
