"""``--format auto``: choosing the number format of a program from its data.

The program is lowered for wide words first, because its values in float64 do not depend on the format. The choice
itself is :mod:`tabla.training.format_choice`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from tabla.given import Data, Given
from tabla.ir.format import Format, width_of
from tabla.learning import Start
from tabla.options import Options
from tabla.parameters import checked_whole
from tabla.passes.model_guard import largest_allowed
from tabla.runs import inputs_of, steps_of
from tabla.source import TablaError
from tabla.stages import Stages
from tabla.training.arrays import Reals, Samples
from tabla.training.format_choice import FormatChoice, Survey, survey

Made = Callable[[Options], Stages]
"""Makes the stages of the program for some options."""
Chosen = tuple[Options, FormatChoice | None]
"""The options of the build, and how their format was chosen, if it was chosen from data."""

_WIDE = ("q16.16", "q8.24", "q24.8", "q4.28", "q2.30")
"""Formats of the widest words. The first one that holds the constants of the program serves to read it."""


def is_automatic(options: Options) -> bool:
    """Return whether the options leave the number format to the data. Raises `TablaError` for a width of no word."""
    return options.format is not None and width_of(options.format) is not None


def for_learning(made: Made, options: Options, start_of: Callable[[Stages], Start], epochs: int) -> Chosen:
    """Return the options with the format that fits a training run, if they leave the format to the data.

    `start_of` returns what the run starts from (:func:`tabla.learning.learning_start`). Only its training part is
    looked at, for as many `epochs`, 1 or more. Values that no format of the width holds are a `TablaError`.
    """
    if not is_automatic(options):
        return options, None
    wide = wide_stages(made, options)
    return _chosen(made, options, learning_survey(wide, start_of(wide), epochs))


def learning_survey(wide: Stages, start: Start, epochs: int) -> Survey:
    """Return the values that a training run from `start` takes, in the stages that `wide_stages` returns."""
    passes = checked_whole("epochs", epochs) if wide.lowered.updates else 1
    return _survey(wide, start.ready.parts.training, start.models, passes)


def for_inputs(
    made: Made,
    options: Options,
    inputs: Given,
    *,
    samples: int | None = None,
    seed: int | None = None,
    weights: Data | None = None,
) -> Chosen:
    """Return the options with the format that fits one pass over `inputs`, if they leave the format to the data.

    The parameters are those of :func:`tabla.runs.evaluate`.
    """
    if not is_automatic(options):
        return options, None
    wide = wide_stages(made, options)
    found, models = inputs_of(wide, inputs, samples, seed, weights)
    return _chosen(made, options, _survey(wide, found, models, 1))


def wide_stages(made: Made, options: Options) -> Stages:
    """Return the stages of the program in the first format of wide words that holds its constants.

    A program with integers is a `TablaError`.
    """
    fault: TablaError | None = None
    for text in _WIDE:
        try:
            wide = made(replace(options, format=text, model_guard=None))
            _ = wide.lowered
        except TablaError as found:
            fault = fault or found
            continue
        if wide.reading.integers:
            name = sorted(wide.reading.integers)[0]
            raise TablaError(
                f"'{name}' holds integers, and --format {options.format} chooses for real numbers alone",
                hint="name a format, such as --format q16.16: its integers have as many bits as its words",
            )
        return wide
    assert fault is not None
    raise fault


def _survey(wide: Stages, found: Samples, models: Mapping[str, Reals], epochs: int) -> Survey:
    size = wide.lowered.samples
    count = found.count // size
    learnt = {name: array[: count * size] for name, array in found.arrays.items()}
    return survey(wide.lowered, steps_of(wide, learnt), models, count=count, epochs=epochs, part=found.arrays)


def _chosen(made: Made, options: Options, found: Survey) -> Chosen:
    width = width_of(options.format or "")
    assert width is not None

    def largest_guard(number: Format) -> int:
        return largest_allowed(made(replace(options, format=str(number), model_guard=None)).lowered, number)

    choice = found.choose(width, guard=options.model_guard, largest_guard=largest_guard)
    return replace(options, format=str(choice.format), model_guard=choice.guard), choice
