"""One training run of a problem: from a split seed and a number format to the score of the held-out part.

The run is the one of ``tabla train --engine evaluation``: the same samples, initial models, order, steps and words. It
needs no schedule, because nothing is repeated on hardware. Machine code of a program is loaded once for all seeds.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from benchmarks.accuracy.problems import TEST_SHARE, Problem
from tabla.build.arrays import sample_words, steps_of, words_of
from tabla.build.options import Options
from tabla.build.stages import Stages
from tabla.driver import build
from tabla.graph.compiled.plans import Evaluators, RealsPlan, WordsPlan
from tabla.graph.format import Format
from tabla.graph.graph import Graph
from tabla.graph.passes.model_guard import largest_allowed
from tabla.learn.data.dataset import Data
from tabla.learn.data.parts import Parts
from tabla.learn.options import LearnOptions
from tabla.learn.train import Start, chosen_prediction, learning_start

Words = NDArray[np.int64]
WIDE = Format.parse("q16.16")
"""The format of runs in float64, whose values do not depend on it. Its words hold the constants of all problems."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """The metric on the held-out part, and the first digits of a hash of the words of all models."""

    metric: float
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept(Evaluators):
    """Evaluators that keep their plans: one for learning, and one for scoring, of one program in one format."""

    in_words: dict[bool, WordsPlan] = field(default_factory=dict)
    in_reals: dict[bool, RealsPlan] = field(default_factory=dict)

    def fixed(self, graph: Graph, fmt: Format) -> WordsPlan:
        """Return the plan in words, which is made once."""
        learns = bool(graph.updates)
        if learns not in self.in_words:
            self.in_words[learns] = Evaluators.fixed(self, graph, fmt)
        return self.in_words[learns]

    def real(self, graph: Graph, fmt: Format) -> RealsPlan:
        """Return the plan in float64, which is made once."""
        learns = bool(graph.updates)
        if learns not in self.in_reals:
            self.in_reals[learns] = Evaluators.real(self, graph, fmt)
        return self.in_reals[learns]


@dataclass(frozen=True, kw_only=True, eq=False)
class Trainer:
    """A problem in one number format, with `guard` guard bits of its models, for any number of split seeds.

    Data outside of the format is refused, or with `saturate` the nearest word stands for it. It learns in machine code
    if it is `compiled`, and else in numpy, with the same words.
    """

    problem: Problem
    format: Format = WIDE
    guard: int = 0
    saturate: bool = False
    compiled: bool = True

    @cached_property
    def _evaluators(self) -> _Kept:
        return _Kept(compiled=self.compiled)

    @property
    def options(self) -> Options:
        """The options of the build."""
        return Options(
            format=str(self.format),
            model_guard=self.guard or None,
            saturate=self.saturate,
            defines=self.problem.defines,
            learning_rate=self.problem.learning_rate,
        )

    @cached_property
    def stages(self) -> Stages:
        """The program. Raises `TablaError` if a constant rounds to zero, or for guard bits that the format does not
        take.
        """
        made = build(self.problem.program, self.options)
        _ = made.lowered
        return made

    @property
    def largest_guard(self) -> int:
        """The most guard bits that the format takes at the problem's learning rate."""
        return largest_allowed(self.stages.lowered, self.format)

    @property
    def reals_plan(self) -> RealsPlan:
        """The plan that learns in float64."""
        return self._evaluators.real(self.stages.lowered, self.stages.format)

    def start(self, seed: int) -> Start:
        """Return what training starts from: samples of each part, and the initial models."""
        data, test = self.problem.data(seed)
        given = Data(
            data,
            test=test,
            split=TEST_SHARE if test is None else None,
            split_seed=seed if test is None else None,
            shuffle=self.problem.shuffle,
            standardise=self.problem.standardise,
            standardise_labels=self.problem.standardise_labels,
        )
        return learning_start(self.stages, given, LearnOptions())

    def words(self, start: Start) -> Scored:
        """Learn in words and score them. Raises `TablaError` for samples that the format does not hold."""
        parts, models = self._parts(start), self.learnt(start)
        assert parts.test is not None
        digest = hashlib.sha256()
        for name in sorted(models):
            digest.update(np.ascontiguousarray(models[name], dtype="<i8").tobytes())
        return Scored(metric=parts.test.of_words(models).metric, words=digest.hexdigest()[:8])

    def learnt(self, start: Start) -> Mapping[str, Words]:
        """Learn in words, and return the words of all models; those of wide models are stored integers."""
        made = self.stages
        plan = self._evaluators.fixed(made.lowered, made.format)
        models = words_of(made, start.models)
        samples = steps_of(made, sample_words(made, start.ready.parts.training))
        plan.load(models)
        for _ in range(self.problem.epochs):
            models = {**models, **plan.run(samples).models}
        return models

    def reals(self, start: Start) -> float:
        """Learn in float64, and return the metric on the held-out part."""
        made, parts = self.stages, self._parts(start)
        plan = self.reals_plan
        plan.load(start.models)
        models: Mapping[str, NDArray[np.float64]] = start.models
        for _ in range(self.problem.epochs):
            models = {**models, **plan.run(steps_of(made, parts.training.samples)).models}
        assert parts.test is not None
        return parts.test.of_reals(models).metric

    def _parts(self, start: Start) -> Parts:
        made = self.stages
        measured, prediction = chosen_prediction(made, None)
        return Parts.of(
            measured,
            prediction,
            made.format,
            metric=self.problem.metric,
            parts=start.ready.parts,
            words=lambda samples: sample_words(made, samples),
            evaluators=self._evaluators,
        )
