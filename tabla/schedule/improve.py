"""Changes of a mapping that only an exact schedule can judge, tried one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tabla.ir.graph import Graph
from tabla.mapping.changes import changes, undivided
from tabla.mapping.search import Mapping
from tabla.schedule.schedule import Schedule

BEAM, PATIENCE, DETOUR = 2, 1, 2
"""Changes go on from so many schedules, while so many rounds bring nothing, each for at most so many cycles more."""

Merit = tuple[float, int, int, int]


def improved(
    best: Schedule,
    mapped: Graph,
    schedule: Callable[[Mapping], Schedule | None],
    merit: Callable[[Schedule], Merit],
) -> Schedule:
    """The best that comes of a schedule, after changes that only an exact one can judge.

    Words that lanes take as they are made, instead of a broadcast just in time; updates in parts that fill gaps. One
    statement at a time, from the best few of each round, until several rounds find nothing better. `schedule` makes an
    exact schedule of a mapping; the less its `merit`, the better it is.
    """
    beam, seen, idle = [best], {repr(best.mapping)}, 0
    while beam and idle < PATIENCE:
        tried: dict[tuple[int, ...], Schedule] = {}
        for start in beam:
            for change in changes(start.mapping, mapped, start.template.lanes):
                if repr(change) not in seen:
                    seen.add(repr(change))
                    made = schedule(change)
                    if made is not None and made.cycles <= start.cycles + DETOUR:
                        # Of several ways of the same statements the best one goes on.
                        where = _changed(start.mapping, change)
                        tried[where] = min(made, tried.get(where, made), key=merit)
        beam = sorted(tried.values(), key=merit)[:BEAM]
        better = bool(beam) and merit(beam[0]) < merit(best)
        best, idle = (beam[0], 0) if better else (best, idle + 1)
    return followed(best, mapped, undivided, schedule, merit)


def followed(
    best: Schedule,
    mapped: Graph,
    kind: Callable[[Mapping, Graph], Iterator[Mapping]],
    schedule: Callable[[Mapping], Schedule | None],
    merit: Callable[[Schedule], Merit],
) -> Schedule:
    """What comes of a schedule by changes of one kind, each if it is better."""
    for change in kind(best.mapping, mapped):
        made = schedule(change)
        if made is not None and merit(made) < merit(best):
            return followed(made, mapped, kind, schedule, merit)
    return best


def _changed(before: Mapping, after: Mapping) -> tuple[int, ...]:
    """The statements that are computed in another way."""
    fits = zip(before.fits, after.fits, strict=True)
    return tuple(number for number, (one, other) in enumerate(fits) if one != other)
