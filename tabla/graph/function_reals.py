"""The functions in float64, for the evaluation in float64 and as the reference of the tables."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Reals = NDArray[np.float64]


def sigmoid(values: Reals) -> Reals:
    """Return ``1 / (1 + exp(-t))``, computed without overflow and without cancellation where the result is small."""
    small = np.exp(-np.abs(values))
    result: Reals = np.where(values >= 0, 1.0, small) / (1.0 + small)
    return result


_ERF = np.vectorize(math.erf, otypes=[np.float64])


def erf(values: Reals) -> Reals:
    """Return the error function, ``2 / sqrt(pi)`` times the integral of ``exp(-t^2)`` from 0."""
    result: Reals = _ERF(values)
    return result


def atan(values: Reals) -> Reals:
    """Return the arc tangent of arguments from -1 to 1. An argument beyond an end is taken as that end."""
    return np.arctan(np.clip(values, -1.0, 1.0))


def arc(values: Reals) -> Reals:
    """Return the angle of a circle of radius 1 over which a chord of length t lies: ``2 * asin(t / 2)``. An argument
    beyond -1 or 1 is taken as that end.
    """
    return 2 * np.arcsin(np.clip(values, -1.0, 1.0) / 2)


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
