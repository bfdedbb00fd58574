"""Cycles that are blocked in every turn of a schedule that comes again."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BlockedCycles:
    """The cycles in which something cannot begin. They come again every `period` cycles.

    They are closed intervals in [0, period), in order. `begins` and `ends` are their first and last cycles. Between two
    intervals there is at least one free cycle.
    """

    period: int
    begins: tuple[int, ...]
    ends: tuple[int, ...]

    @staticmethod
    def of(kept: Iterable[tuple[int, int]], period: int) -> BlockedCycles:
        """Return the cycles of some closed intervals, which may overlap and lie anywhere."""
        turned = list[tuple[int, int]]()
        for first, last in kept:
            begin = first % period
            end = begin + last - first
            if end < period:
                turned.append((begin, end))
            else:
                turned += [(begin, period - 1), (0, min(end - period, period - 1))]
        begins, ends = list[int](), list[int]()
        for begin, end in sorted(turned):
            if ends and begin <= ends[-1] + 1:
                ends[-1] = max(ends[-1], end)
            else:
                begins.append(begin)
                ends.append(end)
        return BlockedCycles(period, tuple(begins), tuple(ends))

    def and_also(self, first: int, last: int) -> BlockedCycles:
        """Return these cycles and those of a further closed interval."""
        begin = first % self.period
        end = begin + last - first
        if end >= self.period:
            return BlockedCycles.of([*self.intervals, (first, last)], self.period)
        # The intervals that overlap the new one, or lie right beside it, become one with it.
        low, high = bisect_left(self.ends, begin - 1), bisect_right(self.begins, end + 1)
        if low < high:
            begin, end = min(begin, self.begins[low]), max(end, self.ends[high - 1])
        begins, ends = (*self.begins[:low], begin, *self.begins[high:]), (*self.ends[:low], end, *self.ends[high:])
        return BlockedCycles(self.period, begins, ends)

    @property
    def intervals(self) -> Iterator[tuple[int, int]]:
        """The closed intervals in [0, period), in order."""
        return zip(self.begins, self.ends, strict=True)

    def first_free(self, start: int) -> int | None:
        """Return the first free cycle from `start` on; None if no cycle is free."""
        at = start % self.period
        number = bisect_right(self.begins, at) - 1
        if number < 0 or self.ends[number] < at:
            return start
        free = self.ends[number] + 1
        if free < self.period:
            return start + free - at
        # The interval ends with the period, and the first one may go on from its beginning.
        begin = self.ends[0] + 1 if self.begins[0] == 0 else 0
        return start + self.period - at + begin if begin < self.period else None

    def free(self, cycle: int) -> bool:
        """Say whether something can begin in a cycle."""
        return self.first_free(cycle) == cycle
