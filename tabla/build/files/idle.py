"""Why the lanes are idle: every cycle in which a sequencer of the lanes issues nothing, with what it waits for.

The next strand of the lanes is followed back through time. Within a task the path of its words is fixed: a word of the
bus comes from the root, a sum at the root from the tree, a value from the function unit. Between tasks the constraint
with the least slack is followed: a word that another task writes, a register that it shows, or a unit that it holds.
The walk ends where the lanes have worked last. Samples come `Schedule.cycles` apart, so it may lead into earlier ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from tabla.build.files.causes import Causes, Reason
from tabla.schedule.placing.schedule import Schedule
from tabla.schedule.strands.strand import Operation
from tabla.templates.template import functions, timing

REASONS: dict[Reason, str] = {
    "function": "the function unit",
    "root": "the root",
    "tree": "the tree",
    "bus": "the bus",
    "lanes": "results of the lanes",
    "stream": "the words of the sample",
    "ring": "a free place for the sample",
    "output": "the words that leave",
    "order": "the order of the schedule",
}
"""What the lanes wait for, in words that complete "the lanes wait for"."""

MOST_HOPS = 10_000
"""The most constraints that one idle time is followed through; a walk that needs more names the rest `order`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """Cycles [first, end) in which `unit` issues nothing.

    `reason` is what it waits for, and `task` and `strand` say where that happens: the number of the placed task, and of
    the strand in it (-1: nowhere, the whole schedule waits). `samples` counts from this sample to the one that the task
    belongs to: -1 is the sample before.
    """

    unit: str
    first: int
    end: int
    reason: Reason
    task: int = -1
    strand: int = -1
    samples: int = 0


@dataclass(frozen=True, slots=True)
class _Step:
    """From cycle `begin` on a word is on its way through what `reason` names, for a strand of a task."""

    reason: Reason
    begin: int
    strand: int


def waits(schedule: Schedule) -> tuple[Wait, ...]:
    """Return every idle cycle of the lanes of one sample in the steady state, by sequencer and cycle.

    The waits of a sequencer and its strands take `Schedule.cycles` cycles together. Waits after its last strand end
    where the strands of the next sample begin. Lanes that have no strand have no waits. Where samples overlap, every
    cycle has work of several samples to wait for, so what is idle is named after the order of the schedule.
    """
    if schedule.stages > 1:
        return tuple(
            wait for unit in schedule.units if unit.startswith("lane_issue") for wait in _between(schedule, unit)
        )
    walk = _Walk(schedule)
    return tuple(wait for unit in schedule.units if unit.startswith("lane_issue") for wait in walk.unit(unit))


def _between(schedule: Schedule, unit: str) -> Iterator[Wait]:
    """Yield the idle cycles between the strands that a unit runs between two tokens, whatever sample they are of."""
    frame, tasks = schedule.frames[unit], _tasks_of(schedule, unit)
    if not frame:
        return
    first = min(f.strand.start for f in frame)
    for before, after in pairwise([*frame, replace(frame[0], start=schedule.cycles)]):
        begin, end = before.start + before.strand.length, after.start
        if begin < end:
            samples = (1 if after.start == schedule.cycles else 0) - after.stage
            task = tasks[after.strand.start]
            yield Wait(unit=unit, first=first + begin, end=first + end, reason="order", task=task, samples=samples)


def _tasks_of(schedule: Schedule, unit: str) -> dict[int, int]:
    """Return the placed task, by number, whose strand a unit begins in a cycle."""
    sequencers = schedule.template.sequencers
    return {
        strand.start: number
        for number, placed in enumerate(schedule.placed)
        for strand in placed.strands()
        if unit in strand.units(sequencers)
    }


class _Walk:
    """The walks through one schedule; every task's cause is found once."""

    def __init__(self, schedule: Schedule) -> None:
        self.schedule = schedule
        self.cycles = schedule.cycles
        self.placed = schedule.placed
        self.strands = [placed.strands() for placed in self.placed]
        word = schedule.format
        self.latency = {f.code: f.cycles(word.width, word.fraction) for f in functions().values()}
        causes = Causes(schedule, self.strands)
        self.causes = [causes.of(number) for number in range(len(self.placed))]
        # What fixes the distance of samples, where that is a task of the sample before.
        tight = [cause for cause in causes.before if cause.slack == 0]
        self.distance = min(tight, key=lambda cause: (cause.rank, cause.wanted), default=None)

    def unit(self, unit: str) -> Iterator[Wait]:
        """Return the waits of one sequencer in the order of their cycles."""
        found = sorted(
            (strand.start, strand.end, number)
            for number, strands in enumerate(self.strands)
            for strand in strands
            if unit in strand.units(self.schedule.template.sequencers)
        )
        if not found:
            return
        first, _, number = found[0]
        for (_, begin, _), (end, _, after) in pairwise([*found, (first + self.cycles, 0, number)]):
            yield from reversed(list(self._gap(unit, begin, end, after, 1 if end > found[-1][0] else 0)))

    def _gap(self, unit: str, begin: int, end: int, number: int, samples: int) -> Iterator[Wait]:
        """Return the waits of the idle cycles [begin, end), the last one first.

        Task `number` ends the idle time. It belongs to the sample that comes `samples` samples later.
        """
        cursor, kind, cycle = end, "lane_issue", end - samples * self.cycles
        for _ in range(MOST_HOPS):
            if cursor <= begin:
                return
            cause = self.causes[number]
            if cause is None and (self.cycles > self.schedule.initiation_interval or self.distance is None):
                break
            shift = samples * self.cycles
            wanted = cause.wanted + shift if cause else begin
            last = _Step("order", begin, -1)
            for step in self._path(number, kind, cycle):
                last = step
                low = max(step.begin + shift, wanted, begin)
                if low < cursor:
                    yield Wait(
                        unit=unit, first=low, end=cursor, reason=step.reason, task=number, strand=step.strand,
                        samples=samples,
                    )  # fmt: skip
                    cursor = low
            if cause is None:
                # The sample begins when it may: what that waits for goes on where the sample before lets go.
                assert self.distance is not None
                cause = self.distance
            elif max(wanted, begin) < cursor:
                low = max(wanted, begin)
                yield Wait(
                    unit=unit, first=low, end=cursor, reason=last.reason, task=number, strand=last.strand,
                    samples=samples,
                )  # fmt: skip
                cursor = low
            cycle, samples = cause.at - cause.samples * self.cycles, samples + cause.samples
            free = max(cause.at + shift + 1, begin)
            if free < cursor and cause.slack:
                yield Wait(unit=unit, first=free, end=cursor, reason="order", task=number, strand=0, samples=samples)
                cursor = free
            number, kind = cause.task, cause.kind
            if cause.reason and max(cause.at + shift, begin) < cursor:
                low = max(cause.at + shift, begin)
                yield Wait(
                    unit=unit, first=low, end=cursor, reason=cause.reason, task=number, samples=samples,
                    strand=self._strand(number, "root_write", cycle),
                )  # fmt: skip
                cursor = low
        if begin < cursor:
            yield Wait(unit=unit, first=begin, end=cursor, reason=self._border())

    def _border(self) -> Reason:
        """Return what keeps samples apart if no task does."""
        schedule = self.schedule
        if schedule.cycles > schedule.initiation_interval:
            return "stream" if schedule.beats == schedule.cycles else "ring"
        return "output" if schedule.beats_out == schedule.initiation_interval else "order"

    def _strand(self, number: int, unit: str, cycle: int) -> int:
        """Return the position in a task of the strand that takes a unit in a cycle; -1 if none does."""
        found = (n for n, s in enumerate(self.strands[number]) if s.unit == unit and s.start <= cycle < s.end)
        return next(found, -1)

    def _operation(self, number: int, unit: str, cycle: int) -> tuple[int, Operation] | None:
        """Return the strand of a task that issues in a cycle, and its operation; None if there is none."""
        position = self._strand(number, unit, cycle)
        if position < 0 or (cycle - (strand := self.strands[number][position]).start) % strand.interval:
            return None
        return position, strand.body[(cycle - strand.start) // strand.interval % len(strand.body)]

    def _path(self, number: int, kind: str, cycle: int) -> Iterator[_Step]:
        """Follow a word back through one task, from what it leaves in a cycle to the first strand on its way.

        `kind` is a unit, a register of the root (`result`, `function`), or a unit that is `busy` until the cycle.
        """
        laws = timing()
        if kind.startswith("busy "):
            kind = kind.removeprefix("busy ")
            position = self._strand(number, kind, cycle)
            if position >= 0:
                cycle = self.strands[number][position].start
                yield _Step("root" if kind.startswith("root") else "lanes", cycle, position)
        while True:
            if kind in ("result", "function"):
                position, value = self._origin(number, kind, cycle)
                if position < 0:
                    return
                if kind == "function":
                    yield _Step("function", value, position)
                cycle, kind = value - laws.result, "root_issue"
                origin = self._operation(number, kind, cycle)
                register = self._register(number, origin[1], cycle) if origin else None
                # An operand that a register shows is there some cycles after the issue: until then it is waited for.
                yield _Step("root", register[1] if register else cycle, position)
            found = self._operation(number, kind, cycle)
            if found is None:
                return
            position, operation = found
            source = str(operation.field("source", "result"))
            match kind:
                case "lane_write" if source == "bus":
                    kind, cycle = "root_write", cycle - laws.broadcast
                    yield _Step("bus", cycle, position)
                case "lane_write":
                    kind, cycle = "lane_issue", cycle - laws.result
                    yield _Step("lanes", cycle, position)
                case "root_write":
                    kind = source
                case "lane_issue":
                    cycle += laws.operand - laws.broadcast
                    sender = self._strand(number, "root_write", cycle) if "bus" in operation.fields.values() else -1
                    if sender < 0:
                        yield _Step("lanes", self.strands[number][position].start, position)
                        return
                    kind = "root_write"
                    yield _Step("bus", cycle, sender)
                case _:
                    template = self.schedule.template
                    levels = {"tree": template.tree_levels, "array": template.tree_levels + template.array_levels}
                    base = str(operation.field("base"))
                    if base in levels:
                        kind, cycle = "lane_issue", cycle - 1 - levels[base] * laws.tree_level
                        yield _Step("tree", cycle, position)
                        continue
                    register = self._register(number, operation, cycle)
                    if register is None:
                        yield _Step("root", self.strands[number][position].start, position)
                        return
                    kind, cycle = register

    def _origin(self, number: int, kind: str, cycle: int) -> tuple[int, int]:
        """Return the root's strand that makes what a register shows in a cycle, and the cycle of its rounded result.

        The strand is -1 if the task has no such operation.
        """
        result = timing().result
        for delay in [0] if kind == "result" else sorted(set(self.latency.values())):
            found = self._operation(number, "root_issue", cycle - delay - result)
            if found is not None:
                code = found[1].field("function")
                if kind == "result" or (isinstance(code, int) and self.latency.get(code) == delay):
                    return found[0], cycle - delay
        return -1, 0

    def _register(self, number: int, operation: Operation, cycle: int) -> tuple[str, int] | None:
        """Return the register that an operation of the root takes from its own task, and the cycle; None if none."""
        for name in ("a", "b", "c"):
            text = str(operation.field(name, ""))
            kind = text.removeprefix("late_")
            if kind in ("result", "function"):
                shown = cycle + (timing().operand if text == kind else timing().late_operand)
                if self._origin(number, kind, shown)[0] >= 0:
                    return kind, shown
        return None
