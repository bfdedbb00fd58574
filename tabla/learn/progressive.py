"""Judging a model while it learns: each sample is predicted before the model learns from it.

Online learners are judged in this way: every sample tests the model once, and then trains it (A. P. Dawid, "Present
position and potential developments: Some personal views: Statistical theory: The prequential approach", 1984).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabla.base.arrays import Reals
from tabla.base.source import TablaError
from tabla.build.arrays import Samples, sample_words, steps_of, without_steps
from tabla.build.inference import chosen_prediction
from tabla.build.stages import Stages
from tabla.graph.compiled.plans import Evaluators
from tabla.graph.passes.minibatch import minibatched
from tabla.graph.words import WordType, saturated
from tabla.learn.metrics import Metric, choose
from tabla.learn.options import LearnOptions

_POINTS = 20
"""A curve has so many points at most, at the ends of equal parts of the samples."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Progressive:
    """How well each sample was predicted just before the model learnt from it, in one pass over the samples.

    `values` are the predictions, with a leading axis of samples, in the order in which they were learnt from. `curve`
    has the running metric: the number of samples so far, and the `metric` over all of them. All samples of a minibatch
    are predicted by the same models.
    """

    name: str
    label: str
    metric: Metric
    values: Reals = field(repr=False)
    curve: tuple[tuple[int, float], ...] = field(repr=False)

    @property
    def samples(self) -> int:
        """The number of samples."""
        return len(self.values)

    @property
    def score(self) -> float:
        """The metric over all samples."""
        return self.curve[-1][1]

    def text(self) -> str:
        """Return the lines of a report: the metric over all samples, and the running metric."""
        head = f"{f'progressive {self.metric.name}':<24}{self.metric.show(self.score)}"
        half = [(count, value) for count, value in self.curve if count in _shown(self.samples)]
        running = ", ".join(f"{self.metric.show(value)} of {count}" for count, value in half)
        return f"{head}, each of {self.samples} samples predicted before its update\n{'running':<24}{running}"

    def as_json(self) -> dict[str, Any]:
        """Return the entry of a ``--json`` file."""
        finite = ([count, value if np.isfinite(value) else None] for count, value in self.curve)
        return {"metric": self.metric.name, "samples": self.samples, "curve": list(finite)}


def _ends(samples: int) -> list[int]:
    """Return the numbers of samples at which the curve has a point."""
    parts = min(_POINTS, samples)
    return sorted({samples * (part + 1) // parts for part in range(parts)})


def _shown(samples: int) -> list[int]:
    """Return the numbers of samples that the report shows: about each quarter."""
    ends = _ends(samples)
    return sorted({ends[max(0, len(ends) * quarter // 4 - 1)] for quarter in (1, 2, 3, 4)})


def judged(
    build: Stages,
    samples: Samples,
    models: Mapping[str, NDArray[np.int64]],
    learning: LearnOptions,
    classes: Mapping[str, tuple[str, ...]],
) -> Progressive:
    """Return how well `models`, as words, predict each of the `samples` before they learn from it.

    Nothing but the evaluation takes part, whose words are those of every engine. The samples fill whole minibatches.
    `classes` are the names of the classes of labels. A program without updates, and samples without the label that is
    predicted, are a `TablaError`.
    """
    if not build.lowered.updates:
        raise TablaError(
            f"'{build.reading.text.original.name}' learns nothing, so no sample comes before its update",
            hint="score its predictions with tabla test",
        )
    graph, prediction = chosen_prediction(build, learning.predict)
    if prediction.label not in samples.arrays:
        raise TablaError(f"the data has no label '{prediction.label}' to measure against", hint="add it to the data")
    step = minibatched(graph, build.lowered.samples)
    count = samples.count // step.samples
    plan = Evaluators.of(step, build.format, count).fixed(step, build.format)
    plan.load(models)
    ran = plan.run(steps_of(build, sample_words(build, samples)), [prediction.tensor], count)
    shaped = without_steps(build, {prediction.tensor: ran.kept[prediction.tensor]})[prediction.tensor]
    values = WordType.of(graph.tensors[prediction.tensor], build.format).to_reals(shaped)
    labels = samples.arrays[prediction.label]
    if prediction.residual:  # the step computes the difference alone, from the label inside the range of the format
        values = saturated(labels, build.format)[0] - prediction.residual * values
    metric = choose(learning.metric, labels, margin=prediction.margin).with_names(classes.get(prediction.label))
    curve = tuple((end, _measured(metric, values[:end], labels[:end])) for end in _ends(len(labels)))
    return Progressive(name=prediction.name, label=prediction.label, metric=metric, values=values, curve=curve)


def _measured(metric: Metric, values: Reals, labels: Reals) -> float:
    """Return the metric of some first samples; no number where it has no meaning for so few labels, as r2 may have."""
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            return metric.of(values, labels)
    except TablaError:
        return math.nan
