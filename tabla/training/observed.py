"""What values and steps a run in float64 takes: the ranges of all tensors, and the sizes of the steps of the models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tabla.compiled.plans import RealsPlan
from tabla.ir.evaluate_float import FloatPlan
from tabla.ir.graph import Graph
from tabla.training.arrays import Arrays, Reals

_BLOCK_WORDS = 1 << 20
"""The numbers that a block of steps keeps at once."""
_LEAST_EXPONENT, _EXPONENTS = -1100, 2200
"""The exponents of float64 numbers, as `numpy.frexp` gives them, lie in this range."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StepSizes:
    """The sum of the sizes of steps, by the binary exponent of the step: `sums[e]` is of steps in [2^(e-1), 2^e)."""

    sums: NDArray[np.float64] = field(default_factory=lambda: np.zeros(_EXPONENTS))

    def add(self, steps: Reals) -> None:
        """Count steps of any shape."""
        sizes = np.abs(steps).reshape(-1)
        sizes = sizes[np.isfinite(sizes) & (sizes > 0)]
        exponents = np.frexp(sizes)[1] - _LEAST_EXPONENT
        self.sums[:] += np.bincount(exponents, weights=sizes, minlength=_EXPONENTS)

    @property
    def total(self) -> float:
        """The sum of the sizes of all steps."""
        return float(self.sums.sum())

    def below(self, exponent: int) -> float:
        """Return the sum of the sizes of all steps below 2^exponent."""
        return float(self.sums[: exponent + 1 - _LEAST_EXPONENT].sum())


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Observed:
    """What a run in float64 took on: `largest` is the largest absolute value of every tensor, by name.

    `steps` are the sizes of the steps of each model with an update in the last epoch. A value that is no number counts
    as infinite.
    """

    largest: Mapping[str, float]
    steps: Mapping[str, StepSizes]


def _largest(values: Reals) -> float:
    if not values.size:
        return 0.0
    largest = float(np.abs(values).max())
    return largest if np.isfinite(largest) else float("inf")


def _blocks(graph: Graph, steps: int) -> Iterator[slice]:
    words = sum(tensor.size for tensor in graph.tensors.values())
    size = max(1, _BLOCK_WORDS // max(1, words))
    return (slice(at, min(steps, at + size)) for at in range(0, steps, size))


def observe(
    graph: Graph, samples: Arrays, models: Arrays, *, count: int, epochs: int, plan: RealsPlan | None = None
) -> Observed:
    """Run a graph in float64 for so many `epochs` of `count` steps, and note what values its tensors take.

    `samples` are the inputs and labels of the steps, with a leading axis of steps. `models` are the initial models.
    `plan` evaluates the graph; by default numpy does.
    """
    plan = plan or FloatPlan.of(graph)
    plan.load(models)
    inputs = {name for name, tensor in graph.tensors.items() if tensor.role in ("input", "label")}
    current = models
    given = ("input", "label", "model", "constant")
    kept = [name for name, tensor in graph.tensors.items() if tensor.role not in given]
    largest = {name: _largest(array) for name, array in {**samples, **models}.items() if name in graph.tensors}
    steps = {model: StepSizes() for model in graph.updates}
    for epoch in range(epochs):
        for block in _blocks(graph, count):
            before = current
            ran = plan.run({n: a[block] for n, a in samples.items() if n in inputs}, kept, block.stop - block.start)
            current = ran.models
            for name, values in ran.kept.items():
                largest[name] = max(largest.get(name, 0.0), _largest(values))
            if epoch == epochs - 1:
                for model, following in graph.updates.items():
                    taken = np.concatenate([before[model][None], ran.kept[following]])
                    with np.errstate(all="ignore"):
                        steps[model].add(np.diff(taken, axis=0))
    for model, following in graph.updates.items():
        largest[model] = max(largest[model], largest[following])
    return Observed(largest=largest, steps=steps)
