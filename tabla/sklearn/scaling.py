"""What the host does with numbers in float64: standardising, saving up the penalty, and the automatic learning rate."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabla.base.source import TablaValueError

Reals = NDArray[np.float64]
_UNIT = 1 << 32
"""Penalties are added up as multiples of 1 / `_UNIT`, so that nothing is lost between epochs."""
_PART = 16
MOST_DECAY = 1024.0
"""The largest penalty of a sample. A larger one would leave too few bits to everything else."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Moments:
    """What is known of the columns of `count` samples: their means, deviations and largest absolute values.

    Without `centre` the mean counts as 0, and the deviation is the root of the mean square.
    """

    count: int
    mean: Reals
    deviation: Reals
    peak: Reals
    centre: bool

    @staticmethod
    def of(values: Reals, *, centre: bool = True) -> Moments:
        """Return the moments of the columns of values, [samples, columns]."""
        peak = np.abs(values).max(axis=0)
        peak[peak == 0] = 1.0
        relative = values / peak  # squares of large numbers would leave float64
        mean = relative.mean(axis=0) if centre else np.zeros(len(peak))
        deviation = np.sqrt(np.square(relative - mean).mean(axis=0))
        return Moments(count=len(values), mean=mean * peak, deviation=deviation * peak, peak=peak, centre=centre)

    def joined(self, other: Moments) -> Moments:
        """Return the moments of the samples of both (Chan, Golub and LeVeque, 1979)."""
        peak = np.maximum(self.peak, other.peak)
        count = self.count + other.count
        share, rest = self.count / count, other.count / count
        apart = (other.mean / 2 - self.mean / 2) / (peak / 2)
        squares = share * np.square(self.deviation / peak) + rest * np.square(other.deviation / peak)
        deviation = np.sqrt(squares + share * rest * np.square(apart)) * peak
        mean = self.mean * share + other.mean * rest
        return Moments(count=count, mean=mean, deviation=deviation, peak=peak, centre=self.centre)

    @property
    def constant(self) -> NDArray[np.bool_]:
        """Which columns are the same in all samples, apart from roundings."""
        return np.asarray(self.deviation <= 1e-12 * self.peak)

    @property
    def scaling(self) -> Scaling:
        """The scaling that gives each column a mean of 0 and a standard deviation of 1.

        A constant column becomes 0. Its scale is its own size, so that another value of it is no huge number. Without
        `centre` no mean is subtracted, and the mean square of each column becomes 1.
        """
        return Scaling(mean=self.mean, scale=np.where(self.constant, self.peak, self.deviation))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scaling:
    """Columns are stored as (value - `mean`) / `scale`."""

    mean: Reals
    scale: Reals

    @staticmethod
    def identity(columns: int) -> Scaling:
        """Return the scaling that changes nothing."""
        return Scaling(mean=np.zeros(columns), scale=np.ones(columns))

    def apply(self, values: Reals) -> Reals:
        """Return the columns as they are stored."""
        # Half of each number: the difference of two large ones might leave float64. A quotient that does is infinite.
        with np.errstate(over="ignore"):
            return np.asarray((values / 2 - self.mean / 2) / (self.scale / 2))

    def undo(self, stored: Reals) -> Reals:
        """Return the columns that are stored so."""
        return np.asarray(stored * self.scale + self.mean)


def mapped_back(weights: Reals, biases: Reals, inputs: Scaling, labels: Scaling) -> tuple[Reals, Reals]:
    """Return the weights and biases of ``h = w x + b`` for the numbers that the user has.

    `weights` are [outputs, features] and `biases` [outputs], both for stored columns. Some that leave float64 are a
    `TablaValueError`.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        coefficients = weights / inputs.scale * labels.scale[:, None]
        intercepts = biases * labels.scale + labels.mean - coefficients @ inputs.mean
    if not (np.isfinite(coefficients).all() and np.isfinite(intercepts).all()):
        raise TablaValueError(
            "X: the coefficients are larger than a float64 holds, because a column is very small or y is very large",
            hint="scale X and y to the size of 1",
        )
    return coefficients, intercepts


@dataclass(frozen=True, slots=True, kw_only=True)
class Penalty:
    """How much each sample shrinks the weights, in parts of the learning rate: `units` times 2^-32.

    It is added up, and paid in sixteenths, which are words of nearly every format. What is due and not paid yet is a
    number of units.
    """

    units: int

    @staticmethod
    def of(size: float) -> Penalty:
        """Return the penalty nearest to a number, 0 or more."""
        return Penalty(units=round(size * _UNIT))

    def paid(self, due: int, samples: int) -> Reals:
        """Return what each of so many samples pays, given what was due before the first of them."""
        sums = due + self.units * np.arange(samples + 1, dtype=np.int64)
        return np.asarray(np.diff(sums // (_UNIT // _PART)) / _PART)

    def due(self, due: int, samples: int) -> int:
        """Return what is due after so many samples, given what was due before the first of them."""
        return (due + self.units * samples) % (_UNIT // _PART)


def power_below(value: float) -> float:
    """Return the largest power of two that is not above a positive value."""
    return math.ldexp(1.0, math.frexp(value)[1] - 1)
