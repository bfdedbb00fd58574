"""A Tile network learns the digits on the simulated accelerator as well as numpy does with the same steps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tabla
from tabla.build.arrays import initial_models

Array = np.ndarray[Any, Any]
NETWORK = Path(__file__).parents[1] / "programs" / "tile" / "network.py"
SHAPES = {"X": (65,), "Y": (10,), "W1": (16, 65), "W2": (10, 16)}
RATE, TRAINED = 0.5, 1200


def forward(x: Array, w1: Array, w2: Array) -> tuple[Array, Array]:
    hidden = 1 / (1 + np.exp(-(w1 @ x)))
    return hidden, 1 / (1 + np.exp(-(w2 @ hidden)))


def steps(x: Array, y: Array, w1: Array, w2: Array) -> tuple[Array, Array]:
    """Train with numpy, one step for each sample."""
    w1, w2 = w1.copy(), w2.copy()
    for sample, label in zip(x, y, strict=True):
        hidden, found = forward(sample, w1, w2)
        outer = (found - label) * found * (1 - found)
        inner = (w2.T @ outer) * hidden * (1 - hidden)
        w1 -= RATE * np.outer(inner, sample)
        w2 -= RATE * np.outer(outer, hidden)
    return w1, w2


def accuracy(x: Array, y: Array, w1: Array, w2: Array) -> float:
    return float(np.mean([forward(a, w1, w2)[1].argmax() == b.argmax() for a, b in zip(x, y, strict=True)]))


def test_digits() -> None:
    data = pytest.importorskip("sklearn.datasets", reason="the data set comes with scikit-learn").load_digits()
    x, y = np.hstack([data.data / 16, np.ones((len(data.data), 1))]), np.eye(10)[data.target]
    accelerator = tabla.compile(
        f"{NETWORK}:digits", shapes=SHAPES, arguments={"learning_rate": RATE}, pes=16, format="q6.14"
    )
    assert accelerator.lowered.updates.keys() == {"W1", "W2"}
    trained = accelerator.train({"X": x[:TRAINED], "Y": y[:TRAINED]}, epochs=2, engine="model", seed=1)
    start = initial_models({"W1": SHAPES["W1"], "W2": SHAPES["W2"]}, 1)
    w1, w2 = start["W1"], start["W2"]
    for _ in range(2):
        w1, w2 = steps(x[:TRAINED], y[:TRAINED], w1, w2)
    machine = accuracy(x[TRAINED:], y[TRAINED:], trained.models["W1"], trained.models["W2"])
    reference = accuracy(x[TRAINED:], y[TRAINED:], w1, w2)
    assert reference > 0.8
    assert abs(machine - reference) <= 0.01
    assert trained.cycles_predicted == trained.cycles_simulated
    assert trained.events.overflows == 0
