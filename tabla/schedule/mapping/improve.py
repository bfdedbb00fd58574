"""Improving a mapping by changes that only an exact schedule can judge, tried one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tabla.schedule.mapping.changes import changes, undivided
from tabla.schedule.mapping.effort import Effort
from tabla.schedule.mapping.joined import joined
from tabla.schedule.mapping.judge import Judge, Judged, judged
from tabla.schedule.mapping.mapping import Mapping


def improved(best: Judged, judge: Judge, effort: Effort) -> Judged:
    """Return the best mapping that changes of one statement at a time lead to.

    A beam search: each round applies every change to the best few mappings of the round before, and it ends after
    `effort.patience` rounds without a gain. Of several changes to the same statements only the best goes on.
    """
    beam, seen, idle = [best], {repr(best.mapping)}, 0
    while beam and idle < effort.patience:
        tried: dict[tuple[int, ...], Judged] = {}
        for start in beam:
            for change in changes(start.mapping, effort):
                if repr(change) in seen:
                    continue
                seen.add(repr(change))
                made = judged(change, judge)
                if made is not None and made.aim(effort) <= start.aim(effort) + effort.detour:
                    where = _changed(start.mapping, change)
                    tried[where] = min(made, tried.get(where, made), key=lambda each: each.merit(effort))
        beam = sorted(tried.values(), key=lambda each: each.merit(effort))[: effort.change_beam]
        better = bool(beam) and beam[0].merit(effort) < best.merit(effort)
        best, idle = (beam[0], 0) if better else (best, idle + 1)
    # A chain leaves other changes of its statements no room, so chains come last.
    return followed(followed(best, undivided, judge, effort), joined, judge, effort)


def followed(
    best: Judged, kind: Callable[[Mapping, Effort], Iterator[Mapping]], judge: Judge, effort: Effort
) -> Judged:
    """Apply changes of one kind for as long as one of them makes the mapping better."""
    for change in kind(best.mapping, effort):
        made = judged(change, judge)
        if made is not None and made.merit(effort) < best.merit(effort):
            return followed(made, kind, judge, effort)
    return best


def _changed(before: Mapping, after: Mapping) -> tuple[int, ...]:
    """Find the statements, by number, that two mappings compute in different ways."""
    fits = zip(before.fits, after.fits, strict=True)
    return tuple(number for number, (one, other) in enumerate(fits) if one != other)
