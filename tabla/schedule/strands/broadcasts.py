"""Broadcasts just in time: the root puts the words that a statement takes over the bus there as the lanes want them."""

from __future__ import annotations

from dataclasses import replace

from tabla.graph.graph import Statement
from tabla.schedule.mapping.fit import Fit, read_from_bus
from tabla.schedule.strands.bodies import RootContext
from tabla.schedule.strands.loops import Loop, trimmed
from tabla.schedule.strands.site import Extras, Site, task_of
from tabla.schedule.strands.strand import Operation, Strand
from tabla.schedule.strands.tasks import Task
from tabla.templates.template import timing


def broadcast(site: Site, statement: Statement, fit: Fit, loops: tuple[Loop, ...], body: int) -> tuple[Strand, ...]:
    """Return the root's strands that broadcast the words of ``fit.bus`` to lanes that issue from cycle 0 on.

    `loops` are those of the lanes' strand, and `body` is the number of cycles that one iteration takes. There are two
    strands, the fetch and the write to the bus, or none if the statement takes nothing over the bus. A word that inner
    loops do not change is broadcast once and stays on the bus.
    """
    if not fit.bus:
        return ()
    read = read_from_bus(statement, fit)
    bank, at = RootContext(layout=site.layout, loops=loops).source(read)
    kept, folded = trimmed(at, loops)
    fetch = Operation(
        fields={"a": "zero", "c": bank, "base": "addend"},
        addresses={"c": replace(at, strides=at.strides[:kept])},
    )
    put = Operation(fields={"source": "result", "to_bus": 1})
    start, name, counts = -site.down, f"broadcast {fit.bus}", tuple(loop.count for loop in loops[:kept])
    every = folded * body
    return (
        Strand(unit="root_issue", start=start, body=(fetch,), counts=counts, interval=every, comment=name),
        Strand(
            unit="root_write",
            start=start + timing().result,
            body=(put,),
            counts=counts,
            interval=every,
            comment=name,
        ),
    )


def fed_task(
    site: Site,
    statement: Statement,
    strands: tuple[Strand, ...],
    feed: tuple[Strand, ...],
    fit: Fit,
    issue: Strand,
    name: str,
    extras: Extras,
) -> Task:
    """Return the task of a statement whose lanes take words from the bus.

    `issue` is the lanes' strand among `strands`, and `feed` its broadcast. If the words are one scalar, the task has no
    broadcast: it wants the scalar on the bus, where an earlier task may have left it, and its variant `fed` brings the
    scalar itself.
    """
    operand = timing().operand
    if not feed:
        return task_of(site, name, strands, extras, statement=statement.id)
    scalar = site.scalar(fit.bus)
    until = issue.final + operand
    with_feed = replace(extras, bus_until=until, holds=fit.bus if scalar else extras.holds)
    fed = task_of(site, name, (*feed, *strands), with_feed, statement=statement.id)
    if not scalar:
        return fed
    alone = task_of(site, name, strands, extras, statement=statement.id)
    return replace(alone, wants=fit.bus, wants_cycles=(operand, until), fed=fed)
