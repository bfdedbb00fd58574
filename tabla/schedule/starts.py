"""Where changes that only an exact schedule can judge begin: the fastest schedules, and those that promise most."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tabla.ir.graph import Graph
from tabla.mapping.changes import as_made
from tabla.mapping.search import Mapping
from tabla.schedule.improve import Merit, followed, improved
from tabla.schedule.schedule import Schedule

HASTENED = 3
"""So many of each number of roots, and of each cut, are judged by what they promise, others as they are."""
PROMISING = 2
"""Beside the fastest so many are improved that promise most, each of another number of roots or another cut."""
MOST, MOST_OF_LONG, SHORT, BUSY = 4, 2, 14, 0.95
"""So many in all; fewer in programs of more statements, which have more changes, and each takes longer, and where lanes
multiply in such a part of all cycles, so that there is little to find.
"""
FAR, ALIKE = 1.12, 0.002
"""Others take no more than so many times the fewest cycles, and differ by so much of them from those before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """A schedule, the graph that was mapped, and what schedules another mapping of it; its merit, as it is and with
    vectors that lanes take as they are made.
    """

    schedule: Schedule
    mapped: Graph
    again: Callable[[Mapping], Schedule | None]
    merit: Merit
    promise: Merit

    def improved(self, merit: Callable[[Schedule], Merit]) -> Schedule:
        """The best that comes of it."""
        return improved(self.schedule, self.mapped, self.again, merit)


def judged(
    made: Sequence[Schedule],
    mapped: Graph,
    again: Callable[[Mapping], Schedule | None],
    merit: Callable[[Schedule], Merit],
) -> list[Start]:
    """Schedules of one graph, the fastest first, and what they promise."""
    found = []
    for number, each in enumerate(made):
        hastened = followed(each, mapped, as_made, again, merit) if number < HASTENED else each
        found.append(Start(schedule=each, mapped=mapped, again=again, merit=merit(each), promise=merit(hastened)))
    return found


def chosen(found: Sequence[Sequence[Start]], statements: int, multiplies: int) -> list[Start]:
    """Starts worth the time in a program of so many statements, and so many multiplies a sample.

    `found`: for each number of roots, and cut.
    """
    every = sorted((start for starts in found for start in starts), key=lambda start: start.merit)
    best = every[:1]
    promising = (min(starts, key=lambda start: start.promise) for starts in found)
    best += [start for start in sorted(promising, key=lambda start: start.promise) if start not in best][:PROMISING]
    for start in every:
        if start.merit[0] > FAR * every[0].merit[0]:
            break
        if start not in best and not any(_alike(start, each) for each in best):
            best.append(start)
    fastest = best[0].schedule
    busy = multiplies >= BUSY * fastest.template.pes * fastest.cycles
    return best[: MOST_OF_LONG if busy or statements > SHORT else MOST]


def _alike(one: Start, other: Start) -> bool:
    """Whether two are likely the same but for a statement that matters little."""
    mine, theirs = one.schedule, other.schedule
    return mine.template.roots == theirs.template.roots and abs(mine.cycles - theirs.cycles) <= ALIKE * mine.cycles
