"""How long the busiest unit stands still before each statement: where a change of the mapping may save cycles."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from tabla.schedule.strands.strand import Strand


def waits_of(strands: Sequence[Strand], statements: int, sequencers: int) -> tuple[int, ...]:
    """Return, by the number of the statement, the idle cycles right before its strands of the busiest issuing unit.

    `strands` are in the order of their start cycles within each unit. Idle cycles before a strand that belongs to no
    statement, such as a move, are left out, and so are those before the first strand of a sample.
    """
    issues: dict[str, list[Strand]] = {}
    for strand in strands:
        if strand.unit.endswith("issue"):
            for unit in strand.units(sequencers):
                issues.setdefault(unit, []).append(strand)
    waits = [0] * statements
    busiest = max(issues.values(), key=lambda mine: sum(strand.length for strand in mine), default=[])
    for before, strand in pairwise(busiest):
        if strand.owner.statement >= 0:
            waits[strand.owner.statement] += strand.start - before.end
    return tuple(waits)
