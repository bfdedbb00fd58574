"""Samples for tests of held-out parts: labels with noise, and the parts that a split of them has."""

from __future__ import annotations

import numpy as np

SPLIT_SEED = 4


def order(count: int, tested: int, validated: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The positions of the test, the validation and the training part, as the reference of data defines them."""
    p = np.random.default_rng(SPLIT_SEED).permutation(count)
    return np.sort(p[:tested]), np.sort(p[tested : tested + validated]), np.sort(p[tested + validated :])


def arrays(count: int) -> dict[str, np.ndarray]:
    """Four inputs and a label of 0 or 1 for each sample.

    Some labels are wrong, so that the losses of the parts differ and the validation loss rises at the end.
    """
    chance = np.random.default_rng(5)
    x = np.round(chance.uniform(-1, 1, (count, 4)), 3)
    return {"x": x, "y": ((x @ [1, -2, 3, 0] + chance.normal(0, 1, count)) > 0).astype(float)}
