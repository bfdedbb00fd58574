"""The functions in float64, for the fourth witness and as the reference of the tables."""

from __future__ import annotations

from typing import assert_never

import numpy as np
from numpy.typing import NDArray

from tabla.ir.graph import FunctionName

Reals = NDArray[np.float64]


def apply(name: FunctionName, values: Reals) -> Reals:
    """One function on an array of reals. Outside the domain it is -inf or nan; too large becomes inf."""
    with np.errstate(all="ignore"):
        match name:
            case "sigmoid":
                return sigmoid(values)
            case "tanh":
                return np.tanh(values)
            case "gaussian":
                return np.exp(-(values * values))
            case "exp":
                return np.exp(values)
            case "log":
                return np.log(values)
            case "sqrt":
                return np.sqrt(values)
            case "sin":
                return np.sin(values)
            case "cos":
                return np.cos(values)
            case _:
                assert_never(name)


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
