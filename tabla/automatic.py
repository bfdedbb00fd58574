"""``--format auto``: choosing the number format of a program from its data.

The program is lowered for wide words first, because its values in float64 do not depend on the format. The choice
itself is :mod:`tabla.training.format_choice`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from tabla.given import Data, Given
from tabla.ir.format import Format, width_of
from tabla.learning import Start, learning_start
from tabla.options import Options
from tabla.parameters import checked_whole
from tabla.passes.model_guard import largest_allowed
from tabla.runs import inputs_of, steps_of
from tabla.source import TablaError, TablaValueError
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
    return chosen_by(made, options, learning_survey(wide, start_of(wide), epochs))


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
    return chosen_by(made, options, _survey(wide, found, models, 1))


def for_build(
    made: Made,
    options: Options,
    data: Given | None,
    *,
    first_epochs: int = 10,
    first_seed: int | None = None,
    **about_data: Any,
) -> Chosen:
    """Return the options with the format that fits a training run on `data`, or else a pass over the options' inputs.

    `about_data` are parameters of :func:`tabla.learning.learning_start`, and ``epochs``, which is `first_epochs` where
    it is None. Models that the inputs lack are drawn by `first_seed`, or are a `TablaError` if there is none. Whatever
    is given is a `TablaError` where nothing is chosen by it.
    """
    given = {name: value for name, value in about_data.items() if not _is_default(value)}
    if is_automatic(options) and data is not None:
        epochs = given.pop("epochs", first_epochs)
        return for_learning(made, options, lambda wide: learning_start(wide, data, **given), epochs)
    if is_automatic(options) and options.inputs is not None and given.keys() <= {"weights", "seed", "samples"}:
        return for_inputs(made, options, options.inputs, **{"seed": first_seed, **given})
    for name in ["data"] * (data is not None) + list(given):
        option = f"--{name.replace('_', '-')}"
        hint = "add --data FILE, in Python data=..." if is_automatic(options) else "add --format auto"
        raise TablaValueError(f"{option} has a meaning only where data choose the format", hint=hint)
    return options, None


def _is_default(value: object) -> bool:
    # Values may be arrays or data frames, which are not compared as a whole; and a seed of 0 is no default.
    return value is None or value is False or (isinstance(value, tuple | list) and not value)


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


def chosen_by(made: Made, options: Options, found: Survey) -> tuple[Options, FormatChoice]:
    """Return the options, whose format is left to the data, with the format that fits the values of a survey."""
    width = width_of(options.format or "")
    assert width is not None

    def largest_guard(number: Format) -> int:
        return largest_allowed(made(replace(options, format=str(number), model_guard=None)).lowered, number)

    choice = found.choose(width, guard=options.model_guard, largest_guard=largest_guard)
    return replace(options, format=str(choice.format), model_guard=choice.guard), choice
