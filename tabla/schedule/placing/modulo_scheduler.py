"""Modulo scheduling: the units of the array work on several samples in turns.

A list scheduler gives the tasks of one sample their cycles, and a unit does all of a sample before it begins the next.
If the layers of a network wait for each other, every unit is idle for most of that time. Here a task that starts in
cycle c takes its units in the cycles c, c + P, c + 2 P and so on, where P is the initiation interval: the same task of
all later samples. A task may only begin where none of these cycles is taken by a task of any other sample. So the
fewest cycles of a sample are the work of the busiest unit, and no longer the wait of one layer for another.

The order of tasks, the dependences and the forwarding of words from register to register are those of the list
scheduler. The method is modulo scheduling (B. R. Rau, Iterative modulo scheduling, International Journal of Parallel
Programming 24, 1996) without its backtracking: if a task finds no cycle, a longer initiation interval is tried.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from collections.abc import Mapping as Map
from dataclasses import dataclass, field
from itertools import pairwise
from random import Random

import numpy as np

from tabla.schedule.mapping.effort import weighed
from tabla.schedule.mapping.mapping import Mapping
from tabla.schedule.placing.blocked_cycles import BlockedCycles
from tabla.schedule.placing.frames import output_span, overlapping_allowed, stages_of
from tabla.schedule.placing.initiation_interval import memory_interval
from tabla.schedule.placing.list_scheduler import ListScheduler, Order
from tabla.schedule.placing.placed import Placed
from tabla.schedule.placing.reservations import Hold, Reservations
from tabla.schedule.strands.strand import Cycles
from tabla.schedule.strands.tasks import LATE, MemoryKey, Task
from tabla.templates.template import limits

TRIES, QUICK_TRIES = 12, 6
"""The most initiation intervals that are tried for a mapping: the one that is chosen, and others."""
RETRIES = 8
"""How often tasks are delayed for the sake of those that read their words."""
DRAWS = 12
"""The variants that are tried with each initiation interval when the search has chosen a mapping."""
BUSY = 0.7
"""The fraction of an initiation interval from which on a unit is busy for most of the time."""


def _next_turn(last: int, begin: int, period: int) -> int:
    """Return how many cycles later something comes again whose end is cycle `last`: in its first turn that ends after
    cycle `begin`.
    """
    return ((begin - last) // period + 1) * period


@dataclass(frozen=True, slots=True, kw_only=True)
class _Work:
    """What the tasks of an order take of an array with so many `sequencers`.

    `taken` has for each task and each fed variant, by its identity, what :meth:`Task.taken` yields, and `of_units` the
    cycles of a sample that each unit is taken for. `fitting` keeps which tasks fit into which initiation interval.
    """

    order: Order
    sequencers: int
    taken: Map[int, tuple[tuple[str, int, int], ...]]
    of_units: Map[str, int]
    fitting: dict[tuple[int, int], bool] = field(default_factory=dict)

    @staticmethod
    def of(order: Order, sequencers: int) -> _Work:
        """Return the work of an order of tasks."""
        variants = [variant for task in order.tasks for variant in (task, task.fed) if variant is not None]
        return _Work(
            order=order,
            sequencers=sequencers,
            taken={id(variant): tuple(variant.taken(sequencers)) for variant in variants},
            of_units=work_of(order.tasks, sequencers),
        )

    def fits(self, task: Task, period: int) -> bool:
        """Say whether a task that begins anew every `period` cycles is never in its own way."""
        key = id(task), period
        if key not in self.fitting:
            self.fitting[key] = fits_into(task, period, self.sequencers)
        return self.fitting[key]


@dataclass(slots=True, kw_only=True)
class _ModuloReservations(Reservations):
    """Reservations of cycles that come again with every initiation interval of `period` cycles.

    `busy` has the cycles in which each unit and the function output are taken. `asked` is the task whose blocked cycles
    are known until something is taken.
    """

    work: _Work
    period: int
    busy: dict[str, BlockedCycles] = field(default_factory=dict)
    asked: tuple[Task, BlockedCycles] | None = None

    def first_free(self, task: Task, start: int) -> int | None:
        return self.blocked(task).first_free(start)

    def blocked(self, task: Task) -> BlockedCycles:
        """Return the cycles in which a task cannot begin, because something that it takes is taken.

        Each thing that is taken keeps the task from the cycles of an interval. One walk through these intervals is much
        faster than pushing the task past one thing after the other.
        """
        if self.asked is None or self.asked[0] is not task:
            kept = (
                (first - end + 1, last - begin)
                for name, begin, end in self.work.taken[id(task)]
                for first, last in self._taken(name)
            )
            self.asked = task, BlockedCycles.of(kept, self.period)
        return self.asked[1]

    def _taken(self, name: str) -> Iterable[tuple[int, int]]:
        """Return closed intervals that cover the cycles in which something is taken."""
        if name == "bus":
            return ((hold.first, hold.last) for hold in self.bus)
        return self.busy[name].intervals if name in self.busy else ()

    def take(self, name: str, begin: int, end: int) -> None:
        self.busy[name] = self.busy.get(name, BlockedCycles(self.period, (), ())).and_also(begin, end - 1)

    def take_task(self, task: Task, start: int) -> None:
        # What a task takes can change the end of a hold of the bus, too, which comes before.
        self.asked = None
        super(_ModuloReservations, self).take_task(task, start)


class _NoRoom(Exception):
    """A task finds no cycle within an initiation interval."""


class _ModuloScheduler(ListScheduler):
    """The scheduling of one list of tasks for one initiation interval.

    Variant 0 begins every task as early as possible. In variant 1 strands of units that are busy for most of the time
    are packed: they begin in the cycle in which their unit has just ended something else, or end in the cycle before it
    begins something else. Otherwise a strand would leave gaps beside it that are too short for all others. The strands
    of a network's layers then run in the opposite order in each frame: the last layer of an old sample comes before the
    first layer of a new one. So the words between two layers are read before those of the next sample overwrite them.
    Further variants draw for each task one of the cycles that the first two would choose from.
    """

    def __init__(self, work: _Work, *, period: int, variant: int, delays: Map[int, int]) -> None:
        super().__init__(work.order, sequencers=work.sequencers)
        self.period, self.packs = period, variant == 1
        # Variants from the third on draw.
        self.draws = Random(variant) if variant > 1 else None
        self.work = work
        self.reserved: _ModuloReservations = _ModuloReservations(sequencers=work.sequencers, work=work, period=period)
        # By place, the first cycle in which each word of a sample is written, and the task that writes it then: one
        # for each word, or one for all of them. Words that are not written have a cycle that is about LATE.
        self.written: dict[MemoryKey, tuple[Cycles, Cycles | int]] = {}
        # The first cycle at which a task may begin so that others which read its words find room.
        self.delays = dict(delays)
        self.delay = 0
        self.latest = (LATE, -1)
        # The task whose words would be overwritten, and by how many cycles too early.
        self.late: tuple[int, int] | None = None

    def run(self) -> list[Placed] | None:
        """Give every task its cycle; None if one of them finds none. Then `late` may say why."""
        try:
            return super().run()
        except _NoRoom:
            return None

    def _place(self, n: int) -> None:
        super()._place(n)
        placed = self.placed[n]
        for footprint in placed.task.writes:
            first = footprint.first + placed.start
            if (written := self.written.get(footprint.key)) is None:
                self.written[footprint.key] = first, n
            else:
                known, writers = written
                self.written[footprint.key] = np.minimum(known, first), np.where(first < known, n, writers)

    def _earliest(self, n: int, task: Task) -> Placed | None:
        if not self.work.fits(task, self.period):
            return None
        self.delay, self.latest = self.delays.get(n, 0), self._latest(task)
        return super()._earliest(n, task)

    def _fit(self, task: Task, start: int) -> int | None:
        """Return a cycle from `start` on at which everything that a task wants is free; None without one.

        The words that it reads are overwritten by the next sample, so it may not begin later than an interval allows.
        """
        start = max(start, self.delay)
        latest, writer = self.latest
        first = super()._fit(task, start)
        if first is None:
            return None
        if first > latest:
            if self.late is None or first - latest < self.late[1]:
                self.late = writer, first - latest
            return None
        if self.draws is None and not self.packs:
            return first
        blocked = self.reserved.blocked(task)
        packed = {c for c in set(self._packed(task, first)) if c <= latest and self._free(task, c, blocked)}
        return self._one_of(sorted({first, *packed}), packed)

    def _one_of(self, cycles: Sequence[int], packed: Collection[int]) -> int:
        """Return the cycle at which a task begins, of all `cycles` at which it can, of which some are `packed`."""
        if self.draws is None:
            return min(packed, default=cycles[0])
        number = 0
        while number + 1 < len(cycles) and self.draws.random() < 0.4:
            number += 1
        return cycles[number]

    def _free(self, task: Task, start: int, blocked: BlockedCycles) -> bool:
        return blocked.free(start) and (not task.wants or self._hold(task, start) is not None)

    def _packed(self, task: Task, start: int) -> Iterator[int]:
        """Yield the cycles within an interval from `start` on at which a task's work meets other work.

        Only units that are busy for most of the time count.
        """
        for unit, begin, end in self.work.taken[id(task)]:
            if unit in self.reserved.busy and unit != "function" and self._mostly_busy(unit):
                for first, last in self.reserved.busy[unit].intervals:
                    for cycle in (last + 1 - begin, first - end):
                        yield start + (cycle - start) % self.period

    def _mostly_busy(self, unit: str) -> bool:
        return self.work.of_units[unit] >= BUSY * self.period

    def _latest(self, task: Task) -> tuple[int, int]:
        """Return the last cycle at which a task may begin so that it reads words before the next sample's come, and the
        task that writes the word which decides that.
        """
        latest, writer = LATE, -1
        for footprint in task.reads:
            if (written := self.written.get(footprint.key)) is not None:
                first, writers = written
                # A word that is not written, or not read, gives a number of about LATE or twice of it.
                waits = first - footprint.last
                word = int(waits.argmin())
                slack = int(waits[word]) + self.period - 1
                if slack < min(latest, LATE // 2):
                    latest, writer = slack, writers if isinstance(writers, int) else int(writers[word])
        return latest, writer

    def _chosen(self, found: list[Placed]) -> Placed:
        if not found:
            raise _NoRoom
        self.late = None
        return super()._chosen(found)

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
        return hold.first + _next_turn(hold.last + 1, first, self.period) <= last


def overlapped(
    tasks: Sequence[Task], mapping: Mapping, *, below: float, most: float, least: int, thorough: bool
) -> tuple[list[Placed], int] | None:
    """Return tasks at cycles in which samples overlap on the units, and their initiation interval.

    The weighed cycles (:func:`tabla.schedule.mapping.effort.weighed`) must be less than `below`, and the initiation
    interval at most `most`. It is at least `least`: the work of the busiest unit, and the fewest beats in which the
    words of a sample come and leave. A `thorough` search tries more cycles. The result is None if nothing is found, or
    if the program updates a model: the next sample of such a program waits for the update.
    """
    sequencers = mapping.template.sequencers
    if mapping.updated or not mapping.template.samples_overlap or not overlapping_allowed(tasks):
        return None
    order = Order.of(tasks, frozenset(), sequencers=sequencers, waves=mapping.waves)
    if order is None:
        return None
    work = _Work.of(order, sequencers)
    best, found = below, None
    for period in _periods(least, TRIES if thorough else QUICK_TRIES):
        if weighed(period, 2) >= best or period > most:
            break
        for variant in range(DRAWS if thorough else 2):
            placed = _scheduled(work, period, variant)
            if placed is None or memory_interval(placed, mapping) > period or output_span(placed) > period:
                continue
            stages = stages_of(placed, period, sequencers)
            if 1 < stages <= limits().stages and weighed(period, stages) < best:
                best, found = weighed(period, stages), (placed, period)
    return found


def _scheduled(work: _Work, period: int, variant: int) -> list[Placed] | None:
    """Return tasks at cycles for an initiation interval; None if none are found.

    A task that would read words too late is given time: the task that writes them is delayed, and all is done anew.
    """
    delays: dict[int, int] = {}
    for _ in range(RETRIES):
        scheduler = _ModuloScheduler(work, period=period, variant=variant, delays=delays)
        placed = scheduler.run()
        if placed is not None or scheduler.late is None:
            return placed
        writer, cycles = scheduler.late
        delays[writer] = scheduler.placed[writer].start + cycles
    return None


def fits_into(task: Task, period: int, sequencers: int) -> bool:
    """Say whether a task that begins anew every `period` cycles is never in its own way."""
    units: dict[str, list[tuple[int, int]]] = {}
    for name, begin, end in task.taken(sequencers):
        units.setdefault(name, []).append((begin, end))
    for taken in units.values():
        # In turn from the first one on, and then the first one of the next turn.
        first = min(begin for begin, _ in taken)
        turn = sorted(((begin - first) % period, end - begin) for begin, end in taken)
        if any(begin + length > after for (begin, length), (after, _) in pairwise([*turn, (period, 0)])):
            return False
    return True


def work_of(tasks: Sequence[Task], sequencers: int) -> dict[str, int]:
    """Return for how many cycles a sample takes each unit of the array, the bus and the end of the function unit."""
    work: dict[str, int] = {}
    for task in tasks:
        for name, begin, end in task.taken(sequencers):
            work[name] = work.get(name, 0) + end - begin
    return work


def _periods(least: int, tries: int) -> Iterator[int]:
    """Yield the initiation intervals to try, from `least` on: first one more each, later further apart."""
    period = least
    for tried in range(tries):
        yield period
        period += max(1, least * tried // 30)
