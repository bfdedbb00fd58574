"""The functions in float64, for the evaluation in float64 and as the reference of the tables."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Reals = NDArray[np.float64]


def sigmoid(values: Reals) -> Reals:
    """Return ``1 / (1 + exp(-t))``, computed without overflow and without cancellation where the result is small."""
    small = np.exp(-np.abs(values))
    result: Reals = np.where(values >= 0, 1.0, small) / (1.0 + small)
    return result


def divide(left: Reals, right: Reals) -> Reals:
    """Return ``left / right``. A division by zero gives inf or nan."""
    with np.errstate(all="ignore"):
        result: Reals = left / right
        return result


def quotient(left: Reals, right: Reals, fraction: int) -> Reals:
    """Divide integers toward zero. An integer n is given, and returned, as the real n * 2^-fraction. A division by zero
    gives inf or nan.
    """
    result: Reals = np.ldexp(np.trunc(divide(left, right)), -fraction)
    return result
