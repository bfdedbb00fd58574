"""What the tasks placed so far have taken of the array: units, the bus, and the output of the function unit."""

from __future__ import annotations

from bisect import bisect_left, insort
from dataclasses import dataclass, field

from tabla.schedule.strands.tasks import Task


@dataclass(slots=True)
class Hold:
    """The cycles [first, last] in which the bus carries the words of one task.

    `tensor` names the scalar that may stay on the bus; it is empty for other words.
    """

    first: int
    last: int
    tensor: str


@dataclass(slots=True)
class Reservations:
    """The cycles that are taken: half-open intervals of units and of the function output, and the holds of the bus.

    `sequencers` is the array's number of sequencers.
    """

    sequencers: int = 1
    units: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    bus: list[Hold] = field(default_factory=list)

    def push(self, name: str, begin: int, end: int) -> int:
        """Return how far an interval must move to clear the first thing in its way; 0 if it is free."""
        way = self._in_the_way(name, begin, end)
        return way[1] - begin if way else 0

    def pull(self, name: str, begin: int, end: int) -> int:
        """Return how far an interval must move to earlier cycles to clear a thing in its way; 0 if it is free."""
        way = self._in_the_way(name, begin, end)
        return end - way[0] if way else 0

    def _in_the_way(self, name: str, begin: int, end: int) -> tuple[int, int] | None:
        # Reserved intervals do not overlap, so their ends rise with their beginnings.
        taken = self.units.get(name, [])
        after = bisect_left(taken, (begin, begin))
        return next((way for way in taken[max(0, after - 1) : after + 1] if way[0] < end and begin < way[1]), None)

    def push_bus(self, first: int, last: int) -> int:
        """Return how far closed cycles of the bus must move to clear every hold in their way; 0 if they are free."""
        return max((h.last + 1 - first for h in self.bus if h.first <= last and first <= h.last), default=0)

    def take(self, name: str, begin: int, end: int) -> None:
        """Reserve the cycles [begin, end)."""
        insort(self.units.setdefault(name, []), (begin, end))

    def give_back(self, task: Task, start: int) -> None:
        """Free the units and the function output that a task took at its start cycle. It has no words on the bus."""
        for strand in task.strands:
            for unit in strand.units(self.sequencers):
                self.units[unit].remove((strand.start + start, strand.end + start))
        if task.function:
            self.units["function"].remove((task.function[0] + start, task.function[1] + start + 1))

    def push_task(self, task: Task, start: int) -> int:
        """Return how far a task must move from a start cycle to clear the first thing in its way; 0 if it is free."""
        for strand in task.strands:
            for unit in strand.units(self.sequencers):
                if push := self.push(unit, strand.start + start, strand.end + start):
                    return push
        if task.function and (push := self.push("function", task.function[0] + start, task.function[1] + start + 1)):
            return push
        if task.bus:
            return self.push_bus(task.bus[0] + start, task.bus[1] + start)
        return 0

    def first_free(self, task: Task, start: int) -> int | None:
        """Return the first cycle from `start` on at which everything that a task takes is free; None without one."""
        while push := self.push_task(task, start):
            start += push
        return start

    def pull_task(self, task: Task, start: int) -> int:
        """Return how far a task without words on the bus must move to earlier cycles to clear a thing in its way.

        It is 0 if the task is free. No smaller move clears that thing.
        """
        for strand in task.strands:
            for unit in strand.units(self.sequencers):
                if pull := self.pull(unit, strand.start + start, strand.end + start):
                    return pull
        if task.function:
            return self.pull("function", task.function[0] + start, task.function[1] + start + 1)
        return 0

    def take_task(self, task: Task, start: int) -> None:
        """Reserve everything that a task takes from a start cycle on."""
        for strand in task.strands:
            for unit in strand.units(self.sequencers):
                self.take(unit, strand.start + start, strand.end + start)
        if task.function:
            self.take("function", task.function[0] + start, task.function[1] + start + 1)
        if task.bus:
            self.bus.append(Hold(task.bus[0] + start, task.bus[1] + start, task.holds))
