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


@dataclass(slots=True, kw_only=True, eq=False)
class Evaluated:
    """A learner that evaluates. It learns all steps with `plan`.

    Of the `count` steps of each of the `epochs`, the first `CHECKED` of the first epoch and the last `CHECKED` of the
    last epoch are repeated on an accelerator and in numpy, from the models as they are then. A word that differs, in a
    model or a result, is an AssertionError. `checked` counts these steps. `open_accelerator` is called once, before
    the first of them.
    """

    plan: WordsPlan
    judge: FixedPlan
    open_accelerator: Callable[[], Accelerator]
    count: int
    epochs: int
    cycles: int = 0
    latency: int = 0
    checked: int = 0
    _done: int = field(default=0, init=False)
    _models: dict[str, Words] = field(default_factory=dict, init=False)
    _accelerator: Accelerator | None = field(default=None, init=False)

    def load(self, models: Mapping[str, Words]) -> None:
        """Load the models."""
        self.plan.load(models)
        self._models, self._done = dict(models), 0

    def learn(self, samples: Mapping[str, Words]) -> None:
        """Learn from the samples in order, one step each."""
        at, end = 0, len(next(iter(samples.values())))
        while at < end:
            here, part = self._done, self._part(end - at)
            block = {name: array[at : at + part] for name, array in samples.items()}
            before = self._models
            self._models = dict(self.plan.run(block).models)
            if self._checks(here):
                self._check(before, block)
                self.checked += part
            self._done, at = here + part, at + part

    def models(self) -> dict[str, Words]:
        """Return the current models."""
        return self._models

    def _checks(self, step: int) -> bool:
        return step < min(CHECKED, self.count) or step >= self.count * self.epochs - min(CHECKED, self.count)

    def _part(self, most: int) -> int:
        """How many steps from here on are all checked, or all not."""
        total, checked = self.count * self.epochs, min(CHECKED, self.count)
        edges = [edge for edge in (checked, total - checked, total) if edge > self._done]
        return min(most, min(edges) - self._done)

    def _check(self, models: Mapping[str, Words], samples: Mapping[str, Words]) -> None:
        if self._accelerator is None:
            self._accelerator = self.open_accelerator()
        accelerator, graph = self._accelerator, self.judge.graph
        accelerator.load(models)
        results = accelerator.run(samples)
        after = {**models, **accelerator.models()}  # a model that nothing reads is not in the machine
        self.judge.load(models)
        expected = self.judge.run(samples, [tensor for _, tensor in graph.results])
        for name, array in expected.models.items():
            assert np.array_equal(self._models[name], array), f"model {name} differs between numpy and machine code"
            assert np.array_equal(after[name], array), f"model {name} differs from the evaluation"
        for shown, tensor in graph.results:
            assert np.array_equal(results[shown], expected.kept[tensor]), f"result {shown} differs from the evaluation"
        self.cycles = accelerator.cycles or self.cycles
        self.latency = self.latency or accelerator.latency
