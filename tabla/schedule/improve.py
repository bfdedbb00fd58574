"""Changes of a mapping that only an exact schedule can judge, tried one after the other."""

from __future__ import annotations

from collections.abc import Callable

from tabla.ir.graph import Graph
from tabla.mapping.changes import changes
from tabla.mapping.search import Mapping
from tabla.schedule.schedule import Schedule

BEAM, PATIENCE, DETOUR = 2, 1, 2
"""Changes go on from so many schedules, while so many rounds bring nothing, each for at most so many cycles more."""

Merit = tuple[float, int, int]


class Improvement:
    """A schedule on its way to a better one: words that lanes take as they are made, instead of a broadcast just in
    time, updates in parts that fill gaps; one statement at a time, from the best few of each round.

    `schedule` makes an exact schedule of a mapping, of which `merit` tells how good it is, less being better.
    """

    def __init__(
        self,
        start: Schedule,
        mapped: Graph,
        schedule: Callable[[Mapping], Schedule | None],
        merit: Callable[[Schedule], Merit],
    ) -> None:
        self.best = start
        self._mapped = mapped
        self._schedule = schedule
        self._merit = merit
        self._beam = [start]
        self._seen = {repr(start.mapping)}
        self._idle = 0

    def round(self) -> None:
        """Every change of the best few."""
        tried = []
        for start in self._beam:
            for change in changes(start.mapping, self._mapped, start.template.lanes):
                if repr(change) not in self._seen:
                    self._seen.add(repr(change))
                    made = self._schedule(change)
                    if made is not None and made.cycles <= start.cycles + DETOUR:
                        tried.append(made)
        self._beam = sorted(tried, key=self._merit)[:BEAM]
        better = bool(self._beam) and self._merit(self._beam[0]) < self._merit(self.best)
        self.best, self._idle = (self._beam[0], 0) if better else (self.best, self._idle + 1)

    def finish(self) -> Schedule:
        """The best, when further rounds find nothing better."""
        while self._beam and self._idle < PATIENCE:
            self.round()
        return self.best
