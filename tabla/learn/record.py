"""The outcome of a training run, as a record, as text and as JSON.

A loss curve is drawn with characters.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabla._version import VERSION
from tabla.graph.prediction import Prediction
from tabla.learn.data.classes import confusion_lines
from tabla.learn.data.recipe import LearntProgram, ModelRecipe
from tabla.learn.data.treated import Treated
from tabla.learn.events import Events
from tabla.learn.fleet.step_cost import StepCost
from tabla.learn.measure import Score
from tabla.learn.metrics import Metric
from tabla.learn.notebook import confusion_table, loss_curves, scored
from tabla.learn.progressive import Progressive

HEIGHT, WIDTH = 10, 60
_NARROWEST, _MARGIN = 20, 14
"""The fewest columns of a curve, and those that the numbers beside it take."""
DIVERGED = 10
"""A loss of more than so many times the loss of the initial models counts as diverged."""
LEAST = 0.01
"""Initial losses below this one count as so large. A model that starts at its optimum may leave it by a rounding."""


def diverged(losses: Sequence[float]) -> int | None:
    """Return the epoch in which a training run diverged; None if it did not.

    `losses` has the loss of the initial models, then the loss after each epoch. A run diverged if its last loss is not
    finite, or more than `DIVERGED` times the first one. The epoch is the first from which on every loss is so large.
    """
    limit = DIVERGED * max(losses[0], LEAST)
    epoch = None
    for number, loss in enumerate(losses):
        small = np.isfinite(loss) and loss <= limit
        epoch = None if small else number if epoch is None else epoch
    return epoch


def _row(value: float, low: float, high: float, height: int) -> int:
    """Return the row of a value, counted from 0 at the top."""
    if high <= low:
        return height - 1
    return round((high - value) / (high - low) * (height - 1))


def _spread(values: Sequence[float], width: int) -> list[float]:
    """Return `width` values, interpolated linearly between the given ones."""
    if len(values) == 1:
        return [values[0]] * width
    spread = []
    for k in range(width):
        at = k * (len(values) - 1) / max(1, width - 1)
        left = min(int(at), len(values) - 2)
        spread.append(values[left] + (at - left) * (values[left + 1] - values[left]))
    return spread


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """The losses of one part of the data, one for each epoch: those of the machine and those of float64."""

    machine: Sequence[float]
    reference: Sequence[float]


def curve(
    machine: Sequence[float],
    reference: Sequence[float],
    *,
    unicode: bool,
    validation: Pair | None = None,
    test: Pair | None = None,
    width: int = WIDTH,
    height: int = HEIGHT,
) -> str:
    """Draw the losses of the machine and of the float64 reference, one value for each epoch.

    `validation` and `test` are the losses of parts that are held out. The machine has a character for each part, and
    float64 has one for all. Where curves meet, the character of the machine is shown, and that of the test part before
    the others. `width` and `height` are in characters. A curve that diverged ends where it did, and the others alone
    set the scale.
    """
    marks = ("●", "▲", "○") if unicode else ("*", "^", "o")
    faint, bar, corner, dash = ("·", "│", "└", "─") if unicode else (".", "|", "+", "-")
    drawn = [(Pair(machine=machine, reference=reference), marks[0], "training")]
    drawn += [(validation, marks[1], "validation")] if validation else []
    drawn += [(test, marks[2], "test")] if test else []
    lines = [(pair.reference, faint) for pair, _, _ in drawn] + [(pair.machine, mark) for pair, mark, _ in drawn]
    shown = [losses for losses, _ in lines if diverged(losses) is None] or [losses for losses, _ in lines]
    scale = [loss for losses in shown for loss in losses[: diverged(losses)]] or [0.0]
    low, high = min(scale), max(scale)
    cells = [[" "] * width for _ in range(height)]
    for losses, mark in lines:
        values = losses[: diverged(losses)]
        end = 1 + (len(values) - 1) * (width - 1) // max(1, len(losses) - 1) if len(losses) > 1 else width
        for column, value in enumerate(_spread(values, end) if values else ()):
            if low <= value <= high:
                cells[_row(value, low, high, height)][column] = mark
    edge = [f"{high:.4g}", *[""] * (height - 2), f"{low:.4g}"]
    margin = max(map(len, edge))
    text = [f"  {label:>{margin}} {bar}{''.join(row)}".rstrip() for label, row in zip(edge, cells, strict=True)]
    last = str(len(machine) - 1)
    text.append(f"  {'':>{margin}} {corner}{dash * width}")
    text.append(f"  {'':>{margin}}  0{'epochs':^{width - 1 - len(last)}}{last}")
    legend = [f"{mark} {name}" for _, mark, name in drawn] if len(drawn) > 1 else [f"{marks[0]} accelerator"]
    text.append(f"  {'':>{margin}}  {'   '.join([*legend, f'{faint} float64'])}")
    return "\n".join(text)


SCHEMA = "tabla-train-1"
SHOWN_CLASSES = 20
"""A confusion matrix of more classes would not fit a terminal, so only JSON has it."""
CONFUSION = "confusion of {part} on the accelerator (rows: label, columns: prediction)"


def comparison(what: str, predicted: int | float, simulated: int | float) -> str:
    """Return a line that compares a predicted number of cycles with the simulated one."""
    if not simulated:  # a run of a single sample has no steady state to count
        return f"{what:<24}{predicted} predicted"
    sign = "=" if predicted == simulated else "IS NOT"
    return f"{what:<24}{predicted} predicted {sign} {simulated} simulated"


def as_predicted(*pairs: tuple[int | float, int | float]) -> bool:
    """Return whether each simulated number of cycles is the predicted one.

    The simulated one is 0 if none was counted.
    """
    return all(predicted == simulated for predicted, simulated in pairs if simulated)


def score_numbers(score: Score, part: str = "") -> dict[str, float | None]:
    """Return a score for JSON, which has no infinite numbers: null stands for them.

    The names of the scores of held-out parts begin with ``validation_`` or ``test_``.
    """
    values = {f"{part}loss": score.loss, f"{part}metric": score.metric}
    found = {name: value if math.isfinite(value) else None for name, value in values.items()}
    for name, held_out in (("validation_", score.validation), ("test_", score.test)):
        found |= score_numbers(held_out, name) if held_out else {}
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """How many samples of a run were repeated on an engine, with the same words.

    `all` counts the samples of the run, in all epochs. `reason` says why the engine is not the simulated Verilog.
    """

    engine: str
    samples: int
    all: int
    reason: str = ""

    def text(self, what: str) -> str:
        """Return a line of text; `what` says what happened to the samples."""
        where = "the cycle model" if self.reason else "the simulated Verilog"
        why = f" ({self.reason})" if self.reason else ""
        return f"{self.all:,} samples {what}; {self.samples:,} of them on {where}, every word the same{why}"


def saturated_line(count: int, number: str) -> str:
    """Return how many numbers of the data lie outside of a format, as a line of a report."""
    return f"{'saturated data':<24}{count} {'number' if count == 1 else 'numbers'} outside of {number}"


Predictor = Callable[[Any, Mapping[str, NDArray[Any]]], Any]
"""Predicts for data with some models and what lies beside them."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Training:
    """The outcome of a training run.

    `samples` counts the training part; `validation_samples` and `test_samples` count those that are held out.
    `machine` and `reference` are the scores of the accelerator and of float64: first those of the initial models, then
    those after each epoch. `kept` and `float64_kept` are the epochs whose models the accelerator and float64 keep: the
    last one, or with a `patience` the one with the smallest validation loss. `events` are those of all steps, and
    `held_out_events` those of scoring the held-out samples. `cycles_predicted` and `cycles_simulated`
    are per sample in the steady state. The latencies are in cycles. `models` and `words` are the kept models of the
    accelerator, as real numbers and as words. The words of a wide model are its stored integers, with `model_guard`
    bits more. Beside the real numbers lies the preparation of their data, if any, as ``tabla train -o`` writes it
    (:class:`tabla.learn.data.preparation.Preparation`). `saturated` counts the numbers of the data, in all parts, that
    the format does not hold, and for which its nearest word stands (`saturate`). `remark` is what the engine says
    of the run, and `fleet` what a step costs if several devices share it; the cycles of a sample are then those of the
    step. `progressive` says how well each sample was predicted before its update in the first epoch. `predictor`
    predicts with models of the program. `treated` counts what was done to cells of the data, in all parts.
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
    models: Mapping[str, NDArray[Any]] = field(repr=False)
    words: Mapping[str, NDArray[np.int64]] = field(repr=False)
    predictor: Predictor = field(repr=False)
    model_guard: int = 0
    validation_samples: int = 0
    test_samples: int = 0
    kept: int = 0
    float64_kept: int = 0
    patience: int | None = None
    checked: Checked | None = None
    saturated: int = 0
    saturate: bool = False
    remark: str = ""
    fleet: StepCost | None = None
    program: LearntProgram | None = field(default=None, repr=False)
    learning_rate: str | None = None
    progressive: Progressive | None = field(default=None, repr=False)
    treated: Treated = field(default_factory=Treated, repr=False)

    def predict(self, data: Any) -> Any:
        """Predict for new data with the models that were learnt, as :meth:`tabla.Build.predict` does.

        `data` may have labels, which are ignored. It is standardised as the data of the training was.
        """
        return self.predictor(data, self.stored())

    def stored(self) -> dict[str, NDArray[Any]]:
        """Return the arrays that ``tabla train -o`` writes: the models, and the recipe of how they were learnt."""
        recipe = ModelRecipe(
            format=self.format,
            guard=self.model_guard,
            saturate=self.saturate,
            classes=self.metric.classes,
            program=self.program,
            how={
                "learning_rate": self.learning_rate,
                "minibatch": self.minibatch,
                "epochs": self.epochs,
                "samples": self.samples,
                "predict": self.prediction.name,
                "label": self.prediction.label,
                "metric": self.metric.name,
                "tool": f"tabla {VERSION}",
            },
        )
        return {**self.models, **recipe.stored()}

    @property
    def score(self) -> Score:
        """The score of the models that the accelerator keeps."""
        return self.machine[self.kept]

    @property
    def float64_score(self) -> Score:
        """The score of the models that float64 keeps."""
        return self.reference[self.float64_kept]

    @property
    def held_out_events(self) -> Mapping[str, Events]:
        """The events of scoring the kept models on the held-out parts, by the name of the part."""
        scores = {"validation": self.score.validation, "test": self.score.test}
        return {part: score.events for part, score in scores.items() if score and score.events}

    @property
    def clean(self) -> bool:
        """Whether no step and no held-out sample had an event, as ``--strict`` demands."""
        return self.events.clean and all(found.clean for found in self.held_out_events.values())

    @property
    def as_predicted(self) -> bool:
        """Whether the cycles that were counted are those of the schedule."""
        return as_predicted(
            (self.cycles_predicted, self.cycles_simulated), (self.latency_predicted, self.latency_simulated)
        )

    @property
    def agrees(self) -> bool:
        """Whether the accelerator came close to float64 on the training part.

        The metric, if it is a share, must be within one percentage point. Otherwise the loss must be within 2 %.
        """
        ours, theirs = self.score, self.float64_score
        if self.metric.percent:
            return abs(ours.metric - theirs.metric) <= 0.01
        return abs(ours.loss - theirs.loss) <= 0.02 * abs(theirs.loss)

    def text(self, *, unicode: bool, width: int | None = None) -> str:
        """Return what ``tabla train`` prints. Without `unicode`, the curve is drawn in ASCII.

        The curve and the confusion matrix fit `width` columns, those of a terminal.
        """
        name, label = self.prediction.name, self.prediction.label
        what = f"label {label}" if self.prediction.residual else f"{name} against {label}"
        head = f"{self.name}: {self.samples} samples, {self.epochs} epochs"
        if self.minibatch > 1:
            head += f", steps of {self.minibatch} samples"
            head += f" ({self.samples % self.minibatch} left over)" if self.samples % self.minibatch else ""
        guard = f" and {self.model_guard} guard bits" if self.model_guard else ""
        lines = [f"{head}, {self.pes} PEs, {self.format}{guard}, {self.engine}"]
        held_out = {"validation": self.validation_samples, "test": self.test_samples}
        counts = [f"{count} samples for {name}" for name, count in held_out.items() if count]
        lines += [f"held out: {', '.join(counts)}"] if counts else []
        lines += self.treated.lines()
        if self.epochs:
            lines += ["", f"  {self.loss.name} of {what}, after each epoch", self._curve(unicode, width), ""]
        lines += [f"{'':<24}{'accelerator':>14}{'float64':>14}", *self._scores()]
        if self.patience is not None:
            lines.append(f"{'models kept from epoch':<24}{self.kept:>14}{self.float64_kept:>14}")
        test, classes = self.score.test, self.metric.classes
        if test and test.confusion and classes and classes.count <= SHOWN_CLASSES:
            lines += [
                "",
                CONFUSION.format(part="the test part"),
                *confusion_lines(test.confusion, classes.names(), width),
            ]
        lines += self._divergence()
        lines += ["", *([self.checked.text("learned" if self.epochs else "evaluated")] if self.checked else [])]
        lines += self.fleet.lines() if self.fleet else []
        lines.append(comparison("cycles per sample", self.cycles_predicted, self.cycles_simulated))
        lines.append(comparison("latency", self.latency_predicted, self.latency_simulated))
        lines += [self.remark] if self.remark else []
        lines += self._events()
        return "\n".join(lines)

    def _parts(self) -> list[tuple[str, Callable[[Score], Score]]]:
        """Return the parts of the data by name, each with the function that finds its score. The test part is last."""
        parts: list[tuple[str, Callable[[Score], Score]]] = [("training", lambda score: score)]
        for name in ("validation", "test"):
            if getattr(self.machine[0], name) is not None:
                parts.append((name, attrgetter(name)))
        return parts

    def _curve(self, unicode: bool, width: int | None) -> str:
        pairs = self.losses()
        first = pairs["training"]
        return curve(
            first.machine,
            first.reference,
            unicode=unicode,
            validation=pairs.get("validation"),
            test=pairs.get("test"),
            width=WIDTH if width is None else max(_NARROWEST, min(WIDTH, width - _MARGIN)),
        )

    def _scores(self) -> list[str]:
        return [f"{what:<24}{ours:>14}{theirs:>14}" for what, ours, theirs in self.score_rows()]

    def score_rows(self) -> list[tuple[str, str, str]]:
        """Return the rows of the table of scores: those of the held-out parts, and otherwise those of all samples.

        A row is what is scored, the accelerator's score, and that of float64, as texts. Figures of the initial models
        are those of the last part alone.
        """
        lines, parts = [], self._parts()
        kinds = [(self.loss, "loss")] if self.loss is self.metric else [(self.loss, "loss"), (self.metric, "metric")]
        for name, part in parts[1:] or parts:
            for metric, kind in kinds:
                what = f"{name} {metric.name}" if len(parts) > 1 else metric.name
                rows = [(self.score, self.float64_score, "")]
                if self.epochs and name == parts[-1][0]:
                    rows.insert(0, (self.machine[0], self.reference[0], " at first"))
                for ours, theirs, when in rows:
                    values = [metric.show(getattr(part(score), kind)) for score in (ours, theirs)]
                    lines.append((what + when, values[0], values[1]))
        return lines

    def losses(self) -> dict[str, Pair]:
        """Return the losses of each part of the data, one for each epoch, with those of the initial models first."""
        return {
            name: Pair(
                machine=[part(score).loss for score in self.machine],
                reference=[part(score).loss for score in self.reference],
            )
            for name, part in self._parts()
        }

    @property
    def headline(self) -> str:
        """The outcome in a few words: the program, its samples, and the last scores."""
        what, ours, theirs = self.score_rows()[-1]
        epochs = f"{self.epochs} epoch{'s' * (self.epochs != 1)}"
        return f"{self.name}: {self.samples} samples, {epochs}, {self.format}, {what} {ours} (float64 {theirs})"

    def __repr__(self) -> str:
        return f"<Training {self.headline}>"

    def _repr_html_(self) -> str:
        found, label = self.score.test, self.loss.name
        title = f"{label} of {self.name} after each epoch"
        losses = {part: (pair.machine, pair.reference) for part, pair in self.losses().items()}
        facts = [
            ("cycles per sample", self.cycles_predicted),
            ("latency in cycles", self.latency_predicted),
            ("overflows", self.events.overflows),
            ("domain errors", self.events.domain_errors),
            ("updates that were 0", f"{self.events.zero_updates} of {self.events.updates}"),
        ]
        confusion = confusion_table(
            found.confusion if found else None,
            self.metric.classes,
            most=SHOWN_CLASSES,
            caption=CONFUSION.format(part="the test part"),
        )
        curves = loss_curves(losses, label=label, title=title)
        return scored(self.headline, self.score_rows(), facts, curves=curves, confusion=confusion)

    @property
    def diverged(self) -> Mapping[str, int | None]:
        """The epoch in which the accelerator and float64 diverged (:func:`tabla.learn.record.diverged`), or None."""
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
        lines = [saturated_line(self.saturated, self.format)] if self.saturated else []
        lines += self.events.lines()
        lines += [found.line(f"{part} part") for part, found in self.held_out_events.items()]
        lines += self.progressive.text().splitlines() if self.progressive else []
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
            "checked": {"engine": self.checked.engine, "samples": self.checked.samples} if self.checked else None,
            "format": self.format,
            **({"model_guard": self.model_guard} if self.model_guard else {}),
            "pes": self.pes,
            "samples": self.samples,
            "validation_samples": self.validation_samples,
            "test_samples": self.test_samples,
            "minibatch": self.minibatch,
            "epochs": self.epochs,
            "predict": self.prediction.name,
            "label": self.prediction.label,
            "loss": self.loss.name,
            "metric": self.metric.name,
            "accelerator": [score_numbers(score) for score in self.machine],
            "float64": [score_numbers(score) for score in self.reference],
            "classes": list(self.metric.classes.names()) if self.metric.classes else None,
            "kept": {"accelerator": self.kept, "float64": self.float64_kept},
            **({"test_confusion": self.score.test.confusion} if self.score.test and self.score.test.confusion else {}),
            "diverged": dict(self.diverged),
            "cycles": {"predicted": self.cycles_predicted, "simulated": self.cycles_simulated or None},
            "latency": {"predicted": self.latency_predicted, "simulated": self.latency_simulated},
            **({"fleet": self.fleet.as_json()} if self.fleet else {}),
            **({"saturated": self.saturated} if self.saturated else {}),
            **self.treated.as_json(),
            "overflows": self.events.overflows,
            "domain_errors": self.events.domain_errors,
            **{f"{part}_overflows": found.overflows for part, found in self.held_out_events.items()},
            **{f"{part}_domain_errors": found.domain_errors for part, found in self.held_out_events.items()},
            "updates": self.events.updates,
            "zero_updates": self.events.zero_updates,
            **({"progressive": self.progressive.as_json()} if self.progressive else {}),
        }
