"""Scoring trained models on data, without learning: the inference part of a program, on an engine and in float64."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabla.base.source import TablaError
from tabla.build.arrays import held, sample_words, samples_of, shapes_of, take_models, words_of
from tabla.build.inference import inference_part
from tabla.build.rate import built_rate, without_rate
from tabla.build.stages import Stages
from tabla.graph.compiled.plans import Evaluators
from tabla.graph.format import Format
from tabla.graph.graph import Graph, Tensor
from tabla.graph.passes.inference import without_updates
from tabla.graph.prediction import Prediction
from tabla.host.engines.session import check_installed, checked_engine
from tabla.learn.data.classes import class_name, confusion_lines
from tabla.learn.data.dataset import Data, tensors_of
from tabla.learn.data.preparation import Preparation, given_models, separated
from tabla.learn.data.treated import Treated
from tabla.learn.events import Events, events
from tabla.learn.inference import as_learnt, refuse_inference
from tabla.learn.measure import Measure, Score
from tabla.learn.metrics import Metric
from tabla.learn.notebook import confusion_table, scored
from tabla.learn.one_pass import pass_over
from tabla.learn.options import LearnOptions
from tabla.learn.record import CONFUSION, SHOWN_CLASSES, as_predicted, comparison, saturated_line, score_numbers

SCHEMA = "tabla-test-1"
ENGINE, CHECKED = "model", 32
"""Without a choice of the user, so many of the first samples run on this engine beside the evaluation."""

Words = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Tested:
    """The scores of some models on data that they do not learn from.

    `accelerator` and `float64` are the scores of the same models in the number format and in float64. `engine` ran the
    first `simulated` of the `samples`, and every word was as in the evaluation. `cycles_predicted` and
    `cycles_simulated` are those of the inference part, per sample in the steady state; the latencies are in cycles.
    `saturated` counts the numbers of the data that the format does not hold, and for which its nearest word stands.
    `treated` counts what was done to cells of the data.
    """

    name: str
    engine: str
    format: str
    pes: int
    samples: int
    simulated: int
    prediction: Prediction
    loss: Metric
    metric: Metric
    accelerator: Score
    float64: Score
    cycles_predicted: int | float
    cycles_simulated: int | float
    latency_predicted: int
    latency_simulated: int
    events: Events = field(repr=False)
    saturated: int = 0
    treated: Treated = field(default_factory=Treated, repr=False)

    @property
    def as_predicted(self) -> bool:
        """Whether the cycles that were counted are those of the schedule."""
        return as_predicted(
            (self.cycles_predicted, self.cycles_simulated), (self.latency_predicted, self.latency_simulated)
        )

    def text(self, width: int | None = None) -> str:
        """Return what ``tabla test`` prints. A confusion matrix fits `width` columns, those of a terminal."""
        where = ran_on(self.engine, self.simulated, self.samples)
        lines = [f"{self.name}: {self.samples} samples, none learnt from, {self.pes} PEs, {self.format}, {where}"]
        lines += [*self.treated.lines(), ""]
        lines.append(f"{'':<24}{'accelerator':>14}{'float64':>14}")
        lines += [f"{what:<24}{ours:>14}{theirs:>14}" for what, ours, theirs in self.score_rows()]
        classes, table = self.metric.classes, self.accelerator.confusion
        if classes and table and classes.count <= SHOWN_CLASSES:
            lines += ["", CONFUSION.format(part="the samples"), *confusion_lines(table, classes.names(), width)]
        lines += ["", comparison("cycles per sample", self.cycles_predicted, self.cycles_simulated)]
        lines.append(comparison("latency", self.latency_predicted, self.latency_simulated))
        lines += [saturated_line(self.saturated, self.format)] if self.saturated else []
        return "\n".join([*lines, *self.events.lines()])

    def score_rows(self) -> list[tuple[str, str, str]]:
        """Return the loss and the metric: the name, the accelerator's score, and that of float64, as texts."""
        kinds = [(self.loss, "loss")] if self.loss is self.metric else [(self.loss, "loss"), (self.metric, "metric")]
        return [
            (metric.name, metric.show(getattr(self.accelerator, kind)), metric.show(getattr(self.float64, kind)))
            for metric, kind in kinds
        ]

    @property
    def headline(self) -> str:
        """The outcome in a few words: the program, its samples, and the metric."""
        what, ours, theirs = self.score_rows()[-1]
        return f"{self.name}: {self.samples} samples, {self.format}, {what} {ours} (float64 {theirs})"

    def __repr__(self) -> str:
        return f"<Tested {self.headline}>"

    def _repr_html_(self) -> str:
        facts = [
            ("cycles per sample", self.cycles_predicted),
            ("latency in cycles", self.latency_predicted),
            ("overflows", self.events.overflows),
            ("domain errors", self.events.domain_errors),
        ]
        caption = CONFUSION.format(part="the samples")
        table = confusion_table(self.accelerator.confusion, self.metric.classes, most=SHOWN_CLASSES, caption=caption)
        return scored(self.headline, self.score_rows(), facts, confusion=table)

    def as_json(self) -> dict[str, Any]:
        """Return what ``tabla test --json`` writes."""
        return {
            "schema": SCHEMA,
            "name": self.name,
            "engine": self.engine,
            "format": self.format,
            "pes": self.pes,
            "samples": self.samples,
            "simulated": self.simulated,
            "predict": self.prediction.name,
            "label": self.prediction.label,
            "loss": self.loss.name,
            "metric": self.metric.name,
            "accelerator": _entry(self.accelerator),
            "float64": _entry(self.float64),
            "classes": list(self.metric.classes.names()) if self.metric.classes else None,
            "cycles": {"predicted": self.cycles_predicted, "simulated": self.cycles_simulated},
            "latency": {"predicted": self.latency_predicted, "simulated": self.latency_simulated},
            **({"saturated": self.saturated} if self.saturated else {}),
            **self.treated.as_json(),
            "overflows": self.events.overflows,
            "domain_errors": self.events.domain_errors,
        }


def ran_on(engine: str, simulated: int, samples: int) -> str:
    """Return where samples ran: all on the engine, or the first ones."""
    return f"engine {engine}" if simulated == samples else f"the first {simulated} on engine {engine}"


def _entry(score: Score) -> dict[str, Any]:
    """Return a score for JSON, with its confusion matrix: rows are labels, columns predictions."""
    return {**score_numbers(score), "confusion": score.confusion}


def labelled(build: Stages, predict: str | None) -> Stages:
    """Return a program that infers and has no label as one that has: its prediction alone, and a label beside it.

    The prediction is the value that `predict` names, or else the first result of real numbers. The label is an input of
    its shape that nothing reads.
    """
    reading = build.reading

    def lowered(number_format: Format, results: Sequence[str]) -> Graph:
        # A value inside of the program is a result only if it is asked for.
        asked = (predict,) if predict is not None and predict in reading.scores else ()
        graph = reading.lower(number_format, tuple(dict.fromkeys((*results, *asked))))
        found = ((name, tensor) for name, tensor in graph.results if predict in (None, name))
        real = [(name, tensor) for name, tensor in found if name in reading.scores]
        if not real:
            raise TablaError(
                f"'{build.name}' has no result of real numbers that a label could be compared with",
                hint="export it with its scores or probabilities as a result, or name a value with --predict",
            )
        name, tensor = real[0]
        part = without_updates(graph, tensor)
        label = Tensor(name=reading.scored_by, shape=graph.tensors[tensor].shape, role="label")
        return replace(part, tensors={**part.tensors, label.name: label}, results=((name, tensor),))

    return Stages(
        name=build.name,
        options=build.options,
        reading=replace(reading, lower=lowered, trainable=True),
        template=build.template,
        format=build.format,
        format_choice=build.format_choice,
    )


def single_part(build: Stages, predict: str | None) -> tuple[Stages, Prediction]:
    """Return the inference part of a program, a sample a step, and its prediction."""
    part, prediction = inference_part(build, predict)
    return replace(part, options=replace(part.options, minibatch=1)), prediction


def with_samples_of(build: Stages, part: Stages) -> Stages:
    """Return an inference part that takes all inputs and labels of its program, so that data can be read for both."""
    own = {name: tensor for name, tensor in build.sample.tensors.items() if tensor.role in ("input", "label")}

    def lowered(number_format: Format, results: Sequence[str]) -> Graph:
        return replace(part.sample, tensors={**own, **part.sample.tensors})

    return replace(part, reading=replace(part.reading, lower=lowered))


def test(build: Stages, data: Data, scoring: LearnOptions) -> Tested:
    """Score the models of the weights on `data`, without one update.

    Of data with a test part, that part is scored. A program that brings its models needs no weights; one that has no
    label is scored by that of the data (:func:`labelled`). A program that learns is run as its inference part. With an
    engine, all samples run there. Without one the evaluation computes every sample, and the cycle model the first ones.
    Every word of the engine is compared with the evaluation; a difference is an AssertionError. Data is standardised,
    and its classes get numbers, as when the models were learnt.
    """
    refuse_inference(build, "has no label to score")
    scoring = as_learnt(build, scoring)
    build, models, preparation = with_models(build, scoring, "score")
    engine = scoring.engine
    part, prediction = single_part(build, scoring.predict)
    whole = with_samples_of(build, part)
    data = data.to_score()
    ready = data.prepared(tensors_of(build), preparation, partial(samples_of, whole), needs_test=False, fits=False)
    ready.preparation.check_prediction(prediction)
    found = ready.parts.test or ready.parts.training
    if prediction.label not in ready.names:
        raise TablaError(
            f"the data has no label '{prediction.label}' to measure against",
            hint="add it to the data, or compute the predictions alone with tabla eval",
        )
    words, model_words = sample_words(whole, found), words_of(part, read_by(part, models))
    evaluators = Evaluators.of(part.lowered, build.format, found.count, build.integer_tensors)
    measure = Measure.of(
        part.sample,
        prediction,
        build.format,
        metric=scoring.metric,
        samples=found.arrays,
        words=words,
        evaluators=evaluators,
    )
    simulated = found.count if engine else min(found.count, CHECKED)
    ran = pass_over(part, engine or ENGINE, model_words, read_by(part, words), found.count, np.arange(simulated))
    predicted = ran.expected.kept[prediction.tensor]
    return Tested(
        name=build.name,
        engine=engine or ENGINE,
        format=str(build.format),
        pes=build.template.pes,
        samples=found.count,
        simulated=simulated,
        prediction=prediction,
        loss=measure.loss,
        metric=measure.metric.with_names(ready.preparation.classes.get(prediction.label)),
        accelerator=measure.score(part.result_type(prediction.name).to_reals(predicted)),
        float64=measure.of_reals(models),
        cycles_predicted=part.schedule.per_sample(part.schedule.cycles),
        cycles_simulated=part.schedule.per_sample(ran.cycles),
        latency_predicted=part.schedule.latency,
        latency_simulated=ran.latency,
        events=events(part.lowered, ran.expected.counts),
        saturated=held(whole, found.arrays)[1],
        treated=ready.treated,
    )


def read_by(part: Stages, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return the arrays of the tensors that an inference part has."""
    return {name: array for name, array in arrays.items() if name in part.sample.tensors}


def with_models(
    build: Stages, run: LearnOptions, what: str
) -> tuple[Stages, dict[str, NDArray[np.float64]], Preparation]:
    """Return a program with a label, the models of the weights, and the preparation of the data that they are for.

    `what` says in errors what is to be done with the models. An engine that is not installed is a `TablaError`.
    """
    file = build.reading.text.original.name
    if build.reading.scored_by:
        build = labelled(build, run.predict)
    elif not build.reading.trainable and not build.options.infer:
        raise TablaError(f"'{file}' is a kernel, so it has no models to {what}", hint="run it with tabla sim")
    if run.weights is None and not build.reading.models:
        raise TablaError(f"'{file}' brings no models to {what}", hint="give them with --weights")
    if run.engine is not None:
        check_installed(checked_engine(run.engine))
    shapes = shapes_of(build.sample, "model")
    given, stored = given_models(run.weights, build.reading.merge, shapes)
    own, brought = separated(build.reading.models)
    models = take_models({**built_rate(build.sample), **own, **given}, shapes, "the weights")
    # Nothing learns here.
    return build, without_rate(build.sample, models), stored.before(brought).before(_own_classes(build))


def _own_classes(build: Stages) -> Preparation:
    """Return the classes that a model brings with one of its results, for a label that has room for just these.

    A label of the data that is none of them is then an error, and a class that no sample has keeps its place.
    """
    label = build.reading.scored_by
    shape = shapes_of(build.sample, "label").get(label)
    named = {tuple(class_name(each) for each in labels.reshape(-1)) for labels in build.reading.labels.values()}
    if len(named) == 1 and shape == (len(names := named.pop()),):
        return Preparation(classes={label: names}, finished=frozenset({label}))
    return Preparation()
