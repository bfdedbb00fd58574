"""Functions in float64 that NumPy does not have as the function unit means them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Reals = NDArray[np.float64]


def sigmoid(values: Reals) -> Reals:
    """``1 / (1 + exp(-t))`` without overflow and without losing the small side."""
    small = np.exp(-np.abs(values))
    result: Reals = np.where(values >= 0, 1.0, small) / (1.0 + small)
    return result


def divide(left: Reals, right: Reals) -> Reals:
    """``left / right``; by zero it becomes inf or nan."""
    with np.errstate(all="ignore"):
        result: Reals = left / right
        return result


def quotient(left: Reals, right: Reals, fraction: int) -> Reals:
    """The quotient of integers n that stand for n * 2^-fraction, toward zero, as such a real; by zero inf or nan."""
    result: Reals = np.ldexp(np.trunc(divide(left, right)), -fraction)
    return result
