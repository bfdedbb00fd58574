"""``--format auto``: choosing the number format of a program from its data.

The program is lowered for wide words first, because its values in float64 do not depend on the format. The choice
itself is :mod:`tabla.learn.format_choice`; here is what judges a format there: what the program learns in it, or how
far its results are from float64.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabla.base.arrays import Arrays, Reals
from tabla.base.source import TablaError, TablaValueError
from tabla.build.arrays import Samples, held, steps_of, words_of
from tabla.build.options import Options
from tabla.build.rate import built_rate, with_mantissa
from tabla.build.stages import Stages
from tabla.graph.compiled.plans import Evaluators, scaled, seconds
from tabla.graph.evaluate_float import FloatPlan
from tabla.graph.format import Format, width_of
from tabla.graph.graph import Graph
from tabla.graph.passes.model_guard import largest_allowed
from tabla.graph.words import WordType
from tabla.learn.data.dataset import Data
from tabla.learn.data.options import DataOptions
from tabla.learn.data.source import DataSource
from tabla.learn.data.split import Split
from tabla.learn.format_choice import GUARDS, FormatChoice, Judge, Survey, Tried, survey
from tabla.learn.measure import Measure
from tabla.learn.options import LearnOptions
from tabla.learn.runs import inputs_of
from tabla.learn.train import Start, learning_start, measured_graph

Words = NDArray[np.int64]
Rows = NDArray[np.int64]
Made = Callable[[Options], Stages]
"""Makes the stages of the program for some options."""
Chosen = tuple[Options, FormatChoice | None]
"""The options of the build, and how their format was chosen, if it was chosen from data."""

HELD_BACK = Split(test=0.0, validation=0.2, seed=0)
"""A fifth of the samples judges what the program learns from the others."""
MOST_SAMPLES = 4096
"""So many samples are tried at most; of more, a part is drawn that keeps their order."""
MOST_SECONDS = 5.0
"""A trial takes so many samples and epochs as numpy would work through in this time; machine code takes a twentieth."""
_LEAST_SAMPLES = 500
"""A trial takes fewer epochs before it takes fewer samples than these."""
_TRIALS = 6
"""About so many trials share the machine code of one text."""

_WIDE = ("q16.16", "q8.24", "q24.8", "q4.28", "q2.30")
"""Formats of the widest words. The first one that holds the constants of the program serves to read it."""


def is_automatic(options: Options) -> bool:
    """Return whether the options leave the number format to the data. Raises `TablaError` for a width of no word."""
    return options.format is not None and width_of(options.format) is not None


def for_learning(
    made: Made, options: Options, data: Data, learning: LearnOptions, *, needs_test: bool = True
) -> Chosen:
    """Return the options with the format that fits a training run, if they leave the format to the data.

    Only the training part is looked at. Values that are infinite in float64 are a `TablaError`. Without `needs_test`,
    the split may take a validation part alone.
    """
    if not is_automatic(options):
        return options, None
    wide = wide_stages(made, options)
    start = learning_start(wide, data, learning, needs_test=needs_test)
    judge = learning_judge(made, options, wide, start, learning)
    return chosen_by(options, learning_survey(wide, start, learning), judge)


def learning_survey(wide: Stages, start: Start, learning: LearnOptions) -> Survey:
    """Return the values that a training run from `start` takes, in the stages that `wide_stages` returns."""
    passes = learning.passes if wide.lowered.updates else 1
    return _survey(wide, start.ready.parts.training, start.models, passes)


def for_inputs(made: Made, options: Options, inputs: Data, run: LearnOptions) -> Chosen:
    """Return the options with the format that fits one pass over `inputs`, if they leave the format to the data.

    The parameters are those of :func:`tabla.learn.runs.evaluation`.
    """
    if not is_automatic(options):
        return options, None
    wide = wide_stages(made, options)
    found, models, _ = inputs_of(wide, inputs, run)
    return chosen_by(options, _survey(wide, found, models, 1), _Results.of(made, options, wide, found, models))


def for_build(
    made: Made,
    options: Options,
    data: DataSource | Data | None,
    about: DataOptions,
    learning: LearnOptions,
    *,
    first: LearnOptions | None = None,
) -> Chosen:
    """Return the options with the format that fits a training run on `data`, or else a pass over the options' inputs.

    `about` are the options of the data, and `first` has what `learning` leaves open: the epochs, and the seed that
    draws the models that inputs lack. Whatever is given is a `TablaError` where nothing is chosen by it.
    """
    first = first or LearnOptions()
    given = {**about.given(), **learning.given()}
    if is_automatic(options) and data is not None:
        epochs = first.epochs if learning.epochs is None else learning.epochs
        return for_learning(made, options, Data.of_source(data, about), replace(learning, epochs=epochs))
    if is_automatic(options) and options.inputs is not None and given.keys() <= {"weights", "seed", "samples"}:
        seed = first.seed if learning.seed is None else learning.seed
        return for_inputs(made, options, Data(options.inputs, samples=about.samples), replace(learning, seed=seed))
    for name in ["data"] * (data is not None) + list(given):
        option = f"--{name.replace('_', '-')}"
        hint = "add --data FILE, in Python data=..." if is_automatic(options) else "add --format auto"
        raise TablaValueError(f"{option} has a meaning only where data choose the format", hint=hint)
    return options, None


def wide_stages(made: Made, options: Options) -> Stages:
    """Return the stages of the program in the first format of wide words that holds its constants.

    A program with integers is a `TablaError`, unless all of them are inputs of a program that learns: these say rows.
    """
    fault: TablaError | None = None
    for text in _WIDE:
        try:
            wide = made(replace(options, format=text, model_guard=None))
            _ = wide.lowered
        except TablaError as found:
            fault = fault or found
            continue
        rows = {t.name for t in wide.lowered.tensors.values() if t.role == "input"} if wide.lowered.updates else set()
        if others := wide.reading.integers - rows:
            name = sorted(others)[0]
            raise TablaError(
                f"'{name}' holds integers, and --format {options.format} chooses for real numbers alone",
                hint="name a format, such as --format q16.16: its integers have as many bits as its words",
            )
        return wide
    assert fault is not None
    raise fault


def _survey(wide: Stages, found: Samples, models: Mapping[str, Reals], epochs: int) -> Survey:
    size = wide.lowered.samples
    count = found.count // size
    # An integer is a word in every format, so as a real number it is as small as the word says.
    part = scaled(found.arrays, wide.integers, -wide.format.fraction)
    learnt = {name: array[: count * size] for name, array in part.items()}
    plan = FloatPlan.of(wide.lowered, wide.format.fraction)
    return survey(wide.lowered, steps_of(wide, learnt), models, count=count, epochs=epochs, part=part, plan=plan)


def chosen_by(options: Options, found: Survey, judge: Judge) -> tuple[Options, FormatChoice]:
    """Return the options, whose format is left to the data, with the format that the judge likes best.

    In a format that data chose, other data saturates.
    """
    width = width_of(options.format or "")
    assert width is not None
    choice = found.choose(width, judge, guard=options.model_guard)
    return replace(options, format=str(choice.format), model_guard=choice.guard, saturate=True), choice


def allowed_guards(made: Made, options: Options, number: Format) -> tuple[int, ...]:
    """Return the guard bits to try in a format: `GUARDS`, or fewer where the format or the learning rate allow fewer.

    A program that has no such format is a `TablaError`.
    """
    graph = made(replace(options, format=str(number), model_guard=None)).lowered
    most = largest_allowed(graph, number)
    return tuple(dict.fromkeys(min(guard, most) for guard in GUARDS)) if graph.updates else (0,)


def learning_judge(made: Made, options: Options, wide: Stages, start: Start, learning: LearnOptions) -> Judge:
    """Return what judges formats for a training run from `start`, whose training part alone is looked at.

    `wide` are the stages that `wide_stages` returns, and the other parameters those of :func:`for_learning`. The judge
    learns, unless the program has no gradient, or compares nothing with a label.
    """
    if not wide.lowered.updates:
        return _Results.of(made, options, wide, start.ready.parts.training, start.models)
    try:
        measured_graph(wide, start.ready, learning.predict)
    except TablaError:
        if learning.predict is not None:
            raise
        return _Results.of(made, options, wide, start.ready.parts.training, start.models)
    return Learner.of(made, options, wide, list(_lessons(wide, start, learning.passes, learning.predict)))


def trial_size(graph: Graph, samples: int, epochs: int) -> tuple[int, int]:
    """Return how many of the samples, and how many epochs, a trial takes.

    The numbers depend on the program and the data alone, and on no clock.
    """
    cost = seconds(graph) / graph.samples
    fewer = int(MOST_SECONDS / (cost * epochs))
    count = min(samples, MOST_SAMPLES, max(_LEAST_SAMPLES, fewer))
    return count, max(1, min(epochs, int(MOST_SECONDS / (cost * count))))


def drawn_rows(count: int, wanted: int) -> Rows:
    """Return the positions of `wanted` samples of so many, in their order."""
    return np.sort(np.random.default_rng(0).permutation(count)[:wanted])


def drawn(samples: Samples, wanted: int) -> Samples:
    """Return so many of the samples, in the order that they have."""
    return samples if wanted >= samples.count else samples.taken(drawn_rows(samples.count, wanted))


def held_back(count: int, minibatch: int) -> tuple[tuple[Rows, Rows], ...]:
    """Return the samples to learn from and those that judge: with a fifth held back, and then twice all of them.

    Too few samples for a fifth, or for a minibatch of the others, leave the second alone.
    """
    every = np.arange(count)
    try:
        found = HELD_BACK.indices(count)
    except TablaError:
        return ((every, every),)
    divided = ((found.training, found.validation),) if len(found.training) >= minibatch else ()
    return *divided, (every, every)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Lesson:
    """What a program learns to be judged by: the same in float64 and in every format.

    It starts from the `models`, and `samples` are those of an epoch, counted from 0, as many `epochs` as there are. The
    loss is that of so many other samples as `judging` says, by its `name`. `of_reals` is that of models in float64, and
    `of_words` that of the words of a build; it also counts what saturated while it was measured.
    """

    models: Mapping[str, Reals]
    samples: Callable[[int], Arrays]
    epochs: int
    judging: int
    name: str
    evaluators: Evaluators
    of_reals: Callable[[Mapping[str, Reals]], float]
    of_words: Callable[[Stages, Mapping[str, Words]], tuple[float, int]]

    def steps(self, build: Stages, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """Return samples as steps, without those that fill no minibatch."""
        size = build.lowered.samples
        return steps_of(build, {name: array[: len(array) // size * size] for name, array in arrays.items()})


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Learner:
    """Judges a format by the loss of what the program learns in it.

    `reference` is the loss of what it learns in float64.
    """

    made: Made
    options: Options
    lesson: Lesson
    reference: float

    @staticmethod
    def of(made: Made, options: Options, wide: Stages, lessons: Sequence[Lesson]) -> Learner:
        """Learn in float64, and take the first lesson whose loss gets smaller there, or else the last one.

        Samples that are held back say nothing of a format if not even float64 learns anything about them. A sample may
        be a user, for example, whose tastes are learnt from that sample alone.
        """
        for lesson in lessons:
            plan = lesson.evaluators.real(wide.lowered, wide.format)
            plan.load(lesson.models)
            models = lesson.models
            for epoch in range(lesson.epochs):
                models = {**models, **plan.run(lesson.steps(wide, lesson.samples(epoch))).models}
            loss = lesson.of_reals(models)
            if loss < lesson.of_reals(lesson.models):
                break
        else:
            _refuse_divergence(options, {name: models[name] for name in wide.lowered.updates})
        return Learner(made=made, options=options, lesson=lesson, reference=loss if math.isfinite(loss) else -math.inf)

    @property
    def judged(self) -> str:
        """The name of the loss."""
        return self.lesson.name

    @property
    def samples(self) -> int:
        """The number of samples that the loss is of."""
        return self.lesson.judging

    def guards(self, number: Format) -> tuple[int, ...]:
        """Return the guard bits to try in a format."""
        return allowed_guards(self.made, self.options, number)

    def of_format(self, number: Format, guard: int) -> Tried:
        """Learn in a format, and measure the loss."""
        build = self.made(replace(self.options, format=str(number), model_guard=guard, saturate=True))
        graph, lesson = build.lowered, self.lesson
        words = words_of(build, with_mantissa(graph, number, {**lesson.models, **built_rate(graph)}))
        plan = lesson.evaluators.fixed(graph, number)
        plan.load(words)
        outside = 0
        for epoch in range(lesson.epochs):
            inside, saturated = held(build, lesson.samples(epoch))
            words = {**words, **plan.run(lesson.steps(build, words_of(build, inside))).models}
            outside = max(outside, saturated)  # the same samples in every epoch, which count once
        loss, beyond = lesson.of_words(build, words)
        return Tried(
            format=number,
            guard=guard,
            figure=loss if math.isfinite(loss) else math.inf,
            saturated=outside + beyond + plan.counts().overflows,
        )


def _refuse_divergence(options: Options, models: Mapping[str, Reals]) -> None:
    """Raise `TablaError` for models that no format of the width holds, after a run in float64 that learnt nothing."""
    width = width_of(options.format or "")
    assert width is not None
    for name, array in models.items():
        largest = float(np.abs(array).max(initial=0.0))
        if not largest < 2.0 ** (width - 1):
            raise TablaError(
                f"'{name}' takes values up to {largest:.4g} in float64, which no format of {width} bits holds, and the"
                " loss does not get smaller",
                hint="use a smaller learning rate (--learning-rate), or scale the data",
            )


def _lessons(wide: Stages, start: Start, epochs: int, predict: str | None) -> Iterator[Lesson]:
    """Yield the lessons of a training run: with a fifth of the training part held back, and without."""
    graph = wide.lowered
    count, passes = trial_size(graph, start.ready.parts.training.count, epochs)
    part = drawn(start.ready.parts.training, count)
    evaluators = Evaluators.of(graph, wide.format, count // graph.samples * passes * _TRIALS, wide.integer_tensors)
    for rows, others in held_back(part.count, graph.samples):
        rest, judging = part.taken(rows), part.taken(others)
        measured = _measure_of(wide, start, predict, rest, judging, {}, evaluators)

        def of_words(
            build: Stages, words: Mapping[str, Words], rest: Samples = rest, judging: Samples = judging
        ) -> tuple[float, int]:
            inside, outside = held(build, judging.arrays)
            measure = _measure_of(build, start, predict, rest, judging, words_of(build, inside), evaluators)
            score = measure.of_words(words)
            assert score.events is not None
            return score.loss, outside + score.events.overflows

        yield Lesson(
            models=start.models,
            samples=lambda epoch, arrays=rest.arrays: arrays,  # type: ignore[misc]
            epochs=passes,
            judging=judging.count,
            name=f"loss ({measured.loss.name})",
            evaluators=evaluators,
            of_reals=lambda models, measure=measured: measure.of_reals(models).loss,  # type: ignore[misc]
            of_words=of_words,
        )


def _measure_of(
    build: Stages,
    start: Start,
    predict: str | None,
    learnt: Samples,
    judging: Samples,
    words: Mapping[str, Words],
    evaluators: Evaluators,
) -> Measure:
    """Return the measure of the loss of some samples, by the kind of labels that the samples have which are learnt."""
    graph, prediction = measured_graph(build, start.ready, predict)
    measure = Measure.of(
        graph, prediction, build.format, metric="mse", samples=learnt.arrays, words=words, evaluators=evaluators
    )
    return replace(measure, labels=judging.arrays[prediction.label], samples=judging.arrays)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Results:
    """Judges a format by the largest relative error of what the program computes in it, against float64.

    The results are those of one pass over the samples, and the models after it. An error is relative to the largest
    value of its tensor. Nothing is as good as float64 itself.
    """

    made: Made
    options: Options
    data: Samples
    models: Mapping[str, Reals]
    real: Mapping[str, Reals]
    evaluators: Evaluators
    judged: str
    samples: int
    reference: float

    @staticmethod
    def of(made: Made, options: Options, wide: Stages, data: Samples, models: Mapping[str, Reals]) -> _Results:
        """Make the judge ready, and compute in float64."""
        graph, size = wide.lowered, wide.lowered.samples
        count, _ = trial_size(graph, data.count, 1)
        part = drawn(data, count // size * size or size)
        part = replace(part, arrays={name: array[: part.count // size * size] for name, array in part.arrays.items()})
        steps = part.count // size
        evaluators = Evaluators.of(graph, wide.format, steps * _TRIALS, wide.integer_tensors)
        plan = evaluators.real(graph, wide.format)
        plan.load(models)
        ran = plan.run(steps_of(wide, part.arrays), [tensor for _, tensor in graph.results], steps)
        real = {shown: ran.kept[tensor] for shown, tensor in graph.results}
        return _Results(
            made=made,
            options=options,
            data=part,
            models=models,
            real={**real, **{name: ran.models[name] for name in graph.updates}},
            evaluators=evaluators,
            judged="largest relative error",
            samples=part.count,
            reference=-math.inf,
        )

    def guards(self, number: Format) -> tuple[int, ...]:
        """Return the guard bits to try in a format."""
        return allowed_guards(self.made, self.options, number)

    def of_format(self, number: Format, guard: int) -> Tried:
        """Compute in a format, and compare with float64."""
        build = self.made(replace(self.options, format=str(number), model_guard=guard, saturate=True))
        graph = build.lowered
        inside, outside = held(build, self.data.arrays)
        plan = self.evaluators.fixed(graph, number)
        plan.load(words_of(build, with_mantissa(graph, number, {**self.models, **built_rate(graph)})))
        steps = self.data.count // graph.samples
        keep = [tensor for _, tensor in graph.results]
        ran = plan.run(steps_of(build, words_of(build, inside)), keep, steps)
        # In a narrow format the words of positions are integers.
        found = {shown: build.result_type(shown).to_reals(ran.kept[tensor]) for shown, tensor in graph.results}
        types = {name: WordType.of(graph.tensors[name], number) for name in graph.updates}
        found |= {name: types[name].to_reals(ran.models[name]) for name in graph.updates}
        return Tried(
            format=number,
            guard=guard,
            figure=max((_relative_error(found[name], real) for name, real in self.real.items()), default=0.0),
            saturated=outside + ran.counts.overflows,
        )


def _relative_error(found: Reals, real: Reals) -> float:
    largest = float(np.abs(real).max(initial=0.0))
    error = float(np.abs(found - real).max(initial=0.0))
    return error / largest if largest else error
