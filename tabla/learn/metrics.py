"""Metrics: functions of predictions and labels, used as the loss of the curve and as the final figure."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from tabla.base.arrays import Reals
from tabla.base.source import TablaError
from tabla.learn.data.classes import Classes


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A metric. `of` takes predictions and labels, both with a leading axis of samples, and returns a number.

    If `percent` is true, the number is a share from 0 to 1 and should be large; otherwise it is an error and should be
    small, except for ``r2``. `classes` are those that an accuracy tells apart.
    """

    name: str
    of: Callable[[Reals, Reals], float]
    percent: bool = False
    classes: Classes | None = None

    def with_names(self, names: tuple[str, ...] | None) -> Metric:
        """Return the metric with `names` for its classes, if it has classes and they are as many."""
        if self.classes is None or names is None or len(names) != self.classes.count:
            return self
        return replace(self, classes=replace(self.classes, given=names))

    def show(self, value: float) -> str:
        """Return a value of the metric as text for people."""
        if not math.isfinite(value):
            return "no number"
        return f"{100 * value:.2f} %" if self.percent else f"{value:.6g}"


def _mse(predicted: Reals, labels: Reals) -> float:
    return float(np.mean((predicted - labels) ** 2))


def _mae(predicted: Reals, labels: Reals) -> float:
    return float(np.mean(np.abs(predicted - labels)))


def _r2(predicted: Reals, labels: Reals) -> float:
    spread = float(np.sum((labels - labels.mean(axis=0)) ** 2))
    # The mean of equal numbers may be rounded, and then their spread is not exactly 0.
    if not np.ptp(labels, axis=0).any():
        raise TablaError("metric r2 has no meaning: all labels are equal", hint="use --metric mse")
    return 1 - float(np.sum((predicted - labels) ** 2)) / spread


def _hinge(predicted: Reals, labels: Reals) -> float:
    return float(np.mean(np.maximum(0.0, 1 - predicted * labels)))


MSE = Metric(name="mse", of=_mse)
HINGE = Metric(name="hinge", of=_hinge)
PLAIN = {m.name: m for m in (MSE, HINGE, Metric(name="mae", of=_mae), Metric(name="r2", of=_r2))}
NAMES = ("accuracy", *PLAIN)
SCORES = ("accuracy", "r2")
"""The metrics that can be counted in points."""


def accuracy_for(labels: Reals, *, margin: bool = False) -> Metric | None:
    """Return the accuracy that fits the labels, or None if the labels are no classes.

    If each label is a row with a single 1, and 0 or -1 elsewhere, the largest element of the prediction names its
    class. If the labels are 0 and 1, a prediction of at least 0.5 means 1. If the labels are -1 and 1, a prediction of
    at least 0 means 1. With a `margin` the sign of the prediction counts, so labels that are all 1 are of -1 and 1.
    """
    classes = Classes.of(labels, margin=margin)
    if classes is None:
        return None

    def accuracy(predicted: Reals, labels: Reals) -> float:
        return float(np.mean(classes.numbers(predicted) == classes.numbers(labels)))

    return Metric(name="accuracy", of=accuracy, percent=True, classes=classes)


def no_classes(instead: str) -> TablaError:
    """Return the error of an accuracy for labels that are no classes. The cure is the metric `instead`."""
    return TablaError(
        "accuracy needs labels that are classes: 0 and 1, -1 and 1, or one 1 in each row",
        hint=f"use --metric {instead}, or change the labels",
    )


def choose(name: str | None, labels: Reals, *, margin: bool = False) -> Metric:
    """Return the metric called `name`; `margin` says that the sign of the prediction names the class.

    Without a name it is the one that fits the labels: accuracy for classes, else the mean squared error. An unknown
    name, and accuracy for labels that are no classes, are a `TablaError`.
    """
    if name in PLAIN:
        return PLAIN[name]
    accuracy = accuracy_for(labels, margin=margin)
    if name == "accuracy" and accuracy is None:
        raise no_classes("mse")
    if name not in (None, "accuracy"):
        raise TablaError(f"unknown metric '{name}'", hint=f"use one of {', '.join(NAMES)}")
    return accuracy or MSE
