"""Learning in the evaluation, with a part of the steps repeated on the simulated accelerator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tabla.compiled.plans import WordsPlan
from tabla.ir.evaluate import FixedPlan

Words = NDArray[np.int64]
CHECKED = 16
"""Steps of the first epoch, and of the last one, that the accelerator repeats."""


class Accelerator(Protocol):
    """A simulated accelerator, or the cycle model."""

    @property
    def cycles(self) -> int:
        """Cycles per step in the steady state of the last call; 0 if that call had only one step."""

    @property
    def latency(self) -> int:
        """Cycles of the very first sample, from its first word to its last update."""

    def load(self, models: Mapping[str, Words]) -> None:
        """Load the models."""

    def run(self, samples: Mapping[str, Words], count: int | None = None) -> dict[str, Words]:
        """Work through steps, and return the results of each by the name that is shown."""

    def models(self) -> dict[str, Words]:
        """Read the current models back."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Block:
    """Some steps, with the models before and after them."""

    before: Mapping[str, Words]
    samples: Mapping[str, Words]
    after: Mapping[str, Words]


@dataclass(slots=True, kw_only=True, eq=False)
class Evaluated:
    """A learner that evaluates. It learns all steps with `plan`.

    Of the `count` steps of each epoch, the first `CHECKED` of the first epoch and the last `CHECKED` of the last epoch
    are repeated on an accelerator and in numpy, from the models as they are then. A word that differs, in a model or a
    result, is an AssertionError. `finish` repeats the last ones, because training may end early. `checked` counts the
    repeated steps. `open_accelerator` is called once, before the first of them.
    """

    plan: WordsPlan
    judge: FixedPlan
    open_accelerator: Callable[[], Accelerator]
    count: int
    cycles: int = 0
    latency: int = 0
    checked: int = 0
    _done: int = field(default=0, init=False)
    _models: dict[str, Words] = field(default_factory=dict, init=False)
    _last: list[_Block] = field(default_factory=list, init=False)
    _accelerator: Accelerator | None = field(default=None, init=False)

    def load(self, models: Mapping[str, Words]) -> None:
        """Load the models."""
        self.plan.load(models)
        self._models, self._done, self._last = dict(models), 0, []

    def learn(self, samples: Mapping[str, Words]) -> None:
        """Learn from the samples in order, one step each."""
        at, end = 0, len(next(iter(samples.values())))
        while at < end:
            part = self._part(end - at)
            block = {name: array[at : at + part] for name, array in samples.items()}
            before = self._models
            self._models = dict(self.plan.run(block).models)
            made = _Block(before=before, samples=block, after=self._models)
            if self._done < self._repeated:
                self._check(made)
            else:
                self._keep(made)
            self._done, at = self._done + part, at + part

    def finish(self) -> None:
        """Repeat the last steps of the last epoch, unless they were also the first ones."""
        for made in self._last:
            self._check(made)
        self._last = []

    def models(self) -> dict[str, Words]:
        """Return the current models."""
        return self._models

    @property
    def _repeated(self) -> int:
        return min(CHECKED, self.count)

    def _part(self, most: int) -> int:
        """How many steps from here on are alike: all of them may be repeated, or none."""
        step = self._done % self.count
        edges = [self.count - self._repeated, self.count]
        if self._done < self._repeated:
            edges.append(self._repeated)
        return min(most, min(edge for edge in edges if edge > step) - step)

    def _keep(self, made: _Block) -> None:
        """Keep steps that may turn out to be the last ones."""
        step = self._done % self.count
        if step == self.count - self._repeated:
            self._last = []
        if step >= self.count - self._repeated:
            self._last.append(made)

    def _check(self, made: _Block) -> None:
        if self._accelerator is None:
            self._accelerator = self.open_accelerator()
        accelerator, graph = self._accelerator, self.judge.graph
        accelerator.load(made.before)
        results = accelerator.run(made.samples)
        after = {**made.before, **accelerator.models()}  # a model that nothing reads is not in the machine
        self.judge.load(made.before)
        expected = self.judge.run(made.samples, [tensor for _, tensor in graph.results])
        for name, array in expected.models.items():
            assert np.array_equal(made.after[name], array), f"model {name} differs between numpy and machine code"
            assert np.array_equal(after[name], array), f"model {name} differs from the evaluation"
        for shown, tensor in graph.results:
            assert np.array_equal(results[shown], expected.kept[tensor]), f"result {shown} differs from the evaluation"
        self.cycles = accelerator.cycles or self.cycles
        self.latency = self.latency or accelerator.latency
        self.checked += len(next(iter(made.samples.values())))
