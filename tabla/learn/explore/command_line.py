"""The command that makes the accelerator of a point."""

from __future__ import annotations

from collections.abc import Iterator

from tabla.learn.explore.question import Question
from tabla.learn.explore.space import Point
from tabla.schedule.mapping.effort import DEFAULT_EFFORT

_WORDS = ("pes_per_pu", "sequencers", "stream_words", "model_words", "data_words", "interim_words", "learning_rate")
_TEXTS = ("template", "templates")


def words_of(question: Question, point: Point, effort: int) -> Iterator[str]:
    """Yield the words of the command ``tabla gen`` for a point, with the effort of its cycles."""
    options = question.options
    yield from ("tabla", "gen", question.source, "--pes", str(point.pes), "--format", point.format)
    if point.guard >= 0:
        yield from ("--model-guard", str(point.guard))
    if point.minibatch > 1:
        yield from ("--minibatch", str(point.minibatch))
    if effort != DEFAULT_EFFORT:
        yield from ("--effort", str(effort))
    for name in (*_WORDS, *_TEXTS):
        if (value := getattr(options, name)) is not None:
            yield from (f"--{name.replace('_', '-')}", str(value))
    for name, text in options.of_program.written_defines.items():
        yield from ("-D", f"{name}={text}")
    for name, size in options.sizes.items():
        yield from ("--size", f"{name}={size}")
    for name, shape in options.shapes.items():
        yield from ("--shape", f"{name}={','.join(map(str, shape))}")
    for name, argument in options.arguments.items():
        yield from ("--arg", f"{name}={argument}")
    if options.keep:
        yield from ("--keep", ",".join(options.keep))
    if options.inputs is not None:
        yield from ("--inputs", str(options.inputs))
    for result in options.results:
        yield from ("--result", result)
    if options.runtime_rate:
        yield "--runtime-rate"
