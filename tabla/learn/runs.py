"""Evaluating and simulating a build, and calling it like a function: arrays of real numbers in, arrays and figures out.

:mod:`tabla.build.arrays` says what the arrays are, and :mod:`tabla.learn.train` has the training.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabla.base.arrays import Arrays, Reals, refuse_strangers
from tabla.base.parameters import checked_truth
from tabla.base.source import TablaError
from tabla.build.arrays import (
    Samples,
    initial_models,
    model_reals,
    sample_words,
    samples_of,
    shapes_of,
    steps_of,
    take_models,
    without_steps,
    words_of,
)
from tabla.build.rate import built_rate, with_mantissa, without_rate
from tabla.build.stages import Stages
from tabla.graph.compiled.plans import Evaluators
from tabla.graph.rate import RATE
from tabla.host.engines.session import check_installed, checked_engine
from tabla.languages.kernel.evaluate import evaluate_samples
from tabla.languages.kernel.tree import Kernel
from tabla.learn.data.dataset import Data, Tensors, tensors_of
from tabla.learn.data.preparation import given_models, separated
from tabla.learn.data.source import reals
from tabla.learn.data.treated import Treated
from tabla.learn.events import Events, events
from tabla.learn.fleet.devices import DEVICES
from tabla.learn.fleet.plan import fixed_plan
from tabla.learn.fleet.share import share_of
from tabla.learn.one_pass import pass_over, refuse_lost_integers
from tabla.learn.options import LearnOptions
from tabla.learn.progressive import Progressive, judged
from tabla.learn.record import as_predicted, comparison
from tabla.sim.machine import Counters

Words = NDArray[np.int64]


def inputs_of(build: Stages, inputs: Data, run: LearnOptions) -> tuple[Samples, dict[str, Reals], Treated]:
    """Split one set of arrays into the samples and the initial models, and say what was done to cells of a table.

    Models come from `inputs` or from the weights of `run`; one that both have is a `TablaError`. With a seed, a model
    that is missing from both gets random values. Without one it is a `TablaError`. A program that brings the values of
    its models needs neither. A learning rate that is missing is the one that the program was compiled with; in what is
    returned its mantissa stands for it.
    """
    shapes, tensors = shapes_of(build.lowered, "model"), tensors_of(build)
    given, stored = given_models(run.weights, build.reading.merge, shapes)
    own, brought = separated(build.reading.models)
    learnt = run.weights is not None or build.options.infer
    gathered = inputs.arrays(tensors, "inputs", stored.before(brought), fits=not learnt)
    arrays, stored = gathered.arrays, gathered.preparation
    if run.weights is None:  # the models may be among the inputs, and what is beside them
        arrays, beside = separated(arrays)
        stored = beside.before(stored)
    if twice := sorted(given.keys() & arrays.keys()):
        hint = "leave it out of one of them"
        raise TablaError(f"the inputs and the weights both hold the model '{twice[0]}'", hint=hint)
    preparation = inputs.fitted(tensors, arrays, stored.before(brought))
    arrays = {name: array for name, array in arrays.items() if name not in build.reading.unread}
    arrays = preparation.apply(arrays, tensors.shapes, gathered.origin.place) | given
    refuse_strangers(arrays, shapes_of(build.sample, "input", "label", "model"), "the input")
    drawn = {} if run.seed is None else initial_models(shapes, run.seed)
    found = replace(samples_of(build, arrays, inputs.samples), origin=gathered.origin)
    cure = "add it, take it from --weights, or draw it with --seed 0"
    models = take_models({**drawn, **built_rate(build.lowered), **own, **arrays}, shapes, "the input", cure=cure)
    return whole_minibatches(build, found), with_mantissa(build.lowered, build.format, models), gathered.treated


def words_of_inputs(build: Stages, seed: int) -> tuple[dict[str, Words], dict[str, Words]]:
    """Return the words of models and of steps that the option ``inputs`` of a build gives; `seed` draws other
    models.
    """
    assert build.options.inputs is not None
    given, models, _ = inputs_of(build, Data(build.options.inputs), LearnOptions(seed=seed))
    return words_of(build, models), steps_of(build, words_of(build, given.arrays))


def whole_minibatches(build: Stages, data: Samples) -> Samples:
    """Return the samples unchanged. Raises `TablaError` if their number is not a multiple of the minibatch size."""
    size = build.lowered.samples
    if data.count % size:
        whole = data.count - data.count % size
        raise TablaError(
            f"{data.count} samples do not fill minibatches of {size}",
            hint=f"use --samples {whole}, or more data" if whole else f"give {size} samples or a multiple of that",
        )
    return data


def _returned(build: Stages, models: Arrays, results: Arrays, *, stacked: bool) -> dict[str, Reals]:
    """Select the arrays that a run returns, by name.

    If the data was `stacked` (had an axis of samples), values have that axis, too. A program that learns also returns
    its models after the last step, and gradients are those of the last step. The tensors that a kernel keeps on chip
    are models of the graph, but they are not returned.
    """
    learns = bool(build.lowered.updates)
    every = {name for name in results if stacked and (not learns or name in build.reading.values)}
    shown = without_rate(build.lowered, models) if build.reading.trainable else {}
    found = {name: array if name in every else array[-1] for name, array in results.items()}
    return {**shown, **{name: _labelled(build, name, array) for name, array in found.items()}}


def _labelled(build: Stages, name: str, array: Reals) -> Reals:
    """Return what the host makes of a result: the labels of positions, which may be texts, or the result itself."""
    labels = build.reading.labels.get(name)
    if labels is None:
        return array
    places = np.asarray(array).astype(np.int64)
    outside = places[(places < 0) | (places >= len(labels))]
    if outside.size:
        raise TablaError(
            f"'{name}' has the position {outside[0]}, and the model has {len(labels)} labels for it",
            hint="give the model a label for each class, and export it anew",
        )
    return np.asarray(labels[places])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Evaluation:
    """The outcome of an evaluation: the returned models and results, and the events; float64 has no events.

    `treated` counts what was done to cells of the data.
    """

    arrays: Mapping[str, Reals] = field(repr=False)
    events: Events | None
    treated: Treated = field(default_factory=Treated, repr=False)

    def text(self) -> str:
        """Return what ``tabla eval`` prints; of float64 only what was done to cells."""
        return "\n".join([*self.treated.lines(), *([] if self.events is None else self.events.lines())])


def evaluation(build: Stages, inputs: Data, run: LearnOptions, *, float64: bool = False) -> Evaluation:
    """Compute what the program means, without any hardware: in words of the number format, or in float64.

    `inputs` holds inputs, labels and initial models by name. Models that it lacks come from the weights of `run`, or
    its seed draws them. With several devices, each takes its share of every step (:mod:`tabla.learn.fleet`); float64
    does not round, so there they change nothing. The result holds real arrays by name, see `_returned`. Data that does
    not fit the program is a `TablaError`.
    """
    checked_truth("float64", float64)
    number = DEVICES.checked("devices", 1 if run.devices is None else run.devices)
    share = build if number == 1 else share_of(build, number)
    if float64 and build.reading.evaluate_float is not None:
        arrays = inputs.arrays(Tensors(inputs={}, labels={}), "inputs").arrays
        arrays |= {} if run.weights is None else reals(run.weights, "weights")
        return Evaluation(arrays=build.reading.evaluate_float(arrays, inputs.samples), events=None)
    data, models, treated = inputs_of(build, inputs, run)
    graph, count = build.lowered, data.count // build.lowered.samples
    keep = [tensor for _, tensor in graph.results]
    found, evaluators = None, Evaluators.of(graph, build.format, count, build.integer_tensors)
    if float64 and build.reading.kernel is not None:
        after, results = _by_kernel(build, build.reading.kernel(), models, data)
        return Evaluation(arrays=_returned(build, after, results, stacked=data.stacked), events=None, treated=treated)
    if float64:
        # A graph file has no other meaning, and neither has what predicts, which is cut out of a graph.
        real = evaluators.real(graph, build.format)
        real.load(models)
        ran = real.run(steps_of(build, data.arrays), keep, count)
        after, kept = dict(ran.models), dict(ran.kept)
    else:
        fixed = fixed_plan(evaluators, share.lowered, build.format, None if number == 1 else number)
        fixed.load(words_of(build, models))
        words = fixed.run(steps_of(build, sample_words(build, data)), keep, count)
        refuse_lost_integers(build, words.counts)
        found = events(graph, words.counts)
        after = model_reals(build, words.models)
        types = {tensor: build.result_type(shown) for shown, tensor in graph.results}
        kept = {name: types[name].to_reals(array) for name, array in words.kept.items()}
    results = without_steps(build, {shown: kept[tensor] for shown, tensor in graph.results})
    return Evaluation(arrays=_returned(build, after, results, stacked=data.stacked), events=found, treated=treated)


def _by_kernel(
    build: Stages, kernel: Kernel, models: Mapping[str, Reals], data: Samples
) -> tuple[dict[str, Reals], dict[str, Reals]]:
    """Return the models after all whole steps of a program, and its results for each sample, as its kernel says."""
    step, rate = build.lowered.samples, build.lowered.rate
    shown = [name for name, _ in build.lowered.results]
    own = {name: array for name, array in models.items() if rate is None or name != RATE}
    if rate is not None:
        # The host loads a mantissa, and the program has a shift for it.
        loaded = rate.sign * Fraction(float(models[RATE])) / Fraction(2) ** rate.shift
        kernel = replace(kernel, updates=tuple(replace(update, rate=loaded) for update in kernel.updates))
    return evaluate_samples(kernel, own, data.arrays, data.count // step * step, minibatch=step, keep=shown)


def progressive(build: Stages, inputs: Data, run: LearnOptions) -> Progressive:
    """Return how well each sample of `inputs` is predicted before its update. The parameters are as `evaluation` has
    them. Several devices are a `TablaError`, because they have no common models within a step.
    """
    if run.devices is not None:
        raise TablaError("--progressive and --devices are given together", hint="leave one of them out")
    samples, models, _ = inputs_of(build, inputs, run)
    return judged(build, samples, words_of(build, models), run, {})


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Simulation:
    """The outcome of a run on the simulated accelerator.

    `arrays` holds the returned models and results by name. `cycles_predicted` and `cycles_simulated` are the cycles
    per sample in the steady state, from the schedule and counted on the engine. The latencies are those of the first
    sample, in cycles. `updates_predicted` says whether models were written in exactly the cycles of the schedule.
    `treated` counts what was done to cells of the data.
    """

    engine: str
    samples: int
    arrays: Mapping[str, Reals] = field(repr=False)
    cycles_predicted: int | float
    cycles_simulated: int | float
    latency_predicted: int
    latency_simulated: int
    counters: Counters
    updates_predicted: bool = True
    treated: Treated = field(default_factory=Treated, repr=False)

    @property
    def as_predicted(self) -> bool:
        """Whether the cycles that were counted, and those of all model writes, are those of the schedule."""
        return self.updates_predicted and as_predicted(
            (self.cycles_predicted, self.cycles_simulated), (self.latency_predicted, self.latency_simulated)
        )

    def text(self) -> str:
        """Return what ``tabla sim`` prints."""
        counters = self.counters
        return "\n".join(
            [
                f"{self.samples} samples on engine {self.engine}; every word as in the fixed-point evaluation",
                *self.treated.lines(),
                comparison("cycles per sample", self.cycles_predicted, self.cycles_simulated),
                comparison("latency", self.latency_predicted, self.latency_simulated),
                *([] if self.updates_predicted else [f"{'model writes':<24}the cycles ARE NOT those of the schedule"]),
                f"{'overflows':<24}{counters.lane_overflows + counters.root_overflows}",
                f"{'domain errors':<24}{counters.domain_errors}",
            ]
        )


def simulate(build: Stages, inputs: Data, run: LearnOptions) -> Simulation:
    """Run the program on an engine: a simulation of the accelerator, or a board.

    The parameters are those of `evaluation`. Without an engine it is the cycle model. Every word is compared with the
    fixed-point evaluation; a difference is an AssertionError, because it is a fault of this tool and not of the user.
    """
    engine = checked_engine("model" if run.engine is None else run.engine)
    check_installed(engine)
    data, models, treated = inputs_of(build, inputs, run)
    steps = steps_of(build, sample_words(build, data))
    ran = pass_over(build, engine, words_of(build, models), steps, data.count // build.lowered.samples)
    unstepped = without_steps(build, ran.results)
    shown = {name: build.result_type(name).to_reals(unstepped[name]) for name, _ in build.sample.results}
    return Simulation(
        engine=engine,
        samples=data.count,
        arrays=_returned(build, model_reals(build, ran.models), shown, stacked=data.stacked),
        cycles_predicted=build.schedule.per_sample(build.schedule.cycles),
        cycles_simulated=build.schedule.per_sample(ran.cycles),
        latency_predicted=build.schedule.latency,
        latency_simulated=ran.latency,
        counters=ran.counters,
        updates_predicted=ran.updates_predicted,
        treated=treated,
    )


def call(build: Stages, arrays: Sequence[ArrayLike], named: Mapping[str, ArrayLike]) -> Any:
    """Run the program on the cycle model, as a Python function call does.

    Arrays come by position, in the order of the declarations, or by name. A kernel returns its result, or a tuple of
    its results. A program that learns returns a dictionary of its models after the step and its results.
    """
    names = list(shapes_of(build.sample, "input", "label", "model"))
    given = dict(zip(names, arrays, strict=False))
    if len(arrays) > len(names):
        raise TablaError(
            f"'{build.name}' takes {len(names)} arrays, but {len(arrays)} are given", hint=", ".join(names)
        )
    for name in named:
        if name in given:
            raise TablaError(f"'{name}' is given twice", hint="give it either by position or by name")
    found = simulate(build, Data({**given, **named}), LearnOptions()).arrays
    if build.reading.trainable:
        return dict(found)
    results = tuple(found.values())
    return results[0] if len(results) == 1 else results
