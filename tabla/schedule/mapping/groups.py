"""Candidates of one graph on one array, of which no more are judged than may be worth it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import inf

from tabla.schedule.mapping.effort import Effort
from tabla.schedule.mapping.judge import Judge, Judged, judged, most_cycles
from tabla.schedule.mapping.mapping import Mapping


class Group:
    """The candidates of one number of roots and one cut, those with the best estimate first.

    `found` has those that were judged, the fastest first. In the beginning this is the first candidate that can be
    scheduled. It is empty if there is none. A group that is `patient` is never hopeless in a short program, whose
    candidates may differ much.
    """

    def __init__(self, mappings: Iterable[Mapping], judge: Judge, effort: Effort, *, patient: bool = False) -> None:
        self.found: list[Judged] = []
        self._judge = judge
        self.effort = effort
        self._patient = patient
        self._waiting: Iterator[Mapping] = iter(mappings)
        for mapping in self._waiting:
            self._add(mapping)
            if self.found:
                break

    def judge_others(self, least: float) -> None:
        """Judge the candidates that wait, unless the group is hopeless beside one that takes `least` weighed cycles."""
        effort = self.effort
        for mapping in self._waiting:
            if self.found[0].merit(effort)[0] > self._hopeless(mapping) * least:
                break
            self._add(mapping)

    def _hopeless(self, mapping: Mapping) -> float:
        """Return the limit of a group with such a mapping, in multiples of the fewest cycles."""
        if len(mapping.graph.statements) > self.effort.short:
            return self.effort.hopeless_of_long
        return inf if self._patient else self.effort.hopeless

    def _add(self, mapping: Mapping) -> None:
        """Judge a mapping. One that takes too many cycles to be a start of changes may be left out."""
        made = judged(mapping, self._judge, most_cycles(self._slowest_start(), self.effort))
        if made is not None:
            self.found = sorted([*self.found, made], key=lambda each: each.merit(self.effort))

    def _slowest_start(self) -> float:
        """Return the cycles beyond which no further mapping can be a start of changes.

        A start is near the fastest one, or its promise is asked for.
        """
        effort, found = self.effort, self.found
        asked = max(1, effort.hastened)
        if len(found) < asked:
            return inf
        return max(found[asked - 1].merit(effort)[0], effort.far * found[0].merit(effort)[0])


def all_judged(groups: Sequence[Group], effort: Effort) -> list[list[Judged]]:
    """Judge the candidates of all groups that are not hopeless. Return what was judged of each group."""
    kept = [group for group in groups if group.found]
    for group in kept:
        group.judge_others(min(each.found[0].merit(effort)[0] for each in kept))
    return [group.found for group in kept]
