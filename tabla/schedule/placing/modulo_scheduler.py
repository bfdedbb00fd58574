"""Modulo scheduling: the units of the array work on several samples in turns.

A list scheduler gives the tasks of one sample their cycles, and a unit does all of a sample before it begins the next.
If the layers of a network wait for each other, every unit is idle for most of that time. Here a task that starts in
cycle c takes its units in the cycles c, c + P, c + 2 P and so on, where P is the initiation interval: the same task of
all later samples. A task may only begin where none of these cycles is taken by a task of any other sample. So the fewest
cycles of a sample are the work of the busiest unit, and no longer the wait of one layer for another.

The order of tasks, the dependences and the forwarding of words from register to register are those of the list
scheduler. The method is modulo scheduling (B. R. Rau, Iterative modulo scheduling, International Journal of Parallel
Programming 24, 1996) without its backtracking: if a task finds no cycle, a longer initiation interval is tried.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tabla.schedule.mapping.mapping import Mapping
from tabla.schedule.placing.frames import output_span, overlapping_allowed, stages_of
from tabla.schedule.placing.initiation_interval import memory_interval
from tabla.schedule.placing.list_scheduler import ListScheduler
from tabla.schedule.placing.placed import Placed
from tabla.schedule.placing.reservations import Hold, Reservations
from tabla.schedule.strands.tasks import Task
from tabla.templates.template import limits

LEAST_GAIN = 0.02
"""The fraction of the cycles that overlapping samples must save, because their hardware is larger."""
TRIES = 12
"""The most initiation intervals that are tried for a mapping."""


@dataclass(slots=True)
class _ModuloReservations(Reservations):
    """Reservations of cycles that come again with every initiation interval of `period` cycles."""

    period: int = 1

    def _in_the_way(self, name: str, begin: int, end: int) -> tuple[int, int] | None:
        found = None
        for first, last in self.units.get(name, ()):
            # The first turn of the reservation that ends after the interval begins.
            turn = (begin - last) // self.period + 1
            way = (first + turn * self.period, last + turn * self.period)
            if way[0] < end and (found is None or way[0] < found[0]):
                found = way
        return found

    def push_bus(self, first: int, last: int) -> int:
        """Return how far closed cycles of the bus must move to clear every hold in their way; 0 if they are free."""
        found = 0
        for hold in self.bus:
            turn = (first - hold.last - 1) // self.period + 1
            if hold.first + turn * self.period <= last:
                found = max(found, hold.last + turn * self.period + 1 - first)
        return found


class _NoRoom(Exception):
    """A task finds no cycle within an initiation interval."""


class _ModuloScheduler(ListScheduler):
    """The scheduling of one list of tasks for one initiation interval."""

    def __init__(self, tasks: Sequence[Task], *, sequencers: int, waves: bool, period: int) -> None:
        super().__init__(tasks, frozenset(), sequencers=sequencers, waves=waves)
        self.period = period
        self.reserved = _ModuloReservations(sequencers=sequencers, period=period)

    def run(self) -> list[Placed] | None:
        """Give every task its cycle; None if one of them finds none."""
        try:
            return super().run()
        except _NoRoom:
            return None

    def _place(self, n: int) -> None:
        if any(strand.length > self.period for strand in self.tasks[n].strands):
            raise _NoRoom
        super()._place(n)

    def _no_cycle(self, task: Task) -> int | None:
        return None

    def _chosen(self, found: list[Placed]) -> Placed:
        if not found:
            raise _NoRoom
        return super()._chosen(found)

    def _tries(self) -> int:
        # Each move ends at a cycle that was not tried before, and after one interval all cycles were tried.
        return self.period

    def _hold(self, task: Task, start: int) -> Hold | None:
        """Return the hold of the bus by the scalar that a task wants, if no word of any sample comes in between."""
        first, last = start + task.wants_cycles[0], start + task.wants_cycles[1]
        for hold in self.reserved.bus:
            if hold.tensor != task.wants or hold.first > first or last - hold.first >= self.period:
                continue
            if not any(h is not hold and self._meets(h, hold.first, last) for h in self.reserved.bus):
                return hold
        return None

    def _meets(self, hold: Hold, first: int, last: int) -> bool:
        """Say whether a hold takes any of the cycles [first, last], in any sample."""
        turn = (first - hold.last - 1) // self.period + 1
        return hold.first + turn * self.period <= last


def overlapped(
    tasks: Sequence[Task], mapping: Mapping, *, initiation_interval: int, beats: int
) -> tuple[list[Placed], int] | None:
    """Return tasks at cycles in which samples overlap on the units, and their initiation interval.

    `initiation_interval` is that of a schedule in which they do not overlap, and `beats` the fewest beats in which the
    words of a sample come and leave. The result is None if overlapping saves too little, or if the program updates a model: the
    next sample of such a program waits for the update.
    """
    sequencers = mapping.template.sequencers
    if mapping.updated or not mapping.template.samples_overlap or not overlapping_allowed(tasks):
        return None
    least = max(busiest(tasks, sequencers), beats)
    most = int(initiation_interval * (1 - LEAST_GAIN))
    for period in _periods(least, most):
        placed = _ModuloScheduler(tasks, sequencers=sequencers, waves=mapping.waves, period=period).run()
        if placed is None or memory_interval(placed, mapping) > period or output_span(placed) > period:
            continue
        if 1 < stages_of(placed, period, sequencers) <= limits().stages:
            return placed, period
    return None


def busiest(tasks: Sequence[Task], sequencers: int) -> int:
    """Return the cycles of a sample in which the busiest unit of the array works."""
    work: dict[str, int] = {}
    for task in tasks:
        for strand in task.strands:
            for unit in strand.units(sequencers):
                work[unit] = work.get(unit, 0) + strand.length
        if task.function:
            work["function"] = work.get("function", 0) + task.function[1] + 1 - task.function[0]
        if task.bus:
            work["bus"] = work.get("bus", 0) + task.bus[1] + 1 - task.bus[0]
    return max(work.values(), default=1)


def _periods(least: int, most: int) -> Iterator[int]:
    """Yield the initiation intervals to try, from `least` to `most`: first one more each, later further apart."""
    period = least
    for tried in range(TRIES):
        if period > most:
            return
        yield period
        period += max(1, least * tried // 40)
