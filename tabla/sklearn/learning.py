"""Choosing a format, learning, and deciding: between arrays of float64 and the words of an accelerator."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from tabla.build.arrays import held, model_reals, shapes_of, steps_of, without_steps, words_of
from tabla.build.options import Options
from tabla.build.stages import Stages
from tabla.graph.compiled.plans import Evaluators
from tabla.graph.graph import Graph
from tabla.graph.passes.inference import without_updates
from tabla.graph.words import saturated as inside_range
from tabla.host.engines.session import EVALUATION, session
from tabla.learn.auto_format import (
    Learner,
    Lesson,
    chosen_by,
    drawn_rows,
    held_back,
    is_automatic,
    trial_size,
    wide_stages,
)
from tabla.learn.format_choice import survey
from tabla.sklearn.program import DECAY, DECISION, INPUT, LABEL, Program, Recipe

Reals = NDArray[np.float64]
Words = NDArray[np.int64]
Initial = Callable[[Mapping[str, tuple[int, ...]]], Mapping[str, Reals]]
"""Makes the models of given shapes to start from."""
Losses = Callable[[Reals, Reals], Reals]
"""Returns the loss of each sample from decision values and labels, both [samples, outputs]."""
_ROOM = 2
"""A chosen format holds inputs so many times as large as those of `fit`, because later inputs may be larger."""
_RARE = 0.01
"""Up to this share of the inputs may saturate in a chosen format without a warning."""
_FITS = 20
"""How many times a text is expected to run: searches and cross-validation fit an estimator again and again."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Samples:
    """The samples of an epoch in the order in which they are learnt, as the program takes them.

    `inputs` is [samples, features] and `labels` [samples, outputs]. `decays` says for an epoch, counted from 0, how
    much each sample shrinks the weights; there is none without a penalty.
    """

    inputs: Reals
    labels: Reals
    decays: Callable[[int], Reals] | None

    def taken(self, rows: NDArray[np.int64]) -> Samples:
        """Return the samples at some positions, in that order."""
        decays = self.decays
        return Samples(
            inputs=self.inputs[rows],
            labels=self.labels[rows],
            decays=None if decays is None else lambda epoch: decays(epoch)[rows],
        )

    def arrays(self, epoch: int) -> dict[str, Reals]:
        """Return the samples by the names of the program."""
        return {INPUT: self.inputs, LABEL: self.labels, **self.paid(epoch)}

    def paid(self, epoch: int) -> dict[str, Reals]:
        """Return how much each sample shrinks the weights, by the name of the program, if there is a penalty."""
        return {} if self.decays is None else {DECAY: self.decays(epoch)}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Learned:
    """Models as words, with the recipe of the accelerator that learns them.

    `reach` is the largest absolute input of the samples that chose the format. It is None if the user named the format,
    or if many inputs saturate in it; inputs outside are then told.
    """

    recipe: Recipe
    words: Mapping[str, Words] = field(repr=False)
    reach: float | None = None

    @property
    def models(self) -> dict[str, Reals]:
        """The values of the models by the names of the program."""
        return model_reals(self.recipe.build(), self.words)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Course:
    """What happened while models were learnt.

    `decisions` has an array [samples, outputs] for each epoch: the decision values of every sample just before it was
    learnt from. `overflows` counts the results that saturated.
    """

    decisions: tuple[Reals, ...]
    overflows: int


def begun(
    program: Program,
    options: Options,
    samples: Samples,
    initial: Initial,
    losses: Losses,
    epochs: int,
    *,
    reach: float = 0.0,
) -> Learned:
    """Return the models to start from, in the number format that `options` ask for.

    `initial` makes the models of given shapes. A format that is left to the data fits `epochs` epochs of the samples:
    the `losses` of those that are held back decide (:mod:`tabla.learn.format_choice`). It has room for inputs of the
    size `reach`, even if these are smaller.
    """
    largest: float | None = None
    if is_automatic(options):
        wide = wide_stages(program, options)
        models = initial(shapes_of(wide.lowered, "model"))
        count = len(samples.inputs) // options.minibatch
        whole = {name: array[: count * options.minibatch] for name, array in samples.arrays(0).items()}
        evaluators = Evaluators.of(wide.lowered, wide.format, _FITS * epochs * count)
        plan = evaluators.real(wide.lowered, wide.format)
        roomy = {INPUT: _ROOM * samples.inputs}
        if reach:
            further = np.full((1, samples.inputs.shape[1]), reach)
            roomy = {INPUT: np.concatenate([roomy[INPUT], further, -further])}
        found = survey(wide.lowered, steps_of(wide, whole), models, count=count, epochs=epochs, part=roomy, plan=plan)
        lessons = list(_lessons(wide, samples, models, losses, epochs))
        options, _ = chosen_by(options, found, Learner.of(program, options, wide, lessons))
        _, outside = inside_range(samples.inputs, options.chosen_format())
        if outside <= _RARE * samples.inputs.size:
            largest = max(reach, float(np.abs(samples.inputs).max(initial=0.0)))
    else:
        _ = program(options).lowered  # a format that does not hold the program is refused before the models are made
    recipe = Recipe(
        program=program,
        format=str(options.chosen_format()),
        model_guard=options.model_guard or 0,
        minibatch=options.minibatch,
        pes=options.chosen_template().pes,
    )
    return Learned(recipe=recipe, words=begun_words(recipe, initial), reach=largest)


def _lessons(
    wide: Stages, samples: Samples, models: Mapping[str, Reals], losses: Losses, epochs: int
) -> Iterator[Lesson]:
    """Yield what a format is judged by: with a fifth of the samples held back, and without."""
    graph = wide.lowered
    count, passes = trial_size(graph, len(samples.inputs), epochs)
    part = samples.taken(drawn_rows(len(samples.inputs), count))
    evaluators = Evaluators.of(graph, wide.format, _FITS * passes * count)
    for rows, others in held_back(count, graph.samples):
        rest, judging = part.taken(rows), part.taken(others)

        def of_reals(models: Mapping[str, Reals], judging: Samples = judging) -> float:
            decided, decision = _deciding(wide)
            plan = evaluators.real(decided, wide.format)
            plan.load(models)
            found = plan.run(_unlabelled(decided, judging.inputs), [decision]).kept[decision]
            # The values of a run that diverged may be too large for float64; their loss is then infinite or no number.
            with np.errstate(over="ignore", invalid="ignore"):
                return float(losses(found, judging.labels).mean())

        def of_words(build: Stages, words: Mapping[str, Words], judging: Samples = judging) -> tuple[float, int]:
            decided, decision = _deciding(build)
            plan = evaluators.fixed(decided, build.format)
            plan.load(words)
            inside, outside = held(build, _unlabelled(decided, judging.inputs))
            run = plan.run(words_of(build, inside), [decision])
            found = build.result_type(DECISION).to_reals(run.kept[decision])
            return float(losses(found, judging.labels).mean()), outside + run.counts.overflows

        yield Lesson(
            models=models,
            samples=rest.arrays,
            epochs=passes,
            judging=len(others),
            name="loss",
            evaluators=evaluators,
            of_reals=of_reals,
            of_words=of_words,
        )


def _deciding(build: Stages) -> tuple[Graph, str]:
    """Return the part of a program that decides, and the name of its decision there."""
    decision = dict(build.sample.results)[DECISION]
    return without_updates(build.sample, decision), decision


def _unlabelled(graph: Graph, inputs: Reals) -> dict[str, Reals]:
    """Return inputs by the names of a program, with zeros for its label and its penalty, which decide nothing."""
    unused = {t.name: t.shape for t in graph.tensors.values() if t.role in ("input", "label") and t.name != INPUT}
    return {INPUT: inputs, **{name: np.zeros((len(inputs), *shape)) for name, shape in unused.items()}}


def begun_words(recipe: Recipe, initial: Initial) -> dict[str, Words]:
    """Return the words that learning starts from."""
    build = recipe.build()
    return words_of(build, initial(shapes_of(build.lowered, "model")))


def learned(
    before: Learned,
    samples: Samples,
    *,
    epochs: int,
    engine: str = EVALUATION,
    seen: Callable[[Reals], bool] = lambda decided: False,
) -> tuple[Learned, Course]:
    """Learn for so many epochs in the evaluation or on an engine, starting from the models `before`.

    Return the models after the last epoch, and the course. `seen` gets the decision values of each epoch, and says
    whether it is the last one.
    The words are the same on every engine. Samples outside of the range of the format saturate, with a warning.
    """
    build = before.recipe.build()
    graph, number = build.lowered, before.recipe.number_format
    decision = dict(graph.results)[DECISION]
    # What saturates in a chosen format was weighed when it was chosen.
    known = 0.0 if before.reach is None else math.inf
    kept: list[Reals] = []

    def to_steps(arrays: Mapping[str, Reals]) -> dict[str, Words]:
        inside = {name: saturated(before.recipe, array, name, known) for name, array in arrays.items()}
        whole = len(samples.inputs) // graph.samples * graph.samples
        return steps_of(build, {name: words[:whole] for name, words in words_of(build, inside).items()})

    measured = to_steps({INPUT: samples.inputs, LABEL: samples.labels})

    def steps(epoch: int) -> dict[str, Words]:
        return measured | to_steps(samples.paid(epoch))

    def keep(words: Words) -> bool:
        kept.append(build.result_type(DECISION).to_reals(without_steps(build, {DECISION: words})[DECISION]))
        return seen(kept[-1])

    words = dict(before.words)
    if engine == EVALUATION:
        count = len(samples.inputs) // graph.samples
        plan = Evaluators.of(graph, number, _FITS * epochs * count).fixed(graph, number)
        plan.load(words)
        for epoch in range(epochs):
            run = plan.run(steps(epoch), [decision])
            if keep(run.kept[decision]):
                break
        words, overflows = {**words, **run.models}, run.counts.overflows
    else:
        with session(build.schedule, build.image, engine, build.module) as machine:
            machine.load(words)
            for epoch in range(epochs):
                if keep(machine.run(steps(epoch))[DECISION]):
                    break
            words |= machine.models()
            overflows = machine.counters.lane_overflows + machine.counters.root_overflows
    return replace(before, words=words), Course(decisions=tuple(kept), overflows=overflows)


def decisions(models: Learned, inputs: Reals) -> Reals:
    """Return the decision values, [samples, outputs], of inputs [samples, features]."""
    build, number = models.recipe.build(), models.recipe.number_format
    graph, name = _deciding(build)
    plan = Evaluators.of(graph, number, _FITS * len(inputs)).fixed(graph, number)
    plan.load(models.words)
    samples = words_of(build, _unlabelled(graph, saturated(models.recipe, inputs, INPUT, models.reach or 0.0)))
    return build.result_type(DECISION).to_reals(plan.run(samples, [name]).kept[name])


def saturated(recipe: Recipe, values: Reals, name: str, known: float) -> Reals:
    """Return values inside the range of the format. Values outside become the nearest ones.

    There is a warning if there are values outside whose size is above `known`.
    """
    number = recipe.number_format
    inside, outside = inside_range(values, number)
    if outside and np.abs(values).max() > known:
        highest = number.highest / number.one
        what = {INPUT: "X", LABEL: "y", DECAY: "the penalty"}[name]
        warnings.warn(
            f"{outside} values of {what} are outside of the range of {recipe.format} and saturate;"
            f" the largest one is {np.abs(values).max() / highest:.3g} times as large as the format holds",
            UserWarning,
            stacklevel=2,
        )
    return inside
