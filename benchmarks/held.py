"""What a benchmark measures computes the right words, in the cycles that were predicted."""

from __future__ import annotations

import numpy as np

import tabla

SAMPLES = 3
SEED = 1


def hold(build: tabla.Build, engine: str = "model") -> None:
    """Run `SAMPLES` drawn samples, with drawn models where the program learns.

    Other words than evaluated are a `TablaError`, other cycles an AssertionError.
    """
    chance = np.random.default_rng(SEED)
    tensors = build.graph.tensors.values()
    samples = {t.name: chance.uniform(-1, 1, (SAMPLES, *t.shape)) for t in tensors if t.role in ("input", "label")}
    weights = None
    if build.graph.updates:
        weights = {t.name: chance.uniform(-0.5, 0.5, t.shape) for t in tensors if t.role == "model"}
    simulation = build.simulate(samples, weights=weights, engine=engine)
    assert simulation.as_predicted, simulation.text()
