"""Frames and stages: which unit runs which strand of which sample between two tokens.

The *frame* of a unit is the cycles from its first strand for one token to that for the next. If all strands of a
sample fit into one frame, the unit does one sample after the other. Otherwise a strand that begins k initiation
intervals after the unit's first strand runs in the frame of the k-th next token, beside strands of later samples. That
k is the *stage* of the strand. Tokens come exactly an initiation interval apart while samples are under way (decision
56), so a strand of stage k begins in the very cycle that the schedule of the sample says.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tabla.schedule.placing.output_port import puts_of
from tabla.schedule.placing.placed import Placed, all_strands
from tabla.schedule.strands.strand import Strand
from tabla.schedule.strands.tasks import Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Framed:
    """A strand in the frame of its unit: its `stage`, and the cycle `start` at which it begins in the frame."""

    strand: Strand
    stage: int
    start: int


def framed(strands: Sequence[Strand], period: int) -> tuple[Framed, ...]:
    """Return the strands that a unit runs for a sample in the order in which it runs them in a frame.

    `strands` are in the order of their start cycles, and a frame begins with the first of them. `period` is the
    initiation interval. Without overlapping samples all stages are 0.
    """
    if not strands:
        return ()
    first = strands[0].start
    places = (divmod(strand.start - first, period) for strand in strands)
    found = [Framed(strand=s, stage=stage, start=start) for s, (stage, start) in zip(strands, places, strict=True)]
    return tuple(sorted(found, key=lambda f: f.start))


def stages_of(placed: Iterable[Placed], period: int, sequencers: int) -> int:
    """Return the number of stages of placed tasks: how many samples are under way at a time, as the controller counts
    them.

    It is 1 if no unit works on two samples in turns. Otherwise it is so large that two samples whose tokens are more
    than that many initiation intervals apart meet neither in a unit, nor on the bus, nor at the end of the function
    unit.
    """
    spans: dict[str, tuple[int, int]] = {}

    def add(name: str, begin: int, end: int) -> None:
        first, last = spans.get(name, (begin, end))
        spans[name] = (min(first, begin), max(last, end))

    for p in placed:
        for name, begin, end in p.task.taken(sequencers):
            add(name, begin + p.start, end + p.start)
        if p.task.wants:
            add("bus", p.task.wants_cycles[0] + p.start, p.task.wants_cycles[1] + p.start + 1)
    return max((-(-(end - begin) // period) for begin, end in spans.values()), default=1)


def overlapping_allowed(tasks: Iterable[Task]) -> bool:
    """Say whether samples may overlap on the units: no operation takes a position from the register that keeps it.

    That register holds one position for all samples.
    """
    return not any(
        operation.field("b") == "position" for task in tasks for strand in task.strands for operation in strand.body
    )


def output_span(placed: Iterable[Placed]) -> int:
    """Return the cycles from the first to the last word of a sample that leaves, both counted; 0 if none leaves."""
    puts = puts_of(all_strands(placed))
    return int(puts[-1] - puts[0]) + 1 if len(puts) else 0
