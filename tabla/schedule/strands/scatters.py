"""Scatters at the root: the position register's word is added to the address of a write.

All words that one position decides are its *row*. A write adds the position that the register shows in the cycle in
which it is decoded. So a body fetches a position, rests until the write of the first word finds it, and then issues the
words of the row, or of a part of it. The next fetch follows at once: its position shows after the last of these writes
has been decoded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

from tabla.graph.graph import Affine, Index, Landing, Scatter, Statement, landing_box, offsets_of, tables_of
from tabla.graph.rewrite import landing_at, read_at, substituted
from tabla.schedule.mapping.places import ROOT
from tabla.schedule.strands.bodies import RootContext
from tabla.schedule.strands.chunks import Chunk, chunks
from tabla.schedule.strands.gathers import MOST_WORDS
from tabla.schedule.strands.loops import Loop, address, plain
from tabla.schedule.strands.site import Extras, Site, task_of
from tabla.schedule.strands.strand import Operation, Strand
from tabla.schedule.strands.tasks import Task
from tabla.templates.template import timing

_REST, _NOTHING = Operation(fields={"a": "zero"}), Operation(fields={"source": "result"})


def scatter(site: Site, statement: Statement, name: str) -> Task:
    """Return the task of a scatter whose positions lie in tables and count words of the model."""
    operation = statement.operation
    assert isinstance(operation, Scatter)
    strands: list[Strand] = []
    for landing in operation.landings:
        box = landing_box(statement, landing)
        rows = [index for index in box if index in statement.reduced]
        words = [index for index in box if index not in statement.reduced]
        width = words[-1].extent if words else 1
        parts = list(chunks("words", words[-1] if words else None, -(-width // -(-width // MOST_WORDS))))
        # All words of a row come before those of the next one, which may be the same row.
        together = len(parts) == 1
        outer = (*(map(plain, rows) if together else ()), *map(plain, words[:-1]))
        for row in [landing] if together else _rows(landing, rows):
            for chunk in parts:
                start = strands[-2].end if strands else 0
                strands += _strands(site, statement, row, outer, chunk, start, name)
    return task_of(site, name, strands, Extras(produces=(statement.target,)), statement=statement.id)


def _rows(landing: Landing, turns: Sequence[Index]) -> Iterator[Landing]:
    """Yield the landing of each turn, one after the other."""
    for point in product(*(range(turn.low, turn.high) for turn in turns)):
        values = {turn.name: Affine.of(at) for turn, at in zip(turns, point, strict=True)}
        yield landing_at(landing, values)


def _strands(
    site: Site, statement: Statement, landing: Landing, outer: tuple[Loop, ...], chunk: Chunk, start: int, name: str
) -> tuple[Strand, Strand]:
    """Return the issues of the words of a chunk of each row, and their writes."""
    loops = (*outer, *chunk.loops)
    context = RootContext(layout=site.layout, loops=loops)
    place = site.layout.place(statement.target, ROOT)
    (table,) = tables_of(landing.subscripts)
    issues = [context.operation({"c": table}, base="addend").with_fields(b="position")]
    writes = [_NOTHING]
    for _ in range(timing().held - timing().result):
        issues.append(_REST)
        writes.append(_NOTHING)
    for k in range(chunk.size):
        member = chunk.member(k)
        issues.append(context.operation({"c": read_at(landing.value, member)}, base="addend"))
        at = address(place, [substituted(offset, member) for offset in offsets_of(landing.subscripts)], loops)
        fields: dict[str, str | int] = {"source": "result", "to_memory": 1, "model": 1, "scattered": 1}
        writes.append(Operation(fields=fields, addresses={"address": at}))
    counts = tuple(loop.count for loop in loops)
    issue = Strand(unit="root_issue", start=start, body=tuple(issues), counts=counts, comment=name)
    write = replace(issue, unit="root_write", start=start + timing().result, body=tuple(writes))
    return issue, write
