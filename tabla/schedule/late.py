"""Late starts: a task that begins long before its words are wanted makes the span of its unit longer than it need be.

A unit does all operations of a sample before those of the next, so the period is at least the span from its first
operation of a sample to its last. Schedulers start each task as soon as they can. Here tasks of the unit that binds the
period move to later cycles, as far as the tasks that want their words allow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf

import networkx as nx

from tabla.schedule.dependences import Dependences
from tabla.schedule.period import unit_spans
from tabla.schedule.placed import Placed
from tabla.schedule.reservations import Reservations
from tabla.strands.tasks import MemoryKey
from tabla.templates.instructions import units_of


def binding_unit(placed: Sequence[Placed], period: int, sequencers: int) -> str | None:
    """Return a unit whose span is the period, from its first operation of a sample to its last; None without one."""
    spans = unit_spans(placed, sequencers)
    binding = (unit for unit in units_of(sequencers) if unit in spans and spans[unit][1] - spans[unit][0] == period)
    return next(binding, None)


def started_late(placed: Sequence[Placed], unit: str, models: frozenset[MemoryKey], sequencers: int) -> list[Placed]:
    """Return placed tasks of which those on a unit begin as late as possible, while all other tasks stay.

    `models` are the places that updates overwrite. A task that uses the bus, sends out a result, or whose words nobody
    wants stays where it is, with all tasks that it shares words with by way of a register.
    """
    moved = dict(enumerate(placed))
    groups = _groups(placed)
    ours = {n for n, p in moved.items() if any(unit in s.units(sequencers) for s in p.task.strands)}
    free = [group for group in groups if group & ours and all(_may_move(placed[n]) for n in group)]
    if not any(min(ours, key=lambda n: placed[n].start) in group for group in free):
        return list(placed)
    dependences = Dependences.of([p.task for p in placed], models)
    order = dependences.order()
    reserved = Reservations(sequencers=sequencers)
    for p in placed:
        reserved.take_task(p.task, p.start)
    for group in sorted(free, key=lambda group: -max(placed[n].start for n in group)):
        slack = int(min(_slack(dependences, order, moved, n, group) for n in group))
        for n in group:
            reserved.give_back(moved[n].task, moved[n].start)
        step = _latest(reserved, [moved[n] for n in sorted(group)], slack)
        for n in group:
            moved[n] = replace(moved[n], start=moved[n].start + step)
            reserved.take_task(moved[n].task, moved[n].start)
    return [moved[n] for n in range(len(placed))]


def _latest(reserved: Reservations, group: Sequence[Placed], slack: int) -> int:
    """Return by how many cycles, at most `slack`, a group can begin later: the most for which everything is free.

    Each try jumps before the reservation in the way, so there are no more tries than reservations.
    """
    step = slack
    while step > 0:
        pull = max(reserved.pull_task(p.task, p.start + step) for p in group)
        if not pull:
            return step
        step -= pull
    # Tasks that a faulty scheduler has put on top of each other stay there, for the checker to find.
    return 0


def _may_move(p: Placed) -> bool:
    return not (p.task.bus or p.task.wants or p.task.shows)


def _groups(placed: Sequence[Placed]) -> list[set[int]]:
    """Return the tasks, by number, in groups that must keep their distances: one takes words of the other in flight."""
    together: nx.Graph[int] = nx.Graph()
    together.add_nodes_from(range(len(placed)))
    for n, p in enumerate(placed):
        for operand, _ in p.forwards:
            makers = (m for m, q in enumerate(placed) if any(shown.tensor == operand.tensor for shown in q.task.shown))
            together.add_edges_from((m, n) for m in makers)
    return [set(group) for group in nx.connected_components(together)]


def _slack(
    dependences: Dependences, order: nx.DiGraph[int], moved: dict[int, Placed], n: int, group: set[int]
) -> float:
    """Return by how many cycles task `n` can begin later without a delay for any task outside its group."""
    if not order.out_degree(n):
        return 0  # nobody wants its words, so they are results or models
    alone, found = {n: moved[n]}, [inf]
    for m in order.successors(n):
        if m not in group:
            task = moved[m].task
            bounds = [dependences.after_writes(m, footprint, alone) for footprint in task.reads]
            bounds += [dependences.after_reads(m, footprint, alone) for footprint in task.writes]
            found.append(moved[m].start - max([0, *bounds]))
    return max(0, min(found))
