"""Measuring models on every part of the data, and keeping those that are best on the validation part."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from tabla.base.arrays import Arrays
from tabla.build.arrays import Samples
from tabla.graph.compiled.plans import Evaluators
from tabla.graph.format import Format
from tabla.graph.graph import Graph
from tabla.graph.prediction import Prediction
from tabla.learn.data.split import Divided
from tabla.learn.measure import Measure, Score

Words = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Parts:
    """The measures of the parts of the data. All of them use the loss and the metric that the training part chose."""

    training: Measure
    validation: Measure | None = None
    test: Measure | None = None

    @staticmethod
    def of(
        graph: Graph,
        prediction: Prediction,
        number: Format,
        *,
        metric: str | None,
        parts: Divided,
        words: Callable[[Samples], Mapping[str, Words]],
        evaluators: Evaluators,
        classes: tuple[str, ...] | None = None,
    ) -> Parts:
        """Prepare the measures. `words` turns real numbers into words of the format.

        `classes` are the names of the classes that the labels mean, if they have names.

        Labels of a held-out part that are no classes, where those of the training part are, are a `TablaError`.
        """
        first = parts.training
        measure = Measure.of(
            graph, prediction, number, metric=metric, samples=first.arrays, words=words(first), evaluators=evaluators
        )
        training = replace(measure, metric=measure.metric.with_names(classes))

        def held_out(samples: Samples | None, name: str) -> Measure | None:
            if samples is None:
                return None
            labels = samples.arrays[prediction.label]
            if training.metric.classes is not None:
                training.metric.classes.check(labels, name, samples.place)
            return replace(training, labels=labels, samples=samples.arrays, words=words(samples))

        return Parts(
            training=training,
            validation=held_out(parts.validation, "validation"),
            test=held_out(parts.test, "test"),
        )

    @property
    def format(self) -> Format:
        """The number format of the words."""
        return self.training.format

    def of_words(self, models: Mapping[str, Words]) -> Score:
        """Return the scores of models given as words, evaluated in the number format."""
        return self._each(lambda measure: measure.of_words(models))

    def of_reals(self, models: Arrays) -> Score:
        """Return the scores of models given as real numbers, evaluated in float64."""
        return self._each(lambda measure: measure.of_reals(models))

    def _each(self, score: Callable[[Measure], Score]) -> Score:
        return replace(
            score(self.training),
            validation=score(self.validation) if self.validation else None,
            test=score(self.test) if self.test else None,
        )


@dataclass(slots=True, kw_only=True, eq=False)
class Best:
    """The models with the smallest validation loss so far, and whether it is time to stop.

    Of models with the same loss, those of the earliest epoch count; a loss that is no number is never the smallest.
    With a `patience` of None the last models are kept, and training never stops early. Neither choice sees a test part.
    """

    patience: int | None
    epoch: int = field(default=0, init=False)
    float64_epoch: int = field(default=0, init=False)
    models: Mapping[str, Words] = field(default_factory=dict, init=False)
    _losses: tuple[float, float] = field(default=(math.inf, math.inf), init=False)

    def see(self, epoch: int, machine: Score, reference: Score, models: Mapping[str, Words]) -> bool:
        """Take the models of an epoch into account, and return whether training should stop.

        `machine` and `reference` are the scores of the accelerator and of float64. The accelerator alone decides when
        to stop; float64 keeps its own best epoch.
        """
        ours, theirs = self._losses
        ours_now, theirs_now = _validation_loss(machine), _validation_loss(reference)
        if self.patience is None or not epoch or ours_now < ours:
            self.epoch, self.models, ours = epoch, models, ours_now
        if self.patience is None or not epoch or theirs_now < theirs:
            self.float64_epoch, theirs = epoch, theirs_now
        self._losses = ours, theirs
        return self.patience is not None and epoch - self.epoch >= self.patience


def _validation_loss(score: Score) -> float:
    if score.validation is None or not math.isfinite(score.validation.loss):
        return math.inf
    return score.validation.loss
