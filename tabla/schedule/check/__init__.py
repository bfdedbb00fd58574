"""The checker: it knows the laws of the machine, the memory map and the graph, and nothing of the scheduler."""

from __future__ import annotations

from tabla.schedule.check.borders import check_borders
from tabla.schedule.check.laws import check_laws
from tabla.schedule.check.presence import check_presence
from tabla.schedule.check.proof import prove
from tabla.schedule.check.times import check_times
from tabla.schedule.placing.schedule import Schedule
from tabla.schedule.strands.regions import ScheduleFault

__all__ = ["ScheduleFault", "check"]


def check(schedule: Schedule) -> None:
    """Raise `ScheduleFault` for the first law that is broken, or the first word that is not what the graph asks for.

    Labels play no part: neither `Strand.comment` nor `Strand.owner` is read but for messages. What is proven, and by
    what argument, is in ``docs/decisions/0008-checker.md``.
    """
    check_laws(schedule)
    images = prove(schedule)
    check_borders(images)
    check_presence(images)
    check_times(schedule)
