"""The mappings from which changes go on: the fastest ones, and those that promise most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tabla.graph.graph import Graph
from tabla.schedule.mapping.changes import as_made
from tabla.schedule.mapping.effort import Effort
from tabla.schedule.mapping.improve import followed
from tabla.schedule.mapping.judge import Judge, Judged, Merit


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """A judged mapping, its merit as it is, and its merit when lanes take vectors as the root makes them."""

    found: Judged
    merit: Merit
    promise: Merit

    @property
    def graph(self) -> Graph:
        """The graph that is mapped."""
        return self.found.mapping.graph


def with_promise(found: Sequence[Judged], judge: Judge, effort: Effort) -> list[Start]:
    """Find out what mappings of one graph promise. `found` has the fastest mapping first."""
    starts = []
    for number, each in enumerate(found):
        hastened = followed(each, as_made, judge, effort) if number < effort.hastened else each
        starts.append(Start(found=each, merit=each.merit(effort), promise=hastened.merit(effort)))
    return starts


def chosen(groups: Sequence[Sequence[Start]], statements: int, multiplies: int, effort: Effort) -> list[Start]:
    """Choose the starts that are worth the time in a program of so many statements and so many multiplies a sample.

    `groups` has the starts of each number of roots and each cut, the fastest first. The choice is the fastest start,
    then the most promising starts of other groups, then the fastest others that differ from those chosen before. Starts
    that promise much less than the best are left out: changes hardly ever make up for it.
    """
    every = sorted((start for starts in groups for start in starts), key=lambda start: start.merit)
    best = every[:1]
    promising = (min(starts, key=lambda start: start.promise) for starts in groups)
    others = (start for start in sorted(promising, key=lambda start: start.promise) if not _among(start, best))
    most = effort.far * min(start.promise[0] for start in every)
    best += [start for start in others if start.promise[0] <= most][: effort.promising]
    for start in every:
        if start.merit[0] > effort.far * every[0].merit[0]:
            break
        if not _among(start, best) and not any(_alike(start, each, effort) for each in best):
            best.append(start)
    fastest = best[0].found
    busy = multiplies >= effort.busy * fastest.mapping.template.pes * fastest.figures.cycles
    return best[: effort.starts_of_long if busy or statements > effort.short else effort.starts]


def _among(start: Start, starts: Sequence[Start]) -> bool:
    """Say whether this very start is one of `starts`. Equal mappings of two cuts are two starts."""
    return any(start is each for each in starts)


def _alike(one: Start, other: Start, effort: Effort) -> bool:
    """Say whether two starts are likely the same but for a statement that matters little."""
    mine, theirs = one.found, other.found
    near = abs(mine.figures.cycles - theirs.figures.cycles) <= effort.alike * mine.figures.cycles
    return mine.mapping.template.roots == theirs.mapping.template.roots and near
