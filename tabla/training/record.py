"""The outcome of a training run, as a record, as text and as JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabla.training.arrays import Reals
from tabla.training.curve import DIVERGED, curve, diverged
from tabla.training.measure import Score
from tabla.training.metrics import Metric
from tabla.training.prediction import Prediction

SCHEMA = "tabla-train-1"


def comparison(what: str, predicted: int | float, simulated: int | float) -> str:
    """Return a line that compares a predicted number of cycles with the simulated one."""
    if not simulated:  # a run of a single sample has no steady state to count
        return f"{what:<24}{predicted} predicted"
    sign = "=" if predicted == simulated else "IS NOT"
    return f"{what:<24}{predicted} predicted {sign} {simulated} simulated"


def _numbers(score: Score) -> dict[str, float | None]:
    """Return a score for JSON, which has no infinite numbers: null stands for them."""
    values = {"loss": score.loss, "metric": score.metric}
    return {name: value if math.isfinite(value) else None for name, value in values.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Events:
    """The events of a whole run.

    An overflow is a saturated result. A domain error is an argument outside the domain of a function. `updates` counts
    all updates of model words. `zero_updates` counts those whose step was not 0 and yet did not change the word: the
    step was too small for the format. `where` names the values with overflows or domain errors.
    """

    overflows: int
    domain_errors: int
    updates: int
    zero_updates: int
    where: tuple[str, ...] = ()

    @property
    def clean(self) -> bool:
        """Whether there was no overflow, no domain error and no zero update, as ``--strict`` demands."""
        return not (self.overflows or self.domain_errors or self.zero_updates)

    def lines(self) -> list[str]:
        """Return the overflows and domain errors as two lines of text, with the names of the values that had them."""
        where = f" ({', '.join(self.where)})" if self.where else ""
        return [f"{'overflows':<24}{self.overflows}{where}", f"{'domain errors':<24}{self.domain_errors}"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Training:
    """The outcome of a training run.

    `machine` and `reference` are the scores of the accelerator and of float64: first those of the initial models, then
    those after each epoch. `cycles_predicted` and `cycles_simulated` are per sample in the steady state. The latencies
    are in cycles. `models` and `words` are the trained models of the accelerator, as real numbers and as words. The
    words of a wide model are its stored integers, with `model_guard` bits more.
    """

    name: str
    engine: str
    format: str
    pes: int
    samples: int
    minibatch: int
    epochs: int
    prediction: Prediction
    loss: Metric
    metric: Metric
    machine: tuple[Score, ...]
    reference: tuple[Score, ...]
    cycles_predicted: int | float
    cycles_simulated: int | float
    latency_predicted: int
    latency_simulated: int
    events: Events
    models: Mapping[str, Reals] = field(repr=False)
    words: Mapping[str, NDArray[np.int64]] = field(repr=False)
    model_guard: int = 0

    @property
    def agrees(self) -> bool:
        """Whether the accelerator came close to float64.

        The metric, if it is a share, must be within one percentage point. Otherwise the loss must be within 2 %.
        """
        ours, theirs = self.machine[-1], self.reference[-1]
        if self.metric.percent:
            return abs(ours.metric - theirs.metric) <= 0.01
        return abs(ours.loss - theirs.loss) <= 0.02 * abs(theirs.loss)

    def text(self, *, unicode: bool) -> str:
        """Return what ``tabla train`` prints. Without `unicode`, the curve is drawn in ASCII."""
        name, label = self.prediction.name, self.prediction.label
        what = f"label {label}" if self.prediction.residual else f"{name} against {label}"
        head = f"{self.name}: {self.samples} samples, {self.epochs} epochs"
        if self.minibatch > 1:
            head += f", steps of {self.minibatch} samples"
            head += f" ({self.samples % self.minibatch} left over)" if self.samples % self.minibatch else ""
        guard = f" and {self.model_guard} guard bits" if self.model_guard else ""
        lines = [f"{head}, {self.pes} PEs, {self.format}{guard}, {self.engine}"]
        if self.epochs:
            lines += ["", f"  {self.loss.name} of {what}, after each epoch"]
            lines += [curve([s.loss for s in self.machine], [s.loss for s in self.reference], unicode=unicode), ""]
        lines.append(f"{'':<24}{'accelerator':>14}{'float64':>14}")
        rows = [(self.loss, "loss")] if self.loss is self.metric else [(self.loss, "loss"), (self.metric, "metric")]
        for metric, kind in rows:
            pairs = [(self.machine[0], self.reference[0], " at first"), (self.machine[-1], self.reference[-1], "")]
            for ours, theirs, when in pairs[-1:] if not self.epochs else pairs:
                values = [metric.show(getattr(score, kind)) for score in (ours, theirs)]
                lines.append(f"{metric.name + when:<24}{values[0]:>14}{values[1]:>14}")
        lines += self._divergence()
        lines += ["", comparison("cycles per sample", self.cycles_predicted, self.cycles_simulated)]
        lines.append(comparison("latency", self.latency_predicted, self.latency_simulated))
        lines += self._events()
        return "\n".join(lines)

    @property
    def diverged(self) -> Mapping[str, int | None]:
        """The epoch in which the accelerator and float64 diverged (:func:`tabla.training.curve.diverged`), or None."""
        return {
            "accelerator": diverged([score.loss for score in self.machine]),
            "float64": diverged([score.loss for score in self.reference]),
        }

    def _divergence(self) -> list[str]:
        lines = [
            f"{who} diverged in epoch {epoch}: its {self.loss.name} stays above {DIVERGED} times the first one"
            for who, epoch in self.diverged.items()
            if epoch is not None
        ]
        cure = "hint: use a smaller --learning-rate, or scale the inputs and labels to the size of 1"
        return ["", *lines, cure] if lines else []

    def _events(self) -> list[str]:
        lines = self.events.lines()
        if self.events.updates:
            share = 100 * self.events.zero_updates / self.events.updates
            lines.append(
                f"{'zero updates':<24}{self.events.zero_updates} of {self.events.updates} ({share:.2f} %)"
                " steps too small for the format"
            )
        return lines

    def as_json(self) -> dict[str, Any]:
        """Return what ``tabla train --json`` writes."""
        return {
            "schema": SCHEMA,
            "name": self.name,
            "engine": self.engine,
            "format": self.format,
            **({"model_guard": self.model_guard} if self.model_guard else {}),
            "pes": self.pes,
            "samples": self.samples,
            "minibatch": self.minibatch,
            "epochs": self.epochs,
            "predict": self.prediction.name,
            "label": self.prediction.label,
            "loss": self.loss.name,
            "metric": self.metric.name,
            "accelerator": [_numbers(score) for score in self.machine],
            "float64": [_numbers(score) for score in self.reference],
            "diverged": dict(self.diverged),
            "cycles": {"predicted": self.cycles_predicted, "simulated": self.cycles_simulated},
            "latency": {"predicted": self.latency_predicted, "simulated": self.latency_simulated},
            "overflows": self.events.overflows,
            "domain_errors": self.events.domain_errors,
            "updates": self.events.updates,
            "zero_updates": self.events.zero_updates,
        }
