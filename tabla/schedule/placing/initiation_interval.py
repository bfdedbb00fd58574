"""The initiation interval: the fewest cycles from one sample to the next with which neither disturbs the other.

Samples overlap: while the roots finish one sample, the lanes may begin the next. The initiation interval is as long as
the longest of these: the time for which one sample takes a unit, the bus or the function unit, the time from reading a
model to updating it, and the time for which a word in memory is needed.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from tabla.schedule.mapping.mapping import Mapping
from tabla.schedule.placing.placed import Placed
from tabla.schedule.strands.tasks import LATE, NEVER, Footprint, MemoryKey
from tabla.templates.template import timing

# The start of each row of _Touches before any word is touched.
_UNTOUCHED: NDArray[np.int64] = np.array([[LATE], [NEVER], [LATE], [NEVER]], dtype=np.int64)


class _Touches:
    """The first and last cycles in which each word of a place is read and written.

    A word that is never touched has a first cycle above LATE // 2, and a last one below NEVER // 2.
    """

    def __init__(self, words: int) -> None:
        cycles = np.empty((4, words), dtype=np.int64)
        cycles[:] = _UNTOUCHED
        self.read_first, self.read_last, self.write_first, self.write_last = cycles


def touches(placed: Iterable[Placed]) -> dict[MemoryKey, _Touches]:
    """Collect when placed tasks touch the words of each place; forwarded operands touch nothing."""
    found: dict[MemoryKey, _Touches] = {}

    def at(footprint: Footprint) -> _Touches:
        if (known := found.get(footprint.key)) is None:
            known = found[footprint.key] = _Touches(len(footprint.first))
        return known

    for p in placed:
        skipped = {operand.footprint for operand, _ in p.forwards}
        for position, footprint in enumerate(p.task.reads):
            if position in skipped:
                continue
            t = at(footprint)
            np.minimum(t.read_first, footprint.first + p.start, out=t.read_first)
            np.maximum(t.read_last, footprint.last + p.start, out=t.read_last)
        for footprint in p.task.writes:
            t = at(footprint)
            np.minimum(t.write_first, footprint.first + p.start, out=t.write_first)
            np.maximum(t.write_last, footprint.last + p.start, out=t.write_last)
    return found


def _gap(late: NDArray[np.int64], early: NDArray[np.int64]) -> int:
    """Return the largest ``late + 1 - early`` over the words to which both happen; 0 if there is none."""
    # A word to which one of them does not happen gives a number far below all cycles.
    gap = int((late - early).max())
    return gap + 1 if gap > NEVER // 2 else 0


def initiation_interval_of(placed: list[Placed], mapping: Mapping) -> int:
    """Return the smallest initiation interval that memories, units, the bus and the function unit allow, in cycles."""
    spans = unit_spans(placed, mapping.template.sequencers).values()
    least = max([memory_interval(placed, mapping), *(end - begin for begin, end in spans)])
    return _apart(least, _shared(placed))


def memory_interval(placed: list[Placed], mapping: Mapping) -> int:
    """Return the smallest initiation interval that the words of memories allow, in cycles."""
    least = 1
    models = {(key, False) for key in mapping.updated}
    for key, t in touches(placed).items():
        if key in models:
            # The next sample reads what this one wrote.
            least = max(least, _gap(t.write_last, t.read_first))
        else:
            # The next sample overwrites what this one has read.
            least = max(least, _gap(t.read_last, t.write_first))
        least = max(least, _gap(t.write_last, t.write_first))
    return least


def unit_spans(placed: Iterable[Placed], sequencers: int) -> dict[str, tuple[int, int]]:
    """Return the first cycle of each unit's operations of one sample, and the first one after them."""
    found: dict[str, tuple[int, int]] = {}
    for p in placed:
        for strand in p.task.strands:
            start, end = strand.start + p.start, strand.end + p.start
            for unit in strand.units(sequencers):
                first, last = found.get(unit, (start, end))
                found[unit] = (min(first, start), max(last, end))
    return found


def _shared(placed: list[Placed]) -> list[list[tuple[int, int]]]:
    """Return the closed intervals in which tasks take the bus, and those in which results of functions show."""
    broadcast = timing().broadcast
    bus: list[list[int]] = []
    function: list[tuple[int, int]] = []
    for p in placed:
        if p.task.bus:
            bus.append([p.task.bus[0] + p.start, p.task.bus[1] + p.start])
        if p.task.function:
            function.append((p.task.function[0] + p.start, p.task.function[1] + p.start))
    assert broadcast > 0
    bus.sort()
    for p in placed:
        if p.task.wants:
            # The task takes the scalar that came to the bus last, so that scalar stays longer.
            taken = [b for b in bus if b[0] <= p.start + p.task.wants_cycles[0]][-1]
            taken[1] = max(taken[1], p.start + p.task.wants_cycles[1])
    return [[(a, b) for a, b in bus], function]


def _apart(least: int, groups: list[list[tuple[int, int]]]) -> int:
    """Return the initiation interval, at least so long that all intervals of a sample end before those of the next
    begin.

    The next sample may not use gaps between the intervals, because it begins an initiation interval later or at any
    time after that.
    """
    spans = [max(b for _, b in group) - min(a for a, _ in group) + 1 for group in groups if group]
    return max([least, *spans])
