"""Choosing a format, learning, and deciding: between arrays of float64 and the words of an accelerator."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from tabla.automatic import chosen_by, is_automatic, wide_stages
from tabla.compiled.plans import Evaluators
from tabla.ir.words import to_real, to_words
from tabla.options import Options
from tabla.runs import model_reals, shapes_of, steps_of, without_steps, words_of
from tabla.simulation import EVALUATION, session
from tabla.sklearn.program import DECAY, DECISION, INPUT, LABEL, Program, Recipe
from tabla.training.format_choice import survey
from tabla.training.measure import without_updates

Reals = NDArray[np.float64]
Words = NDArray[np.int64]
Initial = Callable[[Mapping[str, tuple[int, ...]]], Mapping[str, Reals]]
"""Makes the models of given shapes to start from."""
_ROOM = 2
"""A chosen format holds inputs so many times as large as those of `fit`, because later inputs may be larger."""
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

    def arrays(self, epoch: int) -> dict[str, Reals]:
        """Return the samples by the names of the program."""
        return {INPUT: self.inputs, LABEL: self.labels, **self.paid(epoch)}

    def paid(self, epoch: int) -> dict[str, Reals]:
        """Return how much each sample shrinks the weights, by the name of the program, if there is a penalty."""
        return {} if self.decays is None else {DECAY: self.decays(epoch)}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Learned:
    """Models as words, with the recipe of the accelerator that learns them."""

    recipe: Recipe
    words: Mapping[str, Words] = field(repr=False)

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


def begun(program: Program, options: Options, samples: Samples, initial: Initial, epochs: int) -> Learned:
    """Return the models to start from, in the number format that `options` ask for.

    `initial` makes the models of given shapes. A format that is left to the data fits `epochs` epochs of the samples.
    """
    if is_automatic(options):
        wide = wide_stages(program, options)
        models = initial(shapes_of(wide.lowered, "model"))
        count = len(samples.inputs) // options.minibatch
        whole = {name: array[: count * options.minibatch] for name, array in samples.arrays(0).items()}
        evaluators = Evaluators.of(wide.lowered, wide.format, _FITS * epochs * count)
        plan = evaluators.real(wide.lowered)
        roomy = {INPUT: _ROOM * samples.inputs}
        found = survey(wide.lowered, steps_of(wide, whole), models, count=count, epochs=epochs, part=roomy, plan=plan)
        options, _ = chosen_by(program, options, found)
    else:
        _ = program(options).lowered  # a format that does not hold the program is refused before the models are made
    recipe = Recipe(
        program=program,
        format=str(options.chosen_format()),
        model_guard=options.model_guard or 0,
        minibatch=options.minibatch,
        pes=options.chosen_template().pes,
    )
    return Learned(recipe=recipe, words=begun_words(recipe, initial))


def begun_words(recipe: Recipe, initial: Initial) -> dict[str, Words]:
    """Return the words that learning starts from."""
    build = recipe.build()
    return words_of(build, initial(shapes_of(build.lowered, "model")))


def learned(before: Learned, samples: Samples, *, epochs: int, engine: str = EVALUATION) -> tuple[Learned, Course]:
    """Learn for so many epochs in the evaluation or on an engine, starting from the models `before`.

    Return the models after the last epoch, and the course.
    The words are the same on every engine. Samples outside of the range of the format saturate, with a warning.
    """
    build = before.recipe.build()
    graph, number = build.lowered, before.recipe.number_format
    decision = dict(graph.results)[DECISION]
    kept: list[Reals] = []

    def to_steps(arrays: Mapping[str, Reals]) -> dict[str, Words]:
        held = {name: to_words(saturated(before.recipe, array, name), number) for name, array in arrays.items()}
        whole = len(samples.inputs) // graph.samples * graph.samples
        return steps_of(build, {name: array[:whole] for name, array in held.items()})

    measured = to_steps({INPUT: samples.inputs, LABEL: samples.labels})

    def steps(epoch: int) -> dict[str, Words]:
        return measured | to_steps(samples.paid(epoch))

    def keep(words: Words) -> None:
        kept.append(to_real(without_steps(build, {DECISION: words})[DECISION], number))

    words = dict(before.words)
    if engine == EVALUATION:
        count = len(samples.inputs) // graph.samples
        plan = Evaluators.of(graph, number, _FITS * epochs * count).fixed(graph, number)
        plan.load(words)
        for epoch in range(epochs):
            run = plan.run(steps(epoch), [decision])
            keep(run.kept[decision])
        words, overflows = {**words, **run.models}, run.counts.overflows
    else:
        with session(build.schedule, build.image, engine, build.module) as machine:
            machine.load(words)
            for epoch in range(epochs):
                keep(machine.run(steps(epoch))[DECISION])
            words |= machine.models()
            overflows = machine.counters.lane_overflows + machine.counters.root_overflows
    return replace(before, words=words), Course(decisions=tuple(kept), overflows=overflows)


def decisions(models: Learned, inputs: Reals) -> Reals:
    """Return the decision values, [samples, outputs], of inputs [samples, features]."""
    build, number = models.recipe.build(), models.recipe.number_format
    name = dict(build.sample.results)[DECISION]
    graph = without_updates(build.sample, name)
    plan = Evaluators.of(graph, number, _FITS * len(inputs)).fixed(graph, number)
    plan.load(models.words)
    samples = {INPUT: to_words(saturated(models.recipe, inputs, INPUT), number)}
    unused = {t.name: t.shape for t in graph.tensors.values() if t.role in ("input", "label") and t.name != INPUT}
    samples |= {label: np.zeros((len(inputs), *shape), dtype=np.int64) for label, shape in unused.items()}
    return to_real(plan.run(samples, [name]).kept[name], number)


def saturated(recipe: Recipe, values: Reals, name: str) -> Reals:
    """Return values inside the range of the format. Values outside become the nearest ones, with a warning."""
    number = recipe.number_format
    lowest, highest = number.lowest / number.one, number.highest / number.one
    # Half a unit above the highest word is rounded to the highest word plus one, so the limit is the word itself.
    held = np.clip(values, lowest, highest)
    outside = int(np.count_nonzero(np.abs(held - values) > 0.5 / number.one))
    if outside:
        what = {INPUT: "X", LABEL: "y", DECAY: "the penalty"}[name]
        warnings.warn(
            f"{outside} values of {what} are outside of the range of {recipe.format} and saturate;"
            f" the largest one is {np.abs(values).max() / highest:.3g} times as large as the format holds",
            UserWarning,
            stacklevel=2,
        )
    return held
