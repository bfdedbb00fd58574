"""Made-up data that fits any program: random inputs, with the labels that hidden models predict for them."""

from __future__ import annotations

from math import prod, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabla.base.source import TablaError
from tabla.build.arrays import MOST_DRAWN, shapes_of
from tabla.build.inference import chosen_prediction
from tabla.driver import Build
from tabla.graph.positions import valid_positions

SAMPLES = 400
SEED = 2026
_REACH = 3.0
"""Inputs are normal, and cut off at so many standard deviations, so that few of them leave the number format."""
_LENGTH = 16.0
"""An input of more numbers than this has smaller ones, so that its squared length is the same. Steps of usual learning
rates then come nearer to the aim; they would jump over it if the length grew with the numbers."""
_BIAS = 0.25


def made_up(build: Build) -> dict[str, NDArray[Any]]:
    """Return `SAMPLES` samples of every input and label of a program that learns, the same ones each time.

    Inputs are normal, and numbers of rows are any of these. A label is what the program predicts in float64 with models
    that are drawn once; where the program multiplies its prediction by the label, as a support vector machine does, the
    label is 1 or -1. A program without such a prediction, or with several labels, is a `TablaError`.
    """
    inputs, labels = shapes_of(build.sample, "input"), shapes_of(build.sample, "label")
    if len(labels) != 1:
        raise TablaError(f"no data can be made up for a program with {len(labels)} labels", hint="choose other data")
    _, prediction = chosen_prediction(build, None)
    models = shapes_of(build.sample, "model")
    numbers = SAMPLES * sum(map(prod, inputs.values())) + sum(map(prod, models.values()))
    if numbers > MOST_DRAWN:
        raise TablaError(f"the program needs {numbers:,} made-up numbers, which are too many", hint="use smaller sizes")
    chance = np.random.default_rng(SEED)
    arrays: dict[str, NDArray[Any]] = {
        name: np.clip(chance.normal(size=(SAMPLES, *shape)), -_REACH, _REACH) * min(1.0, sqrt(_LENGTH / prod(shape)))
        for name, shape in sorted(inputs.items())
    }
    positions = valid_positions(build.lowered, build.integers & inputs.keys(), build.format)
    arrays |= {name: chance.integers(low, high + 1, arrays[name].shape) for name, (low, high) in positions.items()}
    # A sum over the last axis is then about as large as an input, and a bias is smaller than the sum.
    hidden = {
        name: chance.normal(size=shape) * (1 / sqrt(shape[-1]) if shape else _BIAS)
        for name, shape in sorted(models.items())
    }
    part = build.inference(hidden)
    (found,) = (values for name, values in part.evaluate(arrays, float64=True).items() if name == prediction.name)
    if prediction.margin:
        found = np.where(found < 0, -1.0, 1.0)
    return {**arrays, prediction.label: found.reshape(SAMPLES, *labels[prediction.label])}
