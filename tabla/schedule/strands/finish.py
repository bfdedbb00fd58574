"""What follows a strand of the root: a function of its results, their write, and the lanes that take them at once."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

from tabla.graph.graph import Divide, Function, Statement
from tabla.graph.rewrite import substituted
from tabla.schedule.mapping.places import Spot
from tabla.schedule.strands.fused import same_elements
from tabla.schedule.strands.leaving import nest
from tabla.schedule.strands.loops import Loop
from tabla.schedule.strands.receiving import receive
from tabla.schedule.strands.site import Extras, Output, Site, shown_words, task_of
from tabla.schedule.strands.strand import Strand
from tabla.schedule.strands.tasks import Shown, Task
from tabla.templates.template import functions, timing


@dataclass(frozen=True, slots=True)
class Delivered:
    """What tasks have delivered beside their own results, so that no further task need do it.

    `received` has the copies that lanes took from the bus as the root made the words: tensor and spot. `left` has the
    names of the results that went out as they were made. Builders of tasks add to both sets.
    """

    received: set[tuple[str, Spot]] = field(default_factory=set)
    left: set[str] = field(default_factory=set)


def finished_task(
    site: Site,
    delivered: Delivered,
    statement: Statement,
    after: Statement | None,
    root: Strand,
    outs: tuple[Loop, ...],
) -> Task:
    """Return the task of a statement that the root alone computes, in the strand `root` with output loops `outs`."""
    strands, extras = finish(site, delivered, statement, after, root, outs)
    return task_of(site, root.comment, strands, extras, statement=statement.id)


def finish(
    site: Site,
    delivered: Delivered,
    statement: Statement,
    after: Statement | None,
    root: Strand,
    outs: tuple[Loop, ...],
) -> tuple[list[Strand], Extras]:
    """Return a strand of the root with the strands that its results need, and what the task offers to others.

    `after` is the function statement whose operand the strand makes, if there is one: its last operation then sends the
    result into the function's pipeline. The other strands are the write of the results, to memory, to the bus and out
    as far as somebody wants them there, and the writes of the lanes that take them from the bus.
    """
    function = ""
    if after is not None:
        assert isinstance(after.operation, Function)
        function = after.operation.name
        last = root.body[-1].with_fields(function=functions()[function].code)
        if after.id in site.learning:
            last = last.with_fields(function_learns=1)
        root = replace(root, body=(*root.body[:-1], last))
    elif isinstance(statement.operation, Function | Divide):
        operation = statement.operation
        function = operation.name if isinstance(operation, Function) else operation.unit
    inner = math.prod(root.counts[len(root.counts) - root.reduce :])
    period = len(root.body) * inner * root.interval
    show = root.start + (len(root.body) * inner - 1) * root.interval + timing().result
    strands, shown = [root], []
    target, write = statement.target, statement.write
    if after is not None:
        renaming = same_elements(statement, after)
        assert renaming is not None
        if site.readers[target] > 1 or site.copies(target):
            plain = Output(loops=outs, interval=period, show=show, register="result")
            strands.append(site.root_write(target, write, plain, root.comment))
            shown.append(Shown(tensor=target, register="result", show=show))
        target, write = after.target, tuple(substituted(w, renaming) for w in after.write)
    register = "result"
    if function:
        register, show = "function", show + site.function_cycles(function)
    output = Output(loops=outs, interval=period, show=show, register=register)
    shows = site.departing.get(target, "")
    leaves = nest(site.graph, target, write, outs) if shows else None
    if shows:
        delivered.left.add(shows)
    put = site.root_write(target, write, output, root.comment, leaves=bool(shows))
    if site.scalar(target):
        shown.append(Shown(tensor=target, register=register, show=show))
    elif "address" in put.body[0].addresses:
        words = shown_words(put, put.body[0].addresses["address"])
        if words:
            spacing = period if len(words) > 1 else 1
            shown.append(Shown(tensor=target, register=register, show=show, words=words, interval=spacing))
    spot, taken = receive(site, target, write, output)
    if spot is not None:
        delivered.received.add((target, spot))
    holds = ""
    if taken or target in site.bus_scalars():
        put = replace(put, body=(put.body[0].with_fields(to_bus=1),))
        holds = target if site.scalar(target) else ""
    span = (show, show + (math.prod(loop.count for loop in outs) - 1) * period) if function else None
    made = (statement.target, target) if after is not None else (target,)
    whole = () if leaves is None or leaves.row_major(site.graph.tensors[target].size) else (leaves,)
    extras = Extras(shown=tuple(shown), function=span, holds=holds, produces=made, shows=shows, leaves=whole)
    return [*strands, put, *taken], extras
