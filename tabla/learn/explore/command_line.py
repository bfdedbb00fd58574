"""The command that makes the accelerator of a point."""

from __future__ import annotations

from collections.abc import Iterator

from tabla.base.options import options_of, written
from tabla.build.options import ArrayOptions, Options
from tabla.languages.options import ProgramOptions
from tabla.learn.explore.question import Question
from tabla.learn.explore.space import Point
from tabla.schedule.mapping.effort import DEFAULT_EFFORT

_OF_POINTS = ("pes", "format", "model_guard", "minibatch", "effort")
"""What a point says itself."""


def words_of(question: Question, point: Point, effort: int, part: str = "") -> Iterator[str]:
    """Yield the words of the command ``tabla gen`` for a point, with the effort of its cycles and the part for which
    it was made, if there is one.
    """
    options, defaults = question.options, vars(Options())
    yield from ("tabla", "gen", question.file, "--pes", str(point.pes), "--format", point.format)
    if point.guard >= 0:
        yield from ("--model-guard", str(point.guard))
    if point.minibatch > 1:
        yield from ("--minibatch", str(point.minibatch))
    if effort != DEFAULT_EFFORT:
        yield from ("--effort", str(effort))
    if part:
        yield from ("--part", part)
    if options.infer and options.predicted is not None:
        yield from ("--predict", options.predicted)
    for record in (ArrayOptions, ProgramOptions):
        for name, option in options_of(record).items():
            value = getattr(options, name)
            if "gen" in option.commands and name not in _OF_POINTS and value != defaults[name]:
                yield from written(option, value)
