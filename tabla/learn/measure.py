"""Measuring models: the loss and the metric of what the program predicts for all samples, without learning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from tabla.base.arrays import Arrays, Reals
from tabla.graph.compiled.plans import NUMPY, Evaluators, RealsPlan, WordsPlan
from tabla.graph.format import Format
from tabla.graph.graph import Graph
from tabla.graph.passes.inference import inference
from tabla.graph.prediction import Prediction
from tabla.graph.words import WordType
from tabla.learn.data.classes import MOST_CLASSES, Confusion
from tabla.learn.events import Events, events
from tabla.learn.metrics import HINGE, MSE, Metric, choose

Words = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """The loss and the metric of some models over all samples of a part of the data.

    `confusion` is the confusion matrix of classes: how often each class (the row) was taken for each (the column).
    `validation` and `test` are the scores of the same models over the samples that are held out, if there are any.
    `events` are those of computing the predictions; float64 has none.
    """

    loss: float
    metric: float
    confusion: Confusion | None = None
    validation: Score | None = None
    test: Score | None = None
    events: Events | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Measure:
    """What is measured: a prediction against its labels, with a loss for the curve and a metric for the final figure.

    `samples` and `words` are the same inputs, as real numbers and as words of the format.
    """

    prediction: Prediction
    loss: Metric
    metric: Metric
    labels: Reals
    samples: Arrays
    words: Mapping[str, Words]
    format: Format
    _graph: Graph = field(repr=False)
    _fixed: WordsPlan = field(repr=False)
    _float: RealsPlan = field(repr=False)

    @staticmethod
    def of(
        graph: Graph,
        prediction: Prediction,
        number: Format,
        *,
        metric: str | None,
        samples: Arrays,
        words: Mapping[str, Words],
        evaluators: Evaluators = NUMPY,
    ) -> Measure:
        """Choose the loss and the metric by the labels, and prepare both evaluations with `evaluators`.

        `metric` is the name of a metric, or None for the one that fits the labels.
        """
        labels = samples[prediction.label]
        frozen = inference(graph, prediction)
        return Measure(
            prediction=prediction,
            loss=HINGE if prediction.margin else MSE,
            metric=choose(metric, labels, margin=prediction.margin),
            labels=labels,
            samples=samples,
            words=words,
            format=number,
            _graph=frozen,
            _fixed=evaluators.fixed(frozen, number),
            _float=evaluators.real(frozen, number),
        )

    def of_words(self, models: Mapping[str, Words]) -> Score:
        """Return the score of models given as words, evaluated in the number format."""
        self._fixed.load(models)
        tensor = self.prediction.tensor
        run = self._fixed.run(self.words, [tensor])
        values = WordType.of(self._graph.tensors[tensor], self.format).to_reals(run.kept[tensor])
        score = self.score(values)
        return replace(score, events=events(self._graph, run.counts))

    def of_reals(self, models: Arrays) -> Score:
        """Return the score of models given as real numbers, evaluated in float64."""
        self._float.load(models)
        tensor = self.prediction.tensor
        return self.score(self._float.run(self.samples, [tensor]).kept[tensor])

    def score(self, predicted: Reals) -> Score:
        """Return the score of predictions, which have a leading axis of samples."""
        # The values of a run that diverged may be too large for float64; their score is then infinite or no number.
        with np.errstate(over="ignore", invalid="ignore"):
            loss, metric = self.loss.of(predicted, self.labels), self.metric.of(predicted, self.labels)
        classes = self.metric.classes
        few = classes is not None and classes.count <= MOST_CLASSES
        confusion = classes.confusion(predicted, self.labels) if classes and few else None
        return Score(loss=loss, metric=metric, confusion=confusion)
