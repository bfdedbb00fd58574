"""The training loop: an engine learns epoch after epoch, and two evaluations take the same steps.

The fixed-point evaluation must agree with the engine in every word. The float64 evaluation shows what the number format
costs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tabla.base.arrays import Arrays
from tabla.graph.compiled.plans import RealsPlan, WordsPlan
from tabla.graph.evaluate import Counts
from tabla.graph.graph import Graph
from tabla.learn.data.parts import Best, Parts
from tabla.learn.evaluated import Evaluated
from tabla.learn.measure import Score

Words = NDArray[np.int64]
FIRST_BLOCK, LARGEST_BLOCK, LONG = 16, 512, 1.0


class Learner(Protocol):
    """An engine that learns from words. It keeps the models from one call to the next."""

    @property
    def cycles(self) -> int:
        """Cycles per step in the steady state of the last call of `learn`; 0 if that call had only one step."""

    @property
    def latency(self) -> int:
        """Cycles of the very first sample, from its first word to its last update."""

    @property
    def remark(self) -> str:
        """A sentence for the report; empty if there is nothing to say."""

    def load(self, models: Mapping[str, Words]) -> None:
        """Load the models into the engine."""

    def learn(self, samples: Mapping[str, Words]) -> None:
        """Learn from the samples in order.

        Arrays have a leading axis of steps. With minibatches, an axis of the samples of a step follows.
        """

    def keeps(self, samples: Mapping[str, Words]) -> bool:
        """Return whether the engine holds exactly these samples from calls before, so that one call of `learn` with all
        of them is fastest.
        """

    def models(self) -> dict[str, Words]:
        """Read the current models back from the engine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """The progress of a training run. `loss` is that of the last finished epoch."""

    epoch: int
    epochs: int
    sample: int
    samples: int
    loss: float
    cycles_per_second: float

    def __str__(self) -> str:
        rate = f"  {self.cycles_per_second:,.0f} cycles/s" if self.cycles_per_second else ""
        return f"epoch {self.epoch}/{self.epochs}  sample {self.sample}/{self.samples}  loss {self.loss:.4g}{rate}"


Report = Callable[[Progress], None]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Outcome:
    """The outcome of the training loop.

    `machine` and `reference` are the scores of the engine and of float64, from the initial models on. `words` are the
    models that are kept, those after epoch `kept`; float64 keeps those after epoch `float64_kept`. `counts` are the
    events of the fixed-point evaluation in all epochs. `cycles` holds every number of cycles per step that was counted,
    each once; there is normally just one. `latency` is in cycles. `remark` is that of the learner.
    """

    machine: tuple[Score, ...]
    reference: tuple[Score, ...]
    words: Mapping[str, Words]
    counts: Counts
    cycles: tuple[int, ...]
    latency: int
    kept: int = 0
    float64_kept: int = 0
    remark: str = ""


def _blocks(samples: int, elapsed: Callable[[], float]) -> Iterator[slice]:
    """Yield the blocks of samples that are learnt in one call.

    The blocks grow as long as a block takes less than a second. So a fast engine is called rarely, while a slow one
    still reports its progress often.
    """
    at, size = 0, FIRST_BLOCK
    while at < samples:
        # A last block of one sample would have no steady state in which cycles could be counted.
        end = samples if samples - at - size < 2 else at + size
        began = elapsed()
        yield slice(at, end)
        at = end
        if elapsed() - began < LONG:
            size = min(2 * size, LARGEST_BLOCK)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LearningSteps:
    """What is learnt, and for how long.

    The initial models are `words`, and `models` as real numbers. Each epoch takes `count` steps in order: `steps` holds
    their samples as words, and `reals` as real numbers. There are at most so many `epochs`. With a `patience`, training
    stops after that many epochs without a smaller validation loss, and the models with the smallest one are kept
    (:class:`tabla.learn.data.parts.Best`).
    """

    models: Arrays
    words: Mapping[str, Words]
    steps: Mapping[str, Words]
    reals: Arrays
    count: int
    epochs: int
    patience: int | None = None


def learn(
    graph: Graph,
    learner: Learner,
    fixed: WordsPlan,
    real: RealsPlan,
    measure: Parts,
    lesson: LearningSteps,
    *,
    report: Report,
) -> Outcome:
    """Train, and score the models with `measure` after each epoch.

    After each epoch every word of every model is compared with the fixed-point evaluation; a difference is an
    AssertionError, because it is a fault of this tool. A learner that evaluates compares a part of its steps itself.
    `fixed` is the evaluation of the steps, that of the learner if it has one, and `real` is that in float64.
    """
    evaluates = isinstance(learner, Evaluated)
    if not evaluates:
        fixed.load(lesson.words)
    real.load(lesson.models)
    learner.load(lesson.words)
    ours, theirs = [measure.of_words(lesson.words)], [measure.of_reals(lesson.models)]
    best = Best(patience=lesson.patience)
    best.see(0, ours[0], theirs[0], lesson.words)
    cycles: set[int] = set()
    began, counted, latency = time.monotonic(), 0, 0
    for epoch in range(1, lesson.epochs + 1):
        whole = learner.keeps(lesson.steps)
        for block in (slice(0, lesson.count),) if whole else _blocks(lesson.count, time.monotonic):
            learner.learn({name: array[block] for name, array in lesson.steps.items()})
            latency = latency or learner.latency
            if learner.cycles and not evaluates:
                cycles.add(learner.cycles)
            counted += 0 if evaluates else learner.cycles * (block.stop - block.start)
            passed = time.monotonic() - began
            report(
                Progress(
                    epoch=epoch,
                    epochs=lesson.epochs,
                    sample=block.stop * graph.samples,
                    samples=lesson.count * graph.samples,
                    loss=ours[-1].loss,
                    cycles_per_second=counted / passed if passed > 0 else 0,
                )
            )
        state = {**lesson.words, **learner.models()}  # a model that nothing reads is not in the machine
        expected = {} if evaluates else fixed.run(lesson.steps).models
        for name, array in expected.items():
            assert np.array_equal(state[name], array), f"model {name} differs from the evaluation after epoch {epoch}"
        ours.append(measure.of_words(state))
        theirs.append(measure.of_reals(real.run(lesson.reals).models))
        if best.see(epoch, ours[-1], theirs[-1], state):
            break
    if isinstance(learner, Evaluated):
        learner.finish()
        cycles.update({learner.cycles} - {0})
    return Outcome(
        machine=tuple(ours),
        reference=tuple(theirs),
        words=best.models,
        counts=fixed.counts(),
        cycles=tuple(sorted(cycles)),
        latency=learner.latency if evaluates else latency,
        kept=best.epoch,
        float64_kept=best.float64_epoch,
        remark=learner.remark,
    )
