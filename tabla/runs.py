"""Evaluating, simulating and training a build: arrays of real numbers in, arrays and figures out.

Every function takes the :class:`~tabla.stages.Stages` of a build. Arrays of samples have one leading axis of samples;
arrays of models have none. `Reals` are float64 numbers, `Words` are the signed integers of the number format.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabla.compiled.plans import Evaluators
from tabla.fleet.share import share_of
from tabla.given import Data, Given, given_models, reals, request_of
from tabla.ir.evaluate import Counts, Run
from tabla.ir.graph import Graph
from tabla.ir.words import integer_words, saturated, to_real, to_words
from tabla.parameters import checked_truth, checked_whole, optional_whole
from tabla.sim.machine import Counters
from tabla.simulation import check_installed, checked_engine, session
from tabla.source import Label, TablaError
from tabla.stages import Stages
from tabla.training.arrays import (
    Arrays,
    Reals,
    Samples,
    initial_models,
    refuse_strangers,
    stack_samples,
    take_models,
)
from tabla.training.events import Events, events
from tabla.training.fleet import fixed_plan
from tabla.training.preparation import Preparation, separated
from tabla.training.rate import built_rate, with_mantissa, without_rate
from tabla.training.record import as_predicted, comparison

Words = NDArray[np.int64]


def shapes_of(graph: Graph, *roles: str) -> dict[str, tuple[int, ...]]:
    """Return the shapes of all tensors that have one of the given roles, in the order of the program text.

    `roles` are those of :class:`tabla.ir.graph.Tensor`: ``input``, ``label``, ``model`` and so on.
    """
    return {t.name: t.shape for t in graph.tensors.values() if t.role in roles}


def samples_of(build: Stages, arrays: Arrays, first: int | None) -> Samples:
    """Return the inputs and labels of at most the `first` samples.

    An input or label that the program declares but never reads may be missing from `arrays`; it is filled with zeros.
    """
    read = {tensor for s in build.sample.statements for tensor in s.sources} | {t for _, t in build.sample.results}
    shapes = shapes_of(build.sample, "input", "label")
    given = {name: shape for name, shape in shapes.items() if name in read or name in arrays}
    samples = stack_samples(arrays, given)
    # The samples of a program without inputs are all alike, so any requested number of them will do.
    count = samples.count if not first else min(samples.count, first) if given else first
    found = {name: array[:count] for name, array in samples.arrays.items()}
    found |= {name: np.zeros((count, *shape)) for name, shape in shapes.items() if name not in given}
    return replace(samples, arrays=found, count=count)


def inputs_of(
    build: Stages, inputs: Given, first: int | None, seed: int | None, weights: Data | None
) -> tuple[Samples, dict[str, Reals]]:
    """Split one set of arrays into the samples and the initial models.

    Models come from `inputs` or from `weights`; one that both have is a `TablaError`. With a `seed`, a model that is
    missing from both gets random values. Without one it is a `TablaError`. A program that brings the values of its
    models needs neither. A learning rate that is missing is the one
    that the program was compiled with; in what is returned its mantissa stands for it.
    """
    first, seed = optional_whole("samples", first), optional_whole("seed", seed)
    shapes = shapes_of(build.lowered, "model")
    given, stored = given_models(weights, build.reading.merge, shapes)
    request = request_of(shapes_of(build.sample, "input"), shapes_of(build.sample, "label"))
    arrays, _, origin = request.read(inputs, "inputs", stored)
    if weights is None:  # the models may be among the inputs, and what is beside them
        arrays, stored = separated(arrays)
    if twice := sorted(given.keys() & arrays.keys()):
        hint = "leave it out of one of them"
        raise TablaError(f"the inputs and the weights both hold the model '{twice[0]}'", hint=hint)
    own, brought = separated(build.reading.models)
    arrays = stored.before(brought).apply(arrays, request.shapes, origin.place) | given
    refuse_strangers(arrays, shapes_of(build.sample, "input", "label", "model"), "the input")
    drawn = {} if seed is None else initial_models(shapes, seed)
    found = replace(samples_of(build, arrays, first), origin=origin)
    cure = "add it, take it from --weights, or draw it with --seed 0"
    models = take_models({**drawn, **built_rate(build.lowered), **own, **arrays}, shapes, "the input", cure=cure)
    return whole_minibatches(build, found), with_mantissa(build.lowered, build.format, models)


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


def steps_of(build: Stages, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Reshape arrays from [samples, ...] to what the step graph takes.

    With minibatches of B samples that is [samples / B, B, ...]. Without minibatches the shape stays [samples, ...].
    """
    size = build.lowered.samples
    return {n: a.reshape(-1, size, *a.shape[1:]) for n, a in arrays.items()} if size > 1 else dict(arrays)


def without_steps(build: Stages, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Undo `steps_of`: reshape arrays from [steps, B, ...] back to [samples, ...]."""
    size = build.lowered.samples
    return {n: a.reshape(-1, *a.shape[2:]) for n, a in arrays.items()} if size > 1 else dict(arrays)


def sample_words(build: Stages, samples: Samples) -> dict[str, Words]:
    """Return the words of samples.

    A value that the format does not hold is a `TablaError` at its place in the data, or with the option ``saturate``
    the nearest word.
    """
    try:
        return words_of(build, held(build, samples.arrays)[0], samples.place)
    except TablaError as fault:
        if "outside the range of" not in fault.message:
            raise
        raise TablaError(fault.message, hint=f"{fault.hint}; --saturate takes the nearest words") from None


def held(build: Stages, arrays: Arrays) -> tuple[Arrays, int]:
    """Return inputs and labels as the build takes them: with the option ``saturate``, inside the range of its format.

    The second value counts the numbers that were outside. Integers never saturate, because they would be wrong.
    """
    if not build.options.saturate:
        return arrays, 0
    found = {name: saturated(array, build.format) for name, array in arrays.items() if name not in build.integers}
    inside = {name: array for name, (array, _) in found.items()}
    return {**arrays, **inside}, sum(outside for _, outside in found.values())


def words_of(build: Stages, arrays: Arrays, place_of: Callable[[int], str] | None = None) -> dict[str, Words]:
    """Return the words of arrays by name. `place_of` is that of :func:`tabla.ir.words.to_words`."""
    places: dict[str, Any] = {} if place_of is None else {"place_of": place_of}
    for name in sorted(arrays.keys() & build.integers):
        if not np.array_equal(arrays[name], np.trunc(arrays[name])):
            raise TablaError(f"'{name}' is a tensor of integers, but its array has fractions", hint="round the data")
    roles = {name: tensor.role for name, tensor in build.lowered.tensors.items()}
    return {
        name: integer_words(array, build.format, name)
        if name in build.integers
        else to_words(
            array, build.format, name, role=roles.get(name, ""), guard=build.lowered.tensors[name].guard, **places
        )
        for name, array in arrays.items()
    }


def model_reals(build: Stages, words: Mapping[str, Words]) -> dict[str, Reals]:
    """Return the values of models; those of wide models are stored integers."""
    tensors = build.lowered.tensors
    return {name: to_real(array, build.format, guard=tensors[name].guard) for name, array in words.items()}


def _returned(build: Stages, models: Arrays, results: Arrays, *, stacked: bool) -> dict[str, Reals]:
    """Select the arrays that a run returns, by name.

    A program that learns returns its models after the last step and the results of the last step. A program without
    updates returns the results of every sample, if its data was `stacked` (had an axis of samples). The tensors that a
    kernel keeps on chip are models of the graph, but they are not returned.
    """
    every = stacked and not build.lowered.updates
    shown = without_rate(build.lowered, models) if build.reading.trainable else {}
    found = {name: array if every else array[-1] for name, array in results.items()}
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


def evaluate(
    build: Stages,
    inputs: Given,
    *,
    float64: bool = False,
    samples: int | None = None,
    seed: int | None = None,
    weights: Data | None = None,
    devices: int | None = None,
) -> dict[str, Reals]:
    """Compute what the program means: the arrays of :func:`evaluation`, by name."""
    found = evaluation(build, inputs, float64=float64, samples=samples, seed=seed, weights=weights, devices=devices)
    return dict(found.arrays)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Evaluation:
    """The outcome of an evaluation: the returned models and results, and the events; float64 has no events."""

    arrays: Mapping[str, Reals] = field(repr=False)
    events: Events | None

    def text(self) -> str:
        """Return what ``tabla eval`` prints; nothing for float64."""
        return "" if self.events is None else "\n".join(self.events.lines())


def evaluation(
    build: Stages,
    inputs: Given,
    *,
    float64: bool = False,
    samples: int | None = None,
    seed: int | None = None,
    weights: Data | None = None,
    devices: int | None = None,
) -> Evaluation:
    """Compute what the program means, without any hardware: in words of the number format, or in float64.

    `inputs` holds inputs, labels and initial models by name. `samples` limits the run to the first samples. Models that
    `inputs` lacks come from `weights`, or `seed` draws them. With several `devices`, each takes its share of every step
    (:mod:`tabla.fleet`); float64 does not round, so there they change nothing. The result holds real arrays by name,
    see `_returned`. Data that does not fit the program is a `TablaError`.
    """
    checked_truth("float64", float64)
    number = checked_whole("devices", 1 if devices is None else devices)
    share = build if number == 1 else share_of(build, number)
    if float64 and build.reading.evaluate_float is not None:
        calls = optional_whole("samples", samples)
        arrays, _, _ = request_of({}, {}).read(inputs, "inputs", Preparation())
        arrays |= {} if weights is None else reals(weights, "weights")
        return Evaluation(arrays=build.reading.evaluate_float(arrays, calls), events=None)
    data, models = inputs_of(build, inputs, samples, seed, weights)
    graph, count = build.lowered, data.count // build.lowered.samples
    keep = [tensor for _, tensor in graph.results]
    found, evaluators = None, Evaluators.of(graph, build.format, count)
    if float64:
        real = evaluators.real(graph)
        real.load(models)
        ran = real.run(steps_of(build, data.arrays), keep, count)
        after, kept = dict(ran.models), dict(ran.kept)
    else:
        fixed = fixed_plan(evaluators, share.lowered, build.format, None if number == 1 else number)
        fixed.load(words_of(build, models))
        words = fixed.run(steps_of(build, sample_words(build, data)), keep, count)
        _integers_in_range(build, words.counts)
        found = events(graph, words.counts)
        after = model_reals(build, words.models)
        formats = {tensor: build.format_of(shown) for shown, tensor in graph.results}
        kept = {name: to_real(array, formats[name]) for name, array in words.kept.items()}
    results = without_steps(build, {shown: kept[tensor] for shown, tensor in graph.results})
    return Evaluation(arrays=_returned(build, after, results, stacked=data.stacked), events=found)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Simulation:
    """The outcome of a run on the simulated accelerator.

    `arrays` holds the returned models and results by name. `cycles_predicted` and `cycles_simulated` are the cycles
    per sample in the steady state, from the schedule and counted on the engine. The latencies are those of the first
    sample, in cycles. `updates_predicted` says whether models were written in exactly the cycles of the schedule.
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
                comparison("cycles per sample", self.cycles_predicted, self.cycles_simulated),
                comparison("latency", self.latency_predicted, self.latency_simulated),
                *([] if self.updates_predicted else [f"{'model writes':<24}the cycles ARE NOT those of the schedule"]),
                f"{'overflows':<24}{counters.lane_overflows + counters.root_overflows}",
                f"{'domain errors':<24}{counters.domain_errors}",
            ]
        )


def simulate(
    build: Stages,
    inputs: Given,
    *,
    engine: str = "model",
    samples: int | None = None,
    seed: int | None = None,
    weights: Data | None = None,
) -> Simulation:
    """Run the program on an engine: a simulation of the accelerator, or a board.

    The arguments are those of `evaluate`, with the name of the `engine`. Every word is compared with the fixed-point
    evaluation; a difference is an AssertionError, because it is a fault of this tool and not of the user.
    """
    engine = checked_engine(engine)
    check_installed(engine)
    data, models = inputs_of(build, inputs, samples, seed, weights)
    model_words, steps = words_of(build, models), steps_of(build, sample_words(build, data))
    count = data.count // build.lowered.samples
    # The evaluation comes first, because it reports bad data: a machine would stop at a position outside its tensor.
    expected = expected_run(build, model_words, steps, count)
    with session(build.schedule, build.image, engine, build.module, build.overlay) as machine:
        machine.load(model_words)
        results = machine.run(steps, count)
        after = {**model_words, **machine.models()}
        hold_agreement(build, expected, after, results)
        real = model_reals(build, after)
        unstepped = without_steps(build, results)
        shown = {name: to_real(unstepped[name], build.format_of(name)) for name, _ in build.sample.results}
        return Simulation(
            engine=engine,
            samples=data.count,
            arrays=_returned(build, real, shown, stacked=data.stacked),
            cycles_predicted=build.schedule.per_sample(build.schedule.cycles),
            cycles_simulated=build.schedule.per_sample(machine.cycles),
            latency_predicted=build.schedule.latency,
            latency_simulated=machine.latency,
            counters=machine.counters,
            updates_predicted=machine.updates_predicted,
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
    found = simulate(build, {**given, **named}).arrays
    if build.reading.trainable:
        return dict(found)
    results = tuple(found.values())
    return results[0] if len(results) == 1 else results


def _integers_in_range(build: Stages, counts: Counts) -> None:
    """Raise `TablaError` at the statement in which an integer left the range of the number format.

    A real number that leaves the range saturates and is counted. A saturated integer would be wrong, so it is refused.
    """
    for statement, overflows in zip(build.lowered.statements, counts.overflows_by_statement, strict=True):
        tensor = build.lowered.tensors[statement.target]
        name = (tensor.origin or tensor.name).partition(".")[0]
        if overflows and name in build.integers:
            width = build.format.width
            labels = (Label(statement.span, "computed here"),) if statement.span else ()
            raise TablaError(
                f"the integers of '{name}' leave the range of {width} bits, {build.format.lowest:,} to"
                f" {build.format.highest:,} (overflows: {overflows:,})",
                *labels,
                hint="use a wider --format, or inputs that keep them smaller",
            )


def expected_run(build: Stages, models: Mapping[str, Words], samples: Mapping[str, Words], count: int) -> Run:
    """Return the fixed-point evaluation of a run. Raises `TablaError` for data that the program cannot take."""
    plan = Evaluators.of(build.lowered, build.format, count).fixed(build.lowered, build.format)
    plan.load(models)
    expected = plan.run(samples, [tensor for _, tensor in build.lowered.results], count)
    _integers_in_range(build, expected.counts)
    return expected


def hold_agreement(build: Stages, expected: Run, after: Mapping[str, Words], results: Mapping[str, Words]) -> None:
    """Compare every word of the machine with the fixed-point evaluation; a difference is an AssertionError."""
    for name, array in expected.models.items():
        assert np.array_equal(after[name], array), f"model {name} differs from the fixed-point evaluation"
    for shown, tensor in build.lowered.results:
        assert np.array_equal(results[shown], expected.kept[tensor]), f"result {shown} differs from the evaluation"
