"""What fixes the start of each task of a schedule: a word, a register or a unit that another task lets go of."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tabla.schedule.placing.placed import Placed
from tabla.schedule.placing.schedule import Schedule
from tabla.schedule.strands.strand import Strand
from tabla.schedule.strands.tasks import LATE, NEVER, Footprint, MemoryKey
from tabla.templates.template import timing

Reason = Literal["function", "root", "tree", "bus", "lanes", "stream", "ring", "output", "order"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """What fixes the start of a task: in its cycle `wanted` it needs what the task `task` lets go of in cycle `at`.

    `kind` is the unit or register of that other task, `samples` is -1 if it is the sample before's. A cause that passes
    through the bus is a `Reason` of its own. All cycles count from the token of the own sample.
    """

    slack: int
    rank: int
    task: int
    kind: str
    at: int
    wanted: int
    samples: int = 0
    reason: Reason | None = None


@dataclass(frozen=True, slots=True)
class _Last:
    """For each address of a place, the last cycle in which a task touches it, and the number of that task."""

    cycle: np.ndarray
    task: np.ndarray


class Causes:
    """Finds what fixes the start of each task. `before` collects the causes that lie in the sample before."""

    def __init__(self, schedule: Schedule, strands: Sequence[Sequence[Strand]]) -> None:
        self.cycles = schedule.cycles
        self.placed = schedule.placed
        self.strands = strands
        self.sequencers = schedule.template.sequencers
        self.models = {(key, False) for key in schedule.mapping.updated}
        self.written = self._last(writes=True)
        self.read = self._last(writes=False)
        self.busy = self._busy()
        self.makers: dict[tuple[str, str], list[int]] = {}
        for number, placed in enumerate(self.placed):
            for shown in placed.task.shown:
                self.makers.setdefault((shown.tensor, shown.register), []).append(number)
        self.before: list[Cause] = []

    def _last(self, *, writes: bool) -> dict[MemoryKey, _Last]:
        found: dict[MemoryKey, _Last] = {}
        for number, placed in enumerate(self.placed):
            for footprint in placed.task.writes if writes else _read(placed):
                size = len(footprint.first)
                last = found.setdefault(footprint.key, _Last(np.full(size, NEVER), np.full(size, -1)))
                cycle = np.where(footprint.last > NEVER, footprint.last + placed.start, NEVER)
                later = cycle > last.cycle
                last.cycle[later], last.task[later] = cycle[later], number
        return found

    def _busy(self) -> dict[str, list[tuple[int, int, int]]]:
        """Return the cycles [begin, end) in which tasks hold each unit, the bus and the function's output."""
        found: dict[str, list[tuple[int, int, int]]] = {}
        for number in range(len(self.placed)):
            for unit, begin, end in self._wants(number):
                found.setdefault(unit, []).append((begin, end, number))
        for spans in found.values():
            spans.sort()
        bus = found.get("bus", [])
        for placed in self.placed:
            # A task that wants a scalar rides on the last words that came before it.
            if placed.task.wants and bus:
                first, last = (cycle + placed.start for cycle in placed.task.wants_cycles)
                ridden = max(0, bisect_right(bus, (first, LATE, 0)) - 1)
                begin, end, number = bus[ridden]
                bus[ridden] = begin, max(end, last + 1), number
        return found

    def _wants(self, number: int) -> Iterator[tuple[str, int, int]]:
        placed = self.placed[number]
        for strand in self.strands[number]:
            for unit in strand.units(self.sequencers):
                yield unit, strand.start, strand.end
        if placed.task.bus:
            yield "bus", placed.start + placed.task.bus[0], placed.start + placed.task.bus[1] + 1
        if placed.task.function:
            yield "function", placed.start + placed.task.function[0], placed.start + placed.task.function[1] + 1

    def of(self, number: int) -> Cause | None:
        """Return what fixes the start of a task; None if only the beginning of its sample does."""
        found = [*self._words(number), *self._registers(number), *self._units(number)]
        earlier = [cause for cause in found if cause.samples]
        self.before += earlier
        tight = [cause for cause in found if not cause.samples or not cause.slack]
        return min(tight, key=lambda cause: (cause.slack, -cause.samples, cause.rank), default=None)

    def _words(self, number: int) -> Iterator[Cause]:
        """Return causes in memory: others write words before the task reads them, or read them before it writes."""
        placed = self.placed[number]
        for footprint in _read(placed):
            if footprint.key in self.written:
                yield from self._gap(number, footprint, self.written[footprint.key], rank=0, unit="write")
        for footprint in placed.task.writes:
            if footprint.key in self.read:
                yield from self._gap(number, footprint, self.read[footprint.key], rank=1, unit="issue")

    def _gap(self, number: int, footprint: Footprint, last: _Last, *, rank: int, unit: str) -> Iterator[Cause]:
        both = (footprint.first < LATE) & (last.cycle > NEVER) & (last.task != number)
        first = footprint.first + self.placed[number].start
        side = "root" if footprint.key[0][1].kind == "root" else "lane"
        for samples, far in ((0, 0), (-1, self.cycles)):
            here = np.flatnonzero(both & (last.cycle - far < first))
            if samples:
                # Only what this sample does not touch before.
                here = np.flatnonzero(both & (last.cycle >= first) & (last.cycle - far < first))
            if len(here):
                slack = first[here] - last.cycle[here] + far - 1
                at = here[int(slack.argmin())]
                yield Cause(
                    slack=int(slack.min()), rank=rank, task=int(last.task[at]), kind=f"{side}_{unit}",
                    at=int(last.cycle[at]) - far, wanted=int(first[at]), samples=samples,
                )  # fmt: skip

    def _registers(self, number: int) -> Iterator[Cause]:
        """Return causes in registers: an operand that a register shows, and the scalar that must stand on the bus."""
        laws, placed = timing(), self.placed[number]
        for operand, register in placed.forwards:
            shown = placed.start + operand.cycle
            kind = register.removeprefix("late_")
            late = 0 if kind == register else laws.late_operand - laws.operand
            for other in self.makers.get((operand.tensor, kind), ()):
                maker = self.placed[other]
                for show in maker.task.shown:
                    if (show.tensor, show.register) == (operand.tensor, kind):
                        wait = show.wait(operand.words, operand.interval)
                        if wait is not None and maker.start + show.show + wait == shown + late:
                            cycle = shown + late
                            yield Cause(slack=0, rank=-1, task=other, kind=kind, at=cycle, wanted=cycle)
        if placed.task.wants:
            wanted = placed.start + placed.task.wants_cycles[0]
            bus = self.busy.get("bus", [])
            ridden = bisect_right(bus, (wanted, LATE, 0)) - 1
            if ridden >= 0 and self.placed[bus[ridden][2]].task.holds == placed.task.wants:
                begin, _, other = bus[ridden]
                if other != number:
                    yield Cause(
                        slack=wanted - begin, rank=0, task=other, kind="root_write", at=begin - laws.broadcast,
                        wanted=wanted - laws.operand, reason="bus",
                    )  # fmt: skip

    def _units(self, number: int) -> Iterator[Cause]:
        """Return causes in units: another task holds a unit until this one takes it."""
        laws = timing()
        for unit, begin, _ in self._wants(number):
            spans = self.busy[unit]
            before = bisect_right(spans, (begin, NEVER, 0)) - 1
            samples = 0 if before >= 0 else -1
            start, end, other = spans[before]
            if samples == 0 and other == number:
                continue
            far = -samples * self.cycles
            slack = begin - (end - far)
            if slack < 0:
                continue
            if unit == "bus":
                kind, at, wanted = "root_write", start - laws.broadcast - far, begin - laws.broadcast
            elif unit == "function":
                kind, at, wanted = "function", end - 1 - far, begin
            else:
                kind = "busy " + unit.rstrip("0123456789").rstrip("_")
                at, wanted = end - 1 - far, begin
            reason: Reason | None = "bus" if unit == "bus" else None
            yield Cause(
                slack=slack, rank=2, task=other, kind=kind, at=at, wanted=wanted, samples=samples, reason=reason
            )


def _read(placed: Placed) -> list[Footprint]:
    """Return the words that a task reads from memory, without the operands that a register shows."""
    forwarded = {operand.footprint for operand, _ in placed.forwards}
    return [footprint for number, footprint in enumerate(placed.task.reads) if number not in forwarded]
