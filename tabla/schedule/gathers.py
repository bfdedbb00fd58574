"""Gathers at the root: the result register of an operation is added to the address of a later one.

A body fetches up to seven positions, one a cycle; each shows in the result register in the very cycle in which its
gathering operation issues, seven cycles later. So a word costs two slots, where there are seven in a row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tabla.ir.graph import Affine, Gather, Gathered, Read, Statement
from tabla.ir.rewrite import substituted
from tabla.mapping.places import ROOT
from tabla.schedule.bodies import RootContext
from tabla.schedule.loops import Loop, address, plain
from tabla.schedule.site import Extras, Site, task_of
from tabla.schedule.strands import Operation, Strand
from tabla.schedule.tasks import Task
from tabla.templates.template import timing

_STEP = "chunk"


def gather(site: Site, statement: Statement, name: str) -> Task:
    """The task of a gather; its positions lie in one table, counted in words of the tensor (`mapping/addresses.py`)."""
    loops = sorted((plain(index) for index in statement.indices), key=lambda loop: loop.count)
    strands: list[Strand] = []
    ahead = timing().result
    if not loops:
        return _task(site, statement, name, _pair(site, statement, (), [{}], 0, name))
    last, outer = loops[-1], tuple(loops[:-1])
    whole, rest = divmod(last.count, ahead)
    start = 0
    for first, counts, size in ((0, whole, ahead), (whole * ahead, 1, rest)):
        if not counts or not size:
            continue
        chunks = (Loop(name=_STEP, count=counts),) if counts > 1 else ()
        step = {_STEP: ahead} if chunks else {}
        members = [{last.name: Affine.make(last.low + first + k, step)} for k in range(size)]
        strands += _pair(site, statement, (*outer, *chunks), members, start, name)
        start = strands[-2].end
    return _task(site, statement, name, strands)


def _task(site: Site, statement: Statement, name: str, strands: list[Strand]) -> Task:
    return task_of(site, name, strands, Extras(produces=(statement.target,)), statement=statement.id)


def _pair(
    site: Site,
    statement: Statement,
    loops: tuple[Loop, ...],
    members: Sequence[Mapping[str, Affine]],
    start: int,
    name: str,
) -> list[Strand]:
    """The issues and the writes of a chunk: of each member its position, then its word."""
    ahead = timing().result
    assert isinstance(statement.operation, Gather)
    context = RootContext(layout=site.layout, loops=loops)
    place = site.layout.place(statement.operation.tensor, ROOT)
    target = site.layout.place(statement.target, ROOT)
    table = next(s.table for s in statement.operation.subscripts if isinstance(s, Gathered))
    offsets = [s.offset if isinstance(s, Gathered) else s for s in statement.operation.subscripts]
    fetches, gathers, writes = [], [], []
    for member in members:
        position = Read(tensor=table.tensor, subscripts=tuple(substituted(s, member) for s in table.subscripts))
        fetches.append(context.operation({"c": position}, base="addend"))
        at = address(place, [substituted(s, member) for s in offsets], loops, window=place.banks[0] == "data")
        gathers.append(Operation(fields={"a": f"gathered_{place.banks[0]}"}, addresses={"a": at}))
        to = address(target, [substituted(s, member) for s in statement.write], loops)
        writes.append(Operation(fields={"source": "result", "to_memory": 1}, addresses={"address": to}))
    rest = Operation(fields={"a": "zero"})
    nothing = Operation(fields={"source": "result"})
    idle = ahead - len(members)
    counts = tuple(loop.count for loop in loops)
    issue = (*fetches, *[rest] * idle, *gathers)
    return [
        Strand(unit="root_issue", start=start, body=issue, counts=counts, comment=name),
        Strand(
            unit="root_write",
            start=start + ahead,
            body=(*[nothing] * ahead, *writes),
            counts=counts,
            comment=f"{statement.target} to root memory",
        ),
    ]
