"""Training a build: on an engine or in the evaluation, with float64 beside it, scored on every part of the data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabla.base.arrays import Reals
from tabla.base.parameters import check_function
from tabla.base.source import TablaError
from tabla.build.arrays import (
    held,
    initial_models,
    model_reals,
    sample_words,
    samples_of,
    shapes_of,
    steps_of,
    take_models,
    words_of,
)
from tabla.build.inference import chosen_prediction
from tabla.build.rate import built_rate, with_mantissa, without_rate
from tabla.build.stages import Stages
from tabla.graph.compiled.plans import Evaluators
from tabla.graph.graph import Graph
from tabla.graph.prediction import Prediction
from tabla.host.engines.session import EVALUATION, Session, check_installed, checked_engine, checking_engine, session
from tabla.learn.data.dataset import Data, Prepared, tensors_of
from tabla.learn.data.options import DataOptions
from tabla.learn.data.parts import Parts
from tabla.learn.data.preparation import given_models, separated
from tabla.learn.data.recipe import LearntProgram
from tabla.learn.data.split import check_held_out
from tabla.learn.evaluated import CHECKED, Evaluated
from tabla.learn.events import events
from tabla.learn.fleet.costs import step_cost
from tabla.learn.fleet.devices import Devices, devices_of, fleet_session
from tabla.learn.fleet.plan import FleetSession, fixed_plan, numpy_plan
from tabla.learn.fleet.share import share_of
from tabla.learn.inference import as_learnt, refuse_inference
from tabla.learn.loop import LearningSteps, Outcome, Report, learn
from tabla.learn.one_pass import pass_over
from tabla.learn.options import LearnOptions
from tabla.learn.predict import as_given, predict
from tabla.learn.progressive import Progressive, judged
from tabla.learn.record import Checked, Training

Words = NDArray[np.int64]


def _silent(_: object) -> None:
    """The default report of `train`: it ignores the progress."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Start:
    """What training starts from: the prepared samples, the initial models, and the whole steps of the training part."""

    ready: Prepared
    models: Mapping[str, Reals]
    steps: int


def learning_start(build: Stages, data: Data, learning: LearnOptions, *, needs_test: bool = True) -> Start:
    """Return what training starts from: the prepared `data`, and the models of the `weights` or the `seed`.

    Without `needs_test`, the split may take a validation part alone.

    Data that does not fit the program, too few samples for a step, and a program without gradients and `weights` are a
    `TablaError`.
    """
    shapes = shapes_of(build.lowered, "model")
    given, stored = given_models(learning.weights, build.reading.merge, shapes)
    own, brought = separated(build.reading.models)
    ready = data.prepared(tensors_of(build), stored.before(brought), partial(samples_of, build), needs_test=needs_test)
    steps = ready.parts.training.count // build.lowered.samples
    if not steps:
        raise TablaError(
            f"{ready.parts.training.count} samples do not fill a minibatch of {build.lowered.samples}",
            hint="use a smaller --minibatch, or more data",
        )
    if learning.weights is not None or own:
        models = take_models({**built_rate(build.lowered), **own, **given}, shapes, "the weights")
    elif shapes and not build.lowered.updates:
        raise TablaError(
            f"'{build.name}.t' has no gradient, so it learns nothing", hint="give its models with --weights"
        )
    else:
        models = {**initial_models(shapes, learning.seed or 0), **built_rate(build.lowered)}
    return Start(ready=ready, models=with_mantissa(build.lowered, build.format, models), steps=steps)


def train(
    build: Stages,
    data: Data,
    learning: LearnOptions,
    *,
    report: Report | Callable[[object], None] | None = None,
    remark: Callable[[str], None] | None = None,
) -> Training:
    """Learn from `data` on an engine, and in float64 for comparison.

    The engine `EVALUATION`, the default, learns in the fixed-point evaluation. The first 16 steps of the first epoch
    and the last 16 of the last epoch are repeated on the simulated accelerator, which must give the same words. Every
    other engine takes all steps, and its models are compared with the evaluation after each epoch.

    The accelerator and float64 take the same steps, for as many epochs as `learning` says over all samples of the
    training part. Samples that do not fill the last minibatch are measured but not learnt from. What predicts the label
    is by default the value that the program text compares with a label. A program without gradients cannot learn: it
    needs weights, and works through the data once. `report` is called with the progress, and `remark` with a line that
    says why numpy evaluates where machine code would be faster.

    Held-out samples are scored after every epoch and never learnt from, and nothing is chosen by the test part. What is
    fitted to the training part is kept beside the models (:class:`tabla.learn.data.preparation.Preparation`); with
    weights that bring it, it is not fitted anew.

    Devices learn together, each from its share of every step (:mod:`tabla.learn.fleet`). Those that are not in this
    process take all steps.
    """
    refuse_inference(build, "learns nothing")
    if not build.reading.trainable:
        file = build.reading.text.original.name
        if build.reading.models:
            raise TablaError(f"'{file}' does not learn as it is", hint="say what learns: --train NAME,NAME --loss mse")
        raise TablaError(f"'{file}' is a kernel, so it learns nothing", hint="run it with tabla sim or tabla eval")
    check_function("report", report)
    check_function("remark", remark)
    fleet = devices_of(learning.devices, learning.scheduler, learning.engine)
    remote = fleet is not None and fleet.remote
    engine = learning.engine
    engine = ("model" if remote else EVALUATION) if engine is None else checked_engine(engine, trains=not remote)
    if not remote:
        check_installed(engine)
    if fleet is not None and learning.progressive:
        raise TablaError(
            "--progressive and --devices are given together, and devices have no common models within a step",
            hint="leave one of them out",
        )
    share = build if fleet is None else share_of(build, fleet.count)
    learning = as_learnt(build, learning)
    start = learning_start(build, data, learning)
    check_held_out(start.ready.parts, learning.patience, f"{build.name}.t" if not build.lowered.updates else None)
    task = _task(build, share, fleet, start, engine, learning, remark)
    outcome, checked = _learned(task, report or _silent) if build.lowered.updates else _inference(task)
    return _record(task, outcome, checked)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Task:
    """A training that is ready to run: what it starts from, what measures it, and where it runs.

    `share` is the build of each device of the `fleet`; without one it is `build`. `engine` is the one that was asked
    for. `hardware` is the engine of the accelerator, which repeats some of the steps if `engine` is the evaluation;
    `reason` says why it is not the simulated Verilog then. `words` are the initial models.
    """

    build: Stages
    share: Stages
    fleet: Devices | None
    start: Start
    learning: LearnOptions
    prediction: Prediction
    parts: Parts
    evaluators: Evaluators
    engine: str
    hardware: str
    reason: str
    words: Mapping[str, Words]

    @property
    def evaluates(self) -> bool:
        """Whether the evaluation learns, and not the accelerator."""
        return self.engine == EVALUATION

    def steps(self, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """Return arrays of the training part as steps, without the samples that fill no minibatch."""
        samples = self.start.steps * self.build.lowered.samples
        return steps_of(self.build, {name: array[:samples] for name, array in arrays.items()})

    def machine(self) -> AbstractContextManager[Session | FleetSession]:
        """Return the accelerator on its engine, or the fleet, which runs while the context is open."""
        if self.fleet is not None:
            return fleet_session(self.share, self.fleet, self.hardware)
        return session(self.build.schedule, self.build.image, self.hardware, self.build.module, self.build.overlay)

    @property
    def devices(self) -> int | None:
        """The number of devices; None without a fleet."""
        return None if self.fleet is None else self.fleet.count


def _task(
    build: Stages,
    share: Stages,
    fleet: Devices | None,
    start: Start,
    engine: str,
    learning: LearnOptions,
    remark: Callable[[str], None] | None,
) -> _Task:
    """Return what `train` runs. Data without the label that is to be measured, and a metric that does not fit it, are a
    `TablaError`.
    """
    graph, ready = build.lowered, start.ready
    measured, prediction = measured_graph(build, ready, learning.predict)
    passes = learning.passes if graph.updates else 1
    evaluators = Evaluators.of(graph, build.format, start.steps * passes, build.integer_tensors)
    if evaluators.note and remark is not None:
        remark(evaluators.note)
    parts = Parts.of(
        measured,
        prediction,
        build.format,
        metric=learning.metric,
        parts=ready.parts,
        words=lambda samples: sample_words(build, samples),
        evaluators=evaluators,
        classes=ready.preparation.classes.get(prediction.label),
    )
    if (note := _one_class(parts)) and remark is not None:
        remark(note)
    words = words_of(build, start.models)
    hardware, reason = checking_engine(share.schedule) if engine == EVALUATION else (engine, "")
    return _Task(
        build=build,
        share=share,
        fleet=fleet,
        start=start,
        learning=learning,
        prediction=prediction,
        parts=parts,
        evaluators=evaluators,
        engine=engine,
        hardware=hardware,
        reason=reason,
        words=words,
    )


def _one_class(parts: Parts) -> str:
    """Return a remark if all labels of the training part mean the same class; the text is empty otherwise."""
    measure = parts.training
    classes = measure.metric.classes
    if classes is None or len(found := np.unique(classes.numbers(measure.labels))) != 1:
        return ""
    name = classes.names()[int(found[0])]
    return (
        f"note: every label of the training part is of the class '{name}', so there is nothing to tell apart; if the"
        " data have others, --split-seed draws other parts"
    )


def _learned(task: _Task, report: Report) -> tuple[Outcome, int]:
    """Learn. Return the outcome, and how many samples the accelerator has repeated."""
    graph, number = task.build.lowered, task.build.format
    own = task.share.lowered
    plan = fixed_plan(task.evaluators, own, number, task.devices)
    with ExitStack() as opened:

        def machine() -> Session | FleetSession:
            return opened.enter_context(task.machine())

        learner: Evaluated | Session | FleetSession
        if task.evaluates:
            judge = numpy_plan(own, number, task.devices)
            learner = Evaluated(plan=plan, judge=judge, open_accelerator=machine, count=task.start.steps)
        else:
            learner = machine()
        lesson = LearningSteps(
            models=task.start.models,
            words=task.words,
            steps=task.steps(task.parts.training.words),
            reals=task.steps(task.start.ready.parts.training.arrays),
            count=task.start.steps,
            epochs=task.learning.passes,
            patience=task.learning.patience,
        )
        real = task.evaluators.real(graph, number)
        outcome = learn(graph, learner, plan, real, task.parts, lesson, report=report)
        return outcome, learner.checked * graph.samples if isinstance(learner, Evaluated) else 0


def _inference(task: _Task) -> tuple[Outcome, int]:
    """Measure a program without gradients: one pass over the data. Return the outcome, and how many samples the
    accelerator has repeated: all, or the first and last ones, whose words are compared with the evaluation.
    """
    measure, words = task.parts.training, task.words
    samples = task.start.ready.parts.training.count
    checked = min(2 * CHECKED, samples) if task.evaluates else samples
    ends = np.r_[: checked - checked // 2, samples - checked // 2 : samples]
    ran = pass_over(task.build, task.hardware, words, measure.words, samples, ends)
    outcome = Outcome(
        machine=(measure.of_words(words),),
        reference=(measure.of_reals(task.start.models),),
        words=words,
        counts=ran.expected.counts,
        cycles=(ran.cycles,),
        latency=ran.latency,
    )
    return outcome, checked


def _record(task: _Task, outcome: Outcome, checked: int) -> Training:
    """Return the record of a training. The accelerator has repeated so many samples as `checked` says."""
    build, graph, measure = task.build, task.build.lowered, task.parts.training
    ready = task.start.ready
    held_out = ready.parts
    # The first scores are those of the initial models.
    epochs = len(outcome.machine) - 1
    learned = task.start.steps * graph.samples * (epochs if graph.updates else 1)
    cost = None if task.fleet is None else step_cost(task.share, task.fleet.count)
    return Training(
        name=build.name,
        engine=f"engine {task.engine}" if task.fleet is None else task.fleet.text(task.engine),
        format=str(build.format),
        model_guard=graph.model_guard,
        pes=build.template.pes,
        samples=held_out.training.count,
        minibatch=graph.samples,
        epochs=epochs,
        prediction=task.prediction,
        loss=measure.loss,
        metric=measure.metric,
        machine=outcome.machine,
        reference=outcome.reference,
        cycles_predicted=cost.cycles_per_sample if cost else build.schedule.per_sample(build.schedule.cycles),
        cycles_simulated=build.schedule.per_sample(outcome.cycles[-1]) if outcome.cycles else 0,
        latency_predicted=task.share.schedule.latency,
        latency_simulated=outcome.latency,
        events=events(graph, outcome.counts),
        models={**without_rate(graph, model_reals(build, outcome.words)), **ready.preparation.stored()},
        words=outcome.words,
        validation_samples=held_out.validation.count if held_out.validation else 0,
        test_samples=held_out.test.count if held_out.test else 0,
        kept=outcome.kept,
        float64_kept=outcome.float64_kept,
        patience=task.learning.patience,
        checked=Checked(engine=task.hardware, samples=checked, all=learned, reason=task.reason)
        if task.evaluates
        else None,
        saturated=sum(
            held(build, part.arrays)[1] for part in (held_out.training, held_out.validation, held_out.test) if part
        ),
        saturate=build.options.saturate,
        remark=outcome.remark,
        fleet=cost,
        treated=ready.treated,
        program=LearntProgram.of(build, task.learning.predict),
        learning_rate=None if build.options.learning_rate is None else str(build.options.learning_rate),
        predictor=partial(_predictions, build),
        progressive=progressive(build, task.start, task.learning) if task.learning.progressive else None,
    )


def _predictions(build: Stages, data: Any, models: Mapping[str, NDArray[Any]]) -> Any:
    """Predict for new data, and return predictions as the data was given."""
    given = Data.of_source(data, DataOptions())
    return as_given(predict(build, given, LearnOptions(weights=models)), given.source)


def progressive(build: Stages, start: Start, learning: LearnOptions) -> Progressive:
    """Return how well each sample of the training part is predicted before its update, in one pass from the start.

    Samples that fill no minibatch are left out.
    """
    rows = np.arange(start.steps * build.lowered.samples)
    samples, preparation = start.ready.parts.training.taken(rows), start.ready.preparation
    return judged(build, samples, words_of(build, start.models), learning, preparation.classes)


def measured_graph(build: Stages, ready: Prepared, predict: str | None) -> tuple[Graph, Prediction]:
    """Return what `chosen_prediction` does. Data without the label that is predicted is a `TablaError`."""
    measured, prediction = chosen_prediction(build, predict)
    ready.preparation.check_prediction(prediction)
    if prediction.label not in ready.names:
        raise TablaError(f"the data has no label '{prediction.label}' to measure against", hint="add it to the data")
    return measured, prediction
