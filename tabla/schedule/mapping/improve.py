"""Improving a mapping by changes that only an exact schedule can judge, tried one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tabla.schedule.mapping.changes import changes, undivided
from tabla.schedule.mapping.effort import Effort
from tabla.schedule.mapping.joined import joined
from tabla.schedule.mapping.judge import Judge, Judged, judged, most_cycles
from tabla.schedule.mapping.mapping import Mapping


def improved(best: Judged, judge: Judge, effort: Effort) -> Judged:
    """Return the best mapping that changes of one statement at a time lead to.

    A beam search: each round applies changes to the best few mappings of the round before, and it ends after
    `effort.patience` rounds without a gain. Of several changes to the same statements only the best goes on.

    Scheduling a mapping takes time for each of its statements, and each statement has changes of its own. So a round of
    a long program would take time with the square of its length, and there would be a round for each cycle that can be
    saved. Therefore it has as many changes as schedule `effort.work` statements, and rounds must save
    `effort.least_gain`. Where that is more than `effort.few_cycles`, so must each change. With
    several sequencers a change may save more than the waiting that is known, because it moves work between them.
    """
    statements = len(best.mapping.graph.statements)
    least_gain = effort.least_gain if statements > effort.short else 0.0
    beam, seen, idle = [best], {repr(best.mapping)}, 0
    while beam and idle < effort.patience:
        tried: dict[tuple[int, ...], Judged] = {}
        most = max(1, effort.work // (statements * len(beam)))
        for start in beam:
            slowest = start.aim(effort) + effort.detour
            least = least_gain * start.figures.cycles
            if start.mapping.template.sequencers > 1 or least <= effort.few_cycles:
                least = 0.0
            for change in _new_changes(start, seen, most if statements > effort.short else None, least, effort):
                made = judged(change, judge, most_cycles(slowest, effort))
                if made is not None and made.aim(effort) <= slowest:
                    where = _changed(start.mapping, change)
                    tried[where] = min(made, tried.get(where, made), key=lambda each: each.merit(effort))
        beam = sorted(tried.values(), key=lambda each: each.merit(effort))[: effort.change_beam]
        idle += 1
        if beam and beam[0].merit(effort) < best.merit(effort):
            if best.aim(effort) - beam[0].aim(effort) >= least_gain * best.aim(effort):
                idle = 0
            best = beam[0]
    # A chain leaves other changes of its statements no room, so chains come last.
    return followed(followed(best, undivided, judge, effort), joined, judge, effort)


def _new_changes(start: Judged, seen: set[str], most: int | None, least: float, effort: Effort) -> list[Mapping]:
    """Return the changes of a mapping that are not among `seen`, and add them there.

    Those are left out that cannot shorten the waiting by `least` cycles. If there are still more than `most`, those
    are left out, and not seen, that can shorten it the least.
    """
    unseen: dict[str, Mapping] = {}
    for change in changes(start.mapping, effort):
        if (key := repr(change)) not in seen:
            unseen.setdefault(key, change)
    if most is not None:
        hopes = {key: _waiting(start, change) for key, change in unseen.items()}
        best = set(sorted(unseen, key=lambda key: -hopes[key])[:most])
        unseen = {key: change for key, change in unseen.items() if key in best and hopes[key] >= least}
    seen.update(unseen)
    return list(unseen.values())


def _waiting(start: Judged, change: Mapping) -> int:
    """Return the cycles that the busiest unit waits for the statements that a change computes in another way, and for
    those that read their results. The change moves nothing else, so it can hardly save more.
    """
    graph, changed = start.mapping.graph, set(_changed(start.mapping, change))
    targets = {graph.statements[number].target for number in changed}
    touched = changed | {statement.id for statement in graph.statements if targets.intersection(statement.sources)}
    return sum(start.figures.waits[number] for number in touched)


def followed(
    best: Judged, kind: Callable[[Mapping, Effort], Iterator[Mapping]], judge: Judge, effort: Effort
) -> Judged:
    """Apply changes of one kind for as long as one of them makes the mapping better."""
    for change in kind(best.mapping, effort):
        # What is weighed is at least the cycles.
        made = judged(change, judge, most_cycles(best.merit(effort)[0], effort))
        if made is not None and made.merit(effort) < best.merit(effort):
            return followed(made, kind, judge, effort)
    return best


def _changed(before: Mapping, after: Mapping) -> tuple[int, ...]:
    """Find the statements, by number, that two mappings compute in different ways."""
    fits = zip(before.fits, after.fits, strict=True)
    return tuple(number for number, (one, other) in enumerate(fits) if one != other)
