"""Learning on a machine, epoch after epoch, with the two evaluations that take the same steps beside it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tabla.ir.evaluate import Counts, FixedPlan
from tabla.ir.evaluate_float import FloatPlan
from tabla.ir.graph import Graph
from tabla.training.arrays import Arrays
from tabla.training.measure import Measure, Score
from tabla.training.record import Events

Words = NDArray[np.int64]
FIRST_BLOCK, LARGEST_BLOCK, LONG = 16, 512, 1.0


class Learner(Protocol):
    """A machine that learns from words; models stay in it from call to call."""

    @property
    def cycles(self) -> int:
        """Cycles per step in the steady state of the last call of `learn`; 0 when it had one step."""

    @property
    def latency(self) -> int:
        """Cycles of the first sample of all, from its first word to its last update."""

    def load(self, models: Mapping[str, Words]) -> None:
        """Set the models."""

    def learn(self, samples: Mapping[str, Words]) -> None:
        """One step a sample (with minibatches: a leading axis of steps, then one of samples), in order."""

    def models(self) -> dict[str, Words]:
        """The models as they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """Where a run stands."""

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
    """Scores of both kinds after every epoch, and the models at the end; `cycles` are those of a step."""

    machine: tuple[Score, ...]
    reference: tuple[Score, ...]
    words: Mapping[str, Words]
    counts: Counts
    cycles: tuple[int, ...]
    latency: int


def _blocks(samples: int, elapsed: Callable[[], float]) -> Iterator[slice]:
    """Blocks that grow while they are quick: few calls of a fast engine, yet progress from a slow one."""
    at, size = 0, FIRST_BLOCK
    while at < samples:
        # A rest of one sample would have no steady state to count cycles in.
        end = samples if samples - at - size < 2 else at + size
        began = elapsed()
        yield slice(at, end)
        at = end
        if elapsed() - began < LONG:
            size = min(2 * size, LARGEST_BLOCK)


def learn(
    graph: Graph,
    learner: Learner,
    measure: Measure,
    *,
    models: Arrays,
    words: Mapping[str, Words],
    steps: Mapping[str, Words],
    reals: Arrays,
    count: int,
    epochs: int,
    report: Report,
) -> Outcome:
    """Run `epochs` over `count` `steps` (in words, and in `reals`), in order; `measure` scores the models after each.

    After each epoch every word of every model is held against the fixed-point evaluation; a difference is a fault
    of ours: AssertionError.
    """
    fixed, real = FixedPlan.of(graph, measure.format), FloatPlan.of(graph)
    fixed.load(words)
    real.load(models)
    learner.load(words)
    ours, theirs = [measure.of_words(words)], [measure.of_reals(models)]
    cycles: set[int] = set()
    began, counted, latency = time.monotonic(), 0, 0
    for epoch in range(1, epochs + 1):
        for block in _blocks(count, time.monotonic):
            learner.learn({name: array[block] for name, array in steps.items()})
            latency = latency or learner.latency
            if learner.cycles:
                cycles.add(learner.cycles)
            counted += learner.cycles * (block.stop - block.start)
            passed = time.monotonic() - began
            report(
                Progress(
                    epoch=epoch,
                    epochs=epochs,
                    sample=block.stop * graph.samples,
                    samples=count * graph.samples,
                    loss=ours[-1].loss,
                    cycles_per_second=counted / passed if passed > 0 else 0,
                )
            )
        state = {**words, **learner.models()}  # a model that nothing reads is not in the machine
        expected = fixed.run(steps).models
        for name, array in expected.items():
            assert np.array_equal(state[name], array), f"model {name} differs from the evaluation after epoch {epoch}"
        ours.append(measure.of_words(state))
        theirs.append(measure.of_reals(real.run(reals).models))
    return Outcome(
        machine=tuple(ours),
        reference=tuple(theirs),
        words={**words, **learner.models()},
        counts=fixed.counts(),
        cycles=tuple(sorted(cycles)),
        latency=latency,
    )


def events(graph: Graph, counts: Counts) -> Events:
    """Counts of an evaluation, with the names of the values that they belong to."""
    where: dict[str, int] = {}
    both = zip(counts.overflows_by_statement, counts.domain_errors_by_statement, strict=True)
    for statement, (overflows, errors) in zip(graph.statements, both, strict=True):
        tensor = graph.tensors[statement.target]
        if overflows + errors:
            name = tensor.origin or tensor.name
            where[name] = where.get(name, 0) + overflows + errors
    return Events(
        overflows=counts.overflows,
        domain_errors=counts.domain_errors,
        updates=counts.updates,
        zero_updates=counts.zero_updates,
        where=tuple(f"{name}: {count}" for name, count in sorted(where.items())),
    )
