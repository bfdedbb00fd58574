"""Measuring how many samples a second the evaluation learns, in machine code and on one core."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.learning.problems import Problem
from tabla.build.arrays import initial_models, shapes_of
from tabla.build.options import Options
from tabla.driver import Build, build
from tabla.examples.catalogue import EXAMPLES
from tabla.graph.compiled.plans import Evaluators
from tabla.graph.words import to_words

RUNS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A program, its samples a second of processor time in words and in float64, and the least number in words."""

    program: str
    words: float
    float64: float
    aim: float

    @property
    def fine(self) -> bool:
        """Whether the evaluation in words is as fast as it should be."""
        return self.words >= self.aim


def best(run: Callable[[], object], samples: int) -> float:
    """Return the samples a second of the best of `RUNS` runs. A run before them makes the machine code."""
    run()
    times = []
    for _ in range(RUNS):
        began = time.process_time()
        run()
        times.append(time.process_time() - began)
    return samples / min(times)


def measured(name: str, made: Build, samples: int, aim: float) -> Row:
    """Learn from samples at random."""
    graph, chance = made.lowered, np.random.default_rng(1)
    evaluators = Evaluators(compiled=True)
    shapes, models = shapes_of(graph, "input", "label"), initial_models(shapes_of(graph, "model"), 1)
    reals = {tensor: chance.uniform(-1, 1, (samples, *shape)) for tensor, shape in shapes.items()}
    fixed, real = evaluators.fixed(graph, made.format), evaluators.real(graph, made.format)
    words: dict[str, Any] = {tensor: to_words(array, made.format, tensor) for tensor, array in reals.items()}
    fixed.load({tensor: to_words(array, made.format, tensor) for tensor, array in models.items()})
    real.load(models)
    return Row(
        program=name,
        words=best(lambda: fixed.run(words, [], samples), samples),
        float64=best(lambda: real.run(reals, [], samples), samples),
        aim=aim,
    )


def bench_evaluation() -> Iterator[Row]:
    """Yield a row for the digits network of the examples, and for one of 784 inputs."""
    digits = build(EXAMPLES["backprop2"].program, Options(format="q5.13"))
    yield measured("backprop2 of the examples", digits, 50_000, 100_000)
    large = Problem(kind="backprop", sizes=(784, 784, 10))
    yield measured(large.name, build(large.file, large.options(64)), 1_000, 2_000)
