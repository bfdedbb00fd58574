"""Measuring the simulated cycles per second of each engine."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

import tabla
from tabla.base.source import TablaError
from tabla.build.arrays import initial_models, shapes_of
from tabla.examples.catalogue import EXAMPLES
from tabla.graph.words import to_words
from tabla.host.engines.session import ENGINES, session

LEAST_CYCLES = 20_000.0
NAMES = ("logistic", "backprop")
SECONDS = 3.0  # the least time for which each engine runs, without the time to build it
FIRST_SAMPLES = 8


def bench_engines(name: str, pes: int) -> Iterator[dict[str, Any]]:
    """Yield a row for each engine on the example `name`.

    An engine runs blocks of samples of doubling size until it has run for `SECONDS`. The time to build it is measured
    separately. An engine whose tools are not installed gives a row with the message about that.
    """
    build = tabla.compile(EXAMPLES[name].program, pes=pes)
    chance = np.random.default_rng(1)
    inputs, models = shapes_of(build.graph, "input", "label"), initial_models(shapes_of(build.graph, "model"), 1)
    words = {n: to_words(array, build.format, n) for n, array in models.items()}
    for engine in ENGINES:
        began = time.perf_counter()
        try:
            with session(build.schedule, build.image, engine, build.module) as machine:
                machine.load(words)
                samples, counted, passed, ready = FIRST_SAMPLES, 0, 0.0, 0.0
                while passed < SECONDS:
                    block = {
                        n: to_words(chance.uniform(-1, 1, (samples, *shape)), build.format, n)
                        for n, shape in inputs.items()
                    }
                    start = time.perf_counter()
                    machine.learn(block)
                    if not ready:  # the first block is not counted, because it waits for the simulator to start
                        ready = time.perf_counter() - began
                    else:
                        counted += machine.cycles * samples
                        passed += time.perf_counter() - start
                    samples *= 2
        except TablaError as missing:
            yield {"example": name, "engine": engine, "missing": missing.message}
            continue
        yield {"example": name, "engine": engine, "cycles_per_second": counted / passed, "ready_seconds": ready}
