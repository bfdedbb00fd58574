"""The course of an exploration: all points quickly, and those of the front again at the effort of the user's builds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from tabla.base import progress
from tabla.base.source import TablaError
from tabla.learn.explore.candidate import Candidate, Part
from tabla.learn.explore.command_line import words_of
from tabla.learn.explore.question import Question, Record
from tabla.learn.explore.records import Records
from tabla.learn.explore.result import Exploration
from tabla.learn.explore.space import Point, Space, Task
from tabla.schedule.mapping.effort import DEFAULT_EFFORT

QUICK = 0
"""The effort at which all points are compiled first."""


class Workers(Protocol):
    """Whoever answers tasks, in any order: the cores of this machine, or a cluster."""

    def run(self, question: Question, tasks: Sequence[Task]) -> Iterator[tuple[Task, Record]]:
        """Yield the tasks with their figures as they are made."""
        ...


def explore_space(
    question: Question,
    space: Space,
    parts: Sequence[Part],
    workers: Workers,
    *,
    folder: Path | None = None,
    synthesise: bool = False,
) -> Exploration:
    """Explore a space. `folder` keeps the figures, and an exploration that was interrupted goes on from them.

    With data, every number format learns first. Every point is compiled at the lowest effort. Then the points of the
    front are compiled at the default effort, which may change the front, until no point of the front is without these
    figures. With `synthesise`, Yosys and nextpnr confirm the front. A program of which every point is refused is a
    `TablaError`.
    """
    course = _Course(question, space, tuple(parts), workers, Records.of(folder, question.sum), synthesise)
    points = tuple(space.points())
    if question.data is not None:
        # The data come first: what is wrong with them is wrong with every point.
        course.do_some([Task(kind="learn", point=words) for words in dict.fromkeys(p.words for p in points)], "formats")
    course.do_some([Task(kind="build", point=p, effort=QUICK) for p in points if course.learns(p)], "points")
    while wanted := course.wanted():
        course.do(wanted, "points of the front")
    found = course.outcome()
    course.records.finish(course.keys(found))
    return found


@dataclass(frozen=True, slots=True)
class _Course:
    question: Question
    space: Space
    parts: tuple[Part, ...]
    workers: Workers
    records: Records
    synthesise: bool

    def do(self, tasks: Iterable[Task], stage: str) -> None:
        """Have those tasks answered that have no figures yet."""
        every = list(dict.fromkeys(tasks))
        left = [task for task in every if task.key not in self.records.found]
        done = len(every) - len(left)
        progress.tell(stage, done, len(every), "point")
        for task, figures in self.workers.run(self.question, left) if left else ():
            self.records.add(task.key, figures)
            done += 1
            progress.tell(stage, done, len(every), "point")

    def do_some(self, tasks: Sequence[Task], stage: str) -> None:
        """Have tasks answered. Raise `TablaError` with the reason of the last one if every one is refused."""
        self.do(tasks, stage)
        found = [self.records.found[task.key] for task in tasks]
        if all("refused" in figures for figures in found):
            self.records.discard()
            last = found[-1]
            raise TablaError(f"every point is refused; the last one: {last['refused']}", hint=last["cure"] or None)

    def learns(self, point: Point) -> bool:
        """Return whether the words of a point hold the data. Points that do not are not compiled."""
        return "refused" not in self.records.found.get(Task(kind="learn", point=point.words).key, {})

    def wanted(self) -> list[Task]:
        """Return the tasks that the front still lacks."""
        outcome, tasks = self.outcome(), list[Task]()
        for part in self.parts:
            for each in outcome.front(part):
                better = Task(kind="build", point=each.point, effort=DEFAULT_EFFORT)
                if better.key not in self.records.found:
                    tasks.append(better)
                elif self.synthesise:
                    tasks.append(replace(better, kind="synth", part=part.name))
        return [task for task in dict.fromkeys(tasks) if task.key not in self.records.found]

    def outcome(self) -> Exploration:
        """Return what the figures say that are there."""
        metric = next((f["metric_name"] for f in self.records.found.values() if "metric_name" in f), "")
        asked = metric if self.question.data is not None else ""
        return Exploration(
            name=self.question.name,
            points=tuple(self._candidate(point, part) for part in self.parts for point in self.space.points()),
            metric=asked,
        )

    def keys(self, found: Exploration) -> Iterator[str]:
        """Yield the keys of all tasks in the order of the points."""
        for each in found.points:
            for effort in (QUICK, DEFAULT_EFFORT):
                yield Task(kind="build", point=each.point, effort=effort).key
            yield Task(kind="learn", point=each.point.words).key

    def _candidate(self, point: Point, part: Part) -> Candidate:
        effort, built = self._built(point) if self.learns(point) else (DEFAULT_EFFORT, {})
        learnt = self.records.found.get(Task(kind="learn", point=point.words).key, {})
        synth = Task(kind="synth", point=point, effort=effort, part=part.name)
        confirmed = self.records.found.get(synth.key, {}) if self.synthesise else {}
        refused = next((figures for figures in (built, learnt, confirmed) if "refused" in figures), {})
        command = tuple(words_of(self.question, point, effort))
        found = Candidate(point=point, part=part, effort=effort, command=command)
        if refused:
            return replace(found, refused=refused["refused"], cure=refused["cure"])
        return replace(
            found,
            cycles=built["cycles"],
            latency=built["latency"],
            resources=confirmed.get("resources", built["resources"]),
            megahertz=confirmed.get("megahertz", _clock(built, part)),
            metric=learnt.get("metric"),
            confirmed=bool(confirmed),
        )

    def _built(self, point: Point) -> tuple[int, Mapping[str, Any]]:
        """Return the figures of a point at the highest effort that there is, and that effort."""
        for effort in (DEFAULT_EFFORT, QUICK):
            found = self.records.found.get(Task(kind="build", point=point, effort=effort).key)
            if found is not None:
                return effort, found
        raise AssertionError(f"{point.name} was not compiled")


def _clock(built: Mapping[str, Any], part: Part) -> float | None:
    """Return the estimated rate in MHz; None for a grade of which no rate was measured."""
    clocks: Mapping[str, float] = built["megahertz"]
    return clocks.get("5G" if "5G" in part.device.part else str(part.grade))
