"""What the host does with numbers in float64: standardising, saving up the penalty, and the automatic learning rate."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Reals = NDArray[np.float64]
_COIN = 1 / 16
MOST_DECAY = 1024.0
"""The largest penalty of a sample. A larger one would leave too few bits to everything else."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scaling:
    """Columns are stored as (value - `mean`) / `scale`."""

    mean: Reals
    scale: Reals

    @staticmethod
    def identity(columns: int) -> Scaling:
        """Return the scaling that changes nothing."""
        return Scaling(mean=np.zeros(columns), scale=np.ones(columns))

    @staticmethod
    def of(values: Reals, *, centre: bool = True) -> Scaling:
        """Return the scaling that gives each column a mean of 0 and a standard deviation of 1.

        A constant column becomes 0. Its scale is its own size, so that another value of it is no huge number. Unless
        columns shall be put in the `centre`, the mean stays what it is, and the mean square becomes 1.
        """
        peak = np.abs(values).max(axis=0)
        peak[peak == 0] = 1.0
        relative = values / peak  # squares of large numbers would leave float64
        mean = relative.mean(axis=0) if centre else np.zeros(len(peak))
        deviation = np.sqrt(np.square(relative - mean).mean(axis=0))
        constant = deviation <= 1e-12
        return Scaling(mean=mean * peak, scale=np.where(constant, 1.0, deviation) * peak)

    def apply(self, values: Reals) -> Reals:
        """Return the columns as they are stored."""
        # Half of each number: the difference of two large ones might leave float64.
        return np.asarray((values / 2 - self.mean / 2) / (self.scale / 2))

    def undo(self, stored: Reals) -> Reals:
        """Return the columns that are stored so."""
        return np.asarray(stored * self.scale + self.mean)


def mapped_back(weights: Reals, biases: Reals, inputs: Scaling, labels: Scaling) -> tuple[Reals, Reals]:
    """Return the weights and biases of ``h = w x + b`` for the numbers that the user has.

    `weights` are [outputs, features] and `biases` [outputs], both for stored columns.
    """
    coefficients = weights / inputs.scale * labels.scale[:, None]
    return coefficients, biases * labels.scale + labels.mean - coefficients @ inputs.mean


def decays(penalty: float, due: float, samples: int) -> tuple[Reals, float]:
    """Return how much each of so many samples shrinks the weights, and what is due after the last of them.

    `penalty` is that of one sample, and `due` is what was left before the first one. What is paid is a multiple of a
    sixteenth, which nearly every format has.
    """
    sums = due + penalty * np.arange(samples + 1)
    paid = np.floor(sums / _COIN) * _COIN
    return np.diff(paid), float(sums[-1] - paid[-1])


def power_below(value: float) -> float:
    """Return the largest power of two that is not above a positive value."""
    return math.ldexp(1.0, math.frexp(value)[1] - 1)
