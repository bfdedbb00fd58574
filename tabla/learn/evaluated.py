"""Learning in the evaluation, with a part of the steps repeated on the simulated accelerator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tabla.graph.compiled.plans import WordsPlan
from tabla.graph.graph import Graph

Words = NDArray[np.int64]
CHECKED = 16
"""Steps of the first epoch, and of the last one, that the accelerator repeats."""


class Judge(WordsPlan, Protocol):
    """What evaluates a program, or a fleet of them, in numpy."""

    @property
    def graph(self) -> Graph:
        """The graph of the program, which names its results."""


class Accelerator(Protocol):
    """A simulated accelerator, or the cycle model."""

    @property
    def cycles(self) -> int:
        """Cycles per step in the steady state of the last call; 0 if that call had only one step."""

    @property
    def latency(self) -> int:
        """Cycles of the very first sample, from its first word to its last update."""

    def load(self, models: Mapping[str, Words]) -> None:
        """Load the models into the memories of the accelerator."""

    def run(self, samples: Mapping[str, Words], count: int | None = None) -> dict[str, Words]:
        """Work through steps, and return the results of each by the name that is shown."""

    def models(self) -> dict[str, Words]:
        """Read the current models back."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Block:
    """Steps that were learnt, with the models before and after them."""

    before: Mapping[str, Words]
    samples: Mapping[str, Words]
    after: Mapping[str, Words]


@dataclass(slots=True, kw_only=True, eq=False)
class Evaluated:
    """A learner that evaluates. It learns all steps with `plan`.

    Of the `count` steps of an epoch, the first `CHECKED` of the first epoch and the last `CHECKED` of the last epoch
    are repeated on an accelerator and in numpy, from the models as they were then. A word that differs, in a model or a
    result, is an AssertionError. `checked` counts these steps. `open_accelerator` is called once, before the first of
    them. Which epoch is the last one is known when `finish` is called.
    """

    plan: WordsPlan
    judge: Judge
    open_accelerator: Callable[[], Accelerator]
    count: int
    cycles: int = field(default=0, init=False)
    latency: int = field(default=0, init=False)
    checked: int = field(default=0, init=False)
    _done: int = field(default=0, init=False)
    _models: dict[str, Words] = field(default_factory=dict, init=False)
    _tail: list[_Block] = field(default_factory=list, init=False)
    _accelerator: Accelerator | None = field(default=None, init=False)

    def load(self, models: Mapping[str, Words]) -> None:
        """Load the models to learn from here on."""
        self.plan.load(models)
        self._models, self._done = dict(models), 0

    @property
    def remark(self) -> str:
        """Empty: an evaluation has nothing to remark."""
        return ""

    def keeps(self, samples: Mapping[str, Words]) -> bool:
        """Return False: nothing is sent to an evaluation, so no call of `learn` is faster than others."""
        return False

    def learn(self, samples: Mapping[str, Words]) -> None:
        """Learn from the samples in order, one step each. No call takes samples of two epochs."""
        at, end = 0, len(next(iter(samples.values())))
        while at < end:
            step, last = self._done % self.count, max(0, self.count - CHECKED)
            edges = [edge for edge in (CHECKED, last) if edge > step]
            part = min([end - at, *(edge - step for edge in edges)])
            samples_now = {name: array[at : at + part] for name, array in samples.items()}
            before = self._models
            self._models = dict(self.plan.run(samples_now).models)
            block = _Block(before=before, samples=samples_now, after=self._models)
            if step == 0:
                self._tail = []
            if self._done < CHECKED and self._done < self.count:
                self._check(block)
                self.checked += part
            elif step >= last:
                self._tail.append(block)
            self._done, at = self._done + part, at + part

    def finish(self) -> None:
        """Repeat the last steps, now that no epoch follows."""
        for block in self._tail:
            self._check(block)
            self.checked += len(next(iter(block.samples.values())))
        self._tail = []

    def models(self) -> dict[str, Words]:
        """Return the current models."""
        return self._models

    def _check(self, block: _Block) -> None:
        if self._accelerator is None:
            self._accelerator = self.open_accelerator()
        accelerator, graph = self._accelerator, self.judge.graph
        accelerator.load(block.before)
        results = accelerator.run(block.samples)
        after = {**block.before, **accelerator.models()}  # a model that nothing reads is not in the machine
        self.judge.load(block.before)
        expected = self.judge.run(block.samples, [tensor for _, tensor in graph.results])
        for name, array in expected.models.items():
            assert np.array_equal(block.after[name], array), f"model {name} differs between numpy and machine code"
            assert np.array_equal(after[name], array), f"model {name} differs from the evaluation"
        for shown, tensor in graph.results:
            assert np.array_equal(results[shown], expected.kept[tensor]), f"result {shown} differs from the evaluation"
        self.cycles = accelerator.cycles or self.cycles
        self.latency = self.latency or accelerator.latency
