"""The course of an exploration: all points quickly, and those of the front again at the effort of the user's builds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any, Protocol

from tabla.base import progress
from tabla.base.source import TablaError
from tabla.build.cost import clock_on
from tabla.learn.explore.candidate import Candidate, Part
from tabla.learn.explore.command_line import words_of
from tabla.learn.explore.question import Question, Record
from tabla.learn.explore.records import Records
from tabla.learn.explore.result import Exploration
from tabla.learn.explore.space import Point, Space, Task
from tabla.schedule.mapping.effort import DEFAULT_EFFORT

QUICK = 0
"""The effort at which all points are compiled first."""
_NEAR = 1.25
"""A quick schedule of at most so many times the bound is taken for one that a longer search makes no better."""


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

    With data, every number format learns first. Every point is compiled at the lowest effort, and once more for each
    part that has too few block RAMs for what came of it. Then the points of the front are compiled at the default
    effort, which may change the front, until no point of the front is without these figures. With `synthesise`, Yosys
    and nextpnr confirm the front. A program of which every point is refused is a `TablaError`.
    """
    course = _Course(question, space, tuple(parts), workers, Records.of(folder, question.sum), synthesise)
    points = tuple(space.points())
    if question.data is not None:
        # The data come first: what is wrong with them is wrong with every point.
        course.do_some([Task(kind="learn", point=words) for words in dict.fromkeys(p.words for p in points)], "formats")
    course.do_some([Task(kind="build", point=p, effort=QUICK) for p in points if course.learns(p)], "points")
    course.do(course.unfitting(), "points for parts")
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

    def unfitting(self) -> list[Task]:
        """Return the builds of points for a part that is too small for what was made for no part."""
        tasks = list[Task]()
        for part, point in product(self.parts, self.space.points()):
            task, figures = self._built(point, part)
            if not task.made_for and _exceeds(figures, part):
                tasks.append(replace(task, made_for=part.device.part))
        return tasks

    def wanted(self) -> list[Task]:
        """Return the tasks that the front still lacks. A point that was made for its part stays so.

        A point whose quick schedule is far from its bound may be on the front once it is searched for longer. So the
        front is that of the bounds, until every point of it has the figures of the default effort.
        """
        outcome, tasks = self.outcome(hoping=True), self.unfitting()
        for part in self.parts:
            for each in outcome.front(part):
                task = replace(self._built(each.point, part)[0], effort=DEFAULT_EFFORT)
                if task.key not in self.records.found:
                    tasks.append(task)
                elif self.synthesise:
                    tasks.append(_synthesis(task, part))
        return [task for task in dict.fromkeys(tasks) if task.key not in self.records.found]

    def outcome(self, *, hoping: bool = False) -> Exploration:
        """Return what the figures say that are there. With `hoping`, quick schedules that are far from their bounds
        take the cycles of these.
        """
        metric = next((f["metric_name"] for f in self.records.found.values() if "metric_name" in f), "")
        asked = metric if self.question.data is not None else ""
        return Exploration(
            name=self.question.name,
            points=tuple(self._candidate(point, part, hoping) for part in self.parts for point in self.space.points()),
            metric=asked,
        )

    def keys(self, found: Exploration) -> Iterator[str]:
        """Yield the keys of all tasks in the order of the points."""
        for each in found.points:
            for effort, made_for in product((QUICK, DEFAULT_EFFORT), ("", each.part.device.part)):
                yield Task(kind="build", point=each.point, effort=effort, made_for=made_for).key
            yield Task(kind="learn", point=each.point.words).key

    def _candidate(self, point: Point, part: Part, hoping: bool = False) -> Candidate:
        task, built = self._built(point, part)
        learnt = self.records.found.get(Task(kind="learn", point=point.words).key, {})
        synth = _synthesis(task, part)
        confirmed = self.records.found.get(synth.key, {}) if self.synthesise else {}
        refused = next((figures for figures in (built, learnt, confirmed) if "refused" in figures), {})
        found = Candidate(
            point=point,
            part=part,
            effort=task.effort,
            command=tuple(words_of(self.question, point, task.effort, task.made_for)),
            made_for_part=bool(task.made_for),
        )
        if refused:
            return replace(found, refused=refused["refused"], cure=refused["cure"])
        return replace(
            found,
            cycles=built["cycles"] * (_hope(built["ratio"]) if hoping and task.effort == QUICK else 1),
            latency=built["latency"],
            resources=confirmed.get("resources", built["resources"]),
            megahertz=confirmed.get("megahertz", clock_on(built["megahertz"], part.device, part.grade)),
            metric=learnt.get("metric"),
            confirmed=bool(confirmed),
        )

    def _built(self, point: Point, part: Part) -> tuple[Task, Mapping[str, Any]]:
        """Return the build of a point for a part, and its figures: that which was made for the part if there is one,
        at the highest effort that there is. A point whose words do not hold the data has no figures.
        """
        if not self.learns(point):
            return Task(kind="build", point=point, effort=DEFAULT_EFFORT), {}
        for made_for, effort in product((part.device.part, ""), (DEFAULT_EFFORT, QUICK)):
            task = Task(kind="build", point=point, effort=effort, made_for=made_for)
            if task.key in self.records.found:
                return task, self.records.found[task.key]
        raise AssertionError(f"{point.name} was not compiled")


def _synthesis(build: Task, part: Part) -> Task:
    """Return the task that confirms a build on a part."""
    return replace(build, kind="synth", part=part.name)


def _hope(ratio: float) -> float:
    """Return the share of its cycles that a quick schedule may come down to, which takes `ratio` times the bound."""
    return 1 / ratio if ratio > _NEAR else 1.0


def _exceeds(built: Mapping[str, Any], part: Part) -> bool:
    """Return whether a build takes more block RAMs than a part has."""
    return "resources" in built and built["resources"]["RAM"] > part.device.capacity("RAM")
