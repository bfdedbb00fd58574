"""Exact sums of word products, rounded once: in 64 bits where they fit, in two limbs, or in Python integers.

Which of the three is decided once per statement, from the largest magnitude that its sum can take; all give the same
words. An accumulator of the machine never wraps, so neither may a sum here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabla.graph.contraction import Array, Contraction

_LIMB = 16
_MASK = (1 << _LIMB) - 1
_ROOM = 1 << 63


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Summand:
    """One summand of an exact sum: ``weight * contraction`` of words, or the integer `weight` alone.

    `products` is how many products the contraction adds, and `limits` are the largest magnitudes of its arrays. The
    summand never leaves ``-bound`` to ``bound``.
    """

    weight: int
    contraction: Contraction | None = None
    products: int = 1
    limits: tuple[int, ...] = ()

    @property
    def bound(self) -> int:
        """The largest magnitude that the summand can take."""
        bound = abs(self.weight) * self.products
        for limit in self.limits:
            bound *= limit
        return bound


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sum:
    """The exact sum ``(changes + kept << shift + half) >> shift``, rounded and not yet saturated.

    `kept` is the word that an update adds to, and None elsewhere. Where there is one, `rounded` also says where the
    rest of the sum is not zero.
    """

    changes: tuple[Summand, ...]
    kept: Array | None
    shift: int

    @property
    def half(self) -> int:
        """Half a unit in the last place, at the scale of the sum."""
        return (1 << self.shift) >> 1

    def largest(self, limit: int) -> int:
        """Return the largest magnitude that the sum can take when no word is larger than `limit`."""
        return sum(s.bound for s in self.changes) + (limit << self.shift) + self.half

    def rounded(self, limit: int) -> Callable[[], tuple[Array, Array | None]]:
        """Return a function that computes the sum from what the arrays hold when it is called. No word is larger than
        `limit`.
        """
        if self.largest(limit) < _ROOM:
            return self._narrow()
        if self._limbs_fit(limit):
            return self._split()
        return self._wide()

    def _narrow(self) -> Callable[[], tuple[Array, Array | None]]:
        constant, parts = _separate(self.changes)
        shift, half, kept = self.shift, self.half, self.kept
        if kept is None:
            constant += half
        weighted = [(s.weight, c) for s, c in parts]

        def run() -> tuple[Array, Array | None]:
            total: Any = constant
            for weight, contraction in weighted:
                value = contraction.value()
                if weight == 1:
                    total = total + value
                elif weight == -1:
                    total = total - value
                else:
                    total = total + value * weight
            if kept is None:
                return total >> shift, None
            return ((kept << shift) + total + half) >> shift, total != 0

        return run

    def _wide(self) -> Callable[[], tuple[Array, Array | None]]:
        constant, parts = _separate(self.changes)
        shift, half, kept = self.shift, self.half, self.kept

        def run() -> tuple[Array, Array | None]:
            total: Any = np.array(constant, dtype=object)
            for summand, contraction in parts:
                arrays = tuple(array.astype(object) for array in contraction.arrays)
                total = total + contraction.value_of(arrays) * summand.weight
            total = np.asarray(total, dtype=object)
            if kept is None:
                return _within_64_bits((total + half) >> shift), None
            whole = (kept.astype(object) << shift) + total + half
            return _within_64_bits(whole >> shift), np.asarray(total != 0, dtype=bool)

        return run

    def _limbs_fit(self, limit: int) -> bool:
        """Whether each limb of the sum, before its carry, stays within 64 bits."""
        kept = limit << (self.shift - _LIMB if self.shift >= _LIMB else self.shift)
        high = low = kept + self.half
        for s in self.changes:
            weight, most = abs(s.weight) * s.products, max(s.limits, default=0)
            if len(s.limits) == 2:
                high += weight * most * ((most >> _LIMB) + 1)
                low += weight * most * _MASK
            else:
                high += s.products * max(most, 1) * ((abs(s.weight) >> _LIMB) + 1)
                low += s.products * max(most, 1) * _MASK
        return max(high, low) < _ROOM >> 1

    def _split(self) -> Callable[[], tuple[Array, Array | None]]:
        """As ``high * 2^16 + low``: products of 32-bit words take one factor as two limbs."""
        constant, parts = _separate(self.changes)
        shift, kept = self.shift, self.kept
        start = _limbs(constant)
        half = _limbs(self.half)

        def run() -> tuple[Array, Array | None]:
            high: Any = start[0]
            low: Any = start[1]
            for summand, contraction in parts:
                more = _products(summand, contraction)
                high, low = high + more[0], low + more[1]
            changed = None
            if kept is not None:
                high, low = high + (low >> _LIMB), low & _MASK
                changed = (high != 0) | (low != 0)
                if shift >= _LIMB:
                    high = high + (kept << (shift - _LIMB))
                else:
                    low = low + (kept << shift)
            high, low = high + half[0], low + half[1]
            high, low = high + (low >> _LIMB), low & _MASK
            if shift >= _LIMB:
                return high >> (shift - _LIMB), changed
            # Beyond 2^40 the word saturates whatever its low bits are, and here nothing may be shifted out.
            clipped = np.minimum(np.maximum(high, -(1 << 40)), 1 << 40)
            return ((clipped << _LIMB) + low) >> shift, changed

        return run


def _separate(changes: Sequence[Summand]) -> tuple[int, list[tuple[Summand, Contraction]]]:
    """The constants' sum, and the rest."""
    constant = sum(s.weight for s in changes if s.contraction is None)
    return constant, [(s, s.contraction) for s in changes if s.contraction is not None and s.weight]


def _within_64_bits(exact: Any) -> Array:
    """Integers of any size as int64, saturated far outside every format: they saturate again, and are counted."""
    low = np.maximum(np.asarray(exact, dtype=object), -_ROOM // 2)
    both = np.minimum(np.asarray(low, dtype=object), _ROOM // 2)
    return np.asarray(both, dtype=object).astype(np.int64)


def _limbs(value: int) -> tuple[int, int]:
    return value >> _LIMB, value & _MASK


def _products(summand: Summand, contraction: Contraction) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """High and low limb of one weighted contraction."""
    if len(contraction.arrays) == 1:
        value = contraction.value()
        high, low = _limbs(summand.weight)
        return value * high, value * low
    # The smaller factor is taken apart: it costs least.
    left, right = contraction.arrays
    if right.size <= left.size:
        pairs = (left, right >> _LIMB), (left, right & _MASK)
    else:
        pairs = (left >> _LIMB, right), (left & _MASK, right)
    weight = summand.weight
    return contraction.value_of(pairs[0]) * weight, contraction.value_of(pairs[1]) * weight
