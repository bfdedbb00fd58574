"""What values a run in float64 takes: the ranges of all tensors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from tabla.base.arrays import Arrays, Reals
from tabla.graph.compiled.plans import RealsPlan
from tabla.graph.evaluate_float import FloatPlan
from tabla.graph.graph import Graph

_BLOCK_WORDS = 1 << 20
"""The numbers that a block of steps keeps at once."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Observed:
    """What a run in float64 took on: `largest` is the largest absolute value of every tensor, by name.

    A value that is no number counts as infinite.
    """

    largest: Mapping[str, float]


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
    given = ("input", "label", "model", "constant")
    kept = [name for name, tensor in graph.tensors.items() if tensor.role not in given]
    largest = {name: _largest(array) for name, array in {**samples, **models}.items() if name in graph.tensors}
    for _ in range(epochs):
        for block in _blocks(graph, count):
            ran = plan.run({n: a[block] for n, a in samples.items() if n in inputs}, kept, block.stop - block.start)
            for name, values in ran.kept.items():
                largest[name] = max(largest.get(name, 0.0), _largest(values))
    for model, following in graph.updates.items():
        largest[model] = max(largest[model], largest[following])
    return Observed(largest=largest)
