"""Scatters at the root: the position register's word is added to the address of a write.

All words that one position decides are its *row*. A write adds the position that the register shows in the cycle in
which it is decoded. So a body fetches a position, rests until the write of the first word finds it, and then issues the
words of the row, or of a part of it. The next fetch follows at once: its position shows after the last of these writes
has been decoded.
"""

from __future__ import annotations

from dataclasses import replace

from tabla.graph.graph import Gathered, Landing, Scatter, Statement, landing_box, tables_of
from tabla.graph.rewrite import substituted
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
        box, (table,) = landing_box(statement, landing), tables_of(landing.subscripts)
        rows = tuple(plain(index) for index in box if index.name in table.names)
        words = [index for index in box if index.name not in table.names]
        outer = (*rows, *map(plain, words[:-1]))
        width = words[-1].extent if words else 1
        for chunk in chunks("words", words[-1] if words else None, -(-width // -(-width // MOST_WORDS))):
            start = strands[-2].end if strands else 0
            strands += _strands(site, statement, landing, outer, chunk, start, name)
    return task_of(site, name, strands, Extras(produces=(statement.target,)), statement=statement.id)


def _strands(
    site: Site, statement: Statement, landing: Landing, outer: tuple[Loop, ...], chunk: Chunk, start: int, name: str
) -> tuple[Strand, Strand]:
    """Return the issues of the words of a chunk of each row, and their writes."""
    loops = (*outer, *chunk.loops)
    context = RootContext(layout=site.layout, loops=loops)
    place = site.layout.place(statement.target, ROOT)
    (table,) = tables_of(landing.subscripts)
    offsets = [s.offset if isinstance(s, Gathered) else s for s in landing.subscripts]
    issues = [context.operation({"c": table}, base="addend").with_fields(b="position")]
    writes = [_NOTHING]
    for _ in range(timing().held - timing().result):
        issues.append(_REST)
        writes.append(_NOTHING)
    for k in range(chunk.size):
        member = chunk.member(k)
        value = replace(landing.value, subscripts=tuple(substituted(s, member) for s in landing.value.subscripts))
        issues.append(context.operation({"c": value}, base="addend"))
        at = address(place, [substituted(offset, member) for offset in offsets], loops)
        fields: dict[str, str | int] = {"source": "result", "to_memory": 1, "model": 1, "scattered": 1}
        writes.append(Operation(fields=fields, addresses={"address": at}))
    counts = tuple(loop.count for loop in loops)
    issue = Strand(unit="root_issue", start=start, body=tuple(issues), counts=counts, comment=name)
    write = replace(issue, unit="root_write", start=start + timing().result, body=tuple(writes))
    return issue, write
