"""What the function unit computes, for one word, and sums in two limbs. :mod:`tabla.graph.function_words` has arrays.

These functions are compiled together with the text of a graph. They are plain Python of 64-bit integers, and call
nothing but each other. Their results are the word, or the word, 1 if it saturated, and 1 for a domain error.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

Table = Any
"""An array of 64-bit integers."""


def between(
    base: Table, slope: Table, curve: Table, position: int, inside: int, offset: int, shift: int, guard: int
) -> int:
    """Return the value of the chord or parabola at `inside` of the segment `position`, rounded; `offset` is added
    before rounding. The `curve` of chords is empty.
    """
    bent = slope[position]
    if curve.size:
        cut = max(0, shift - 17)
        bent += (curve[position] * (((1 << shift) - 1 - inside) >> cut)) >> (shift - cut)
    value = ((base[position] + offset) << shift) + bent * inside
    return int((value + (1 << (shift + guard - 1))) >> (shift + guard))


def direct(
    word: int,
    base: Table,
    slope: Table,
    curve: Table,
    shift: int,
    guard: int,
    reach: int,
    lowest: int,
    highest: int,
) -> int:
    """Return a function that is one table over its clamped argument."""
    end = 1 << reach
    place = min(max(word, -end), end - 1) + end
    value = between(base, slope, curve, place >> shift, place & ((1 << shift) - 1), 0, shift, guard)
    return min(max(value, lowest), highest)


def exponential(
    word: int,
    base: Table,
    slope: Table,
    curve: Table,
    shift: int,
    guard: int,
    bits: int,
    constant: int,
    below: int,
    fraction: int,
    lowest: int,
    highest: int,
    integer: int,
) -> tuple[int, int, int]:
    """Return exp. `bits` are the fraction bits of the table's argument and `below` those of ``word * constant``;
    `fraction` and `integer` are the format's.
    """
    exponent = word * constant
    whole = exponent >> below
    low = (exponent >> (below - bits)) & ((1 << bits) - 1)
    if whole >= integer - 1:
        return highest, 1, 0
    point = integer + fraction + 1
    places = min(max(point - fraction - whole, 1), point + 2)
    if places > point + 1:
        return 0, 0, 0
    mantissa = between(base, slope, curve, low >> shift, low & ((1 << shift) - 1), 0, shift, guard)
    value = (mantissa + (1 << (places - 1))) >> places
    clamped = min(max(value, lowest), highest)
    return clamped, int(clamped != value), 0


def logarithm(
    word: int,
    base: Table,
    slope: Table,
    curve: Table,
    exponent: Table,
    shift: int,
    guard: int,
    bits: int,
    width: int,
    lowest: int,
    highest: int,
) -> tuple[int, int, int]:
    """Return log. A word of 0 or less is a domain error and gives the lowest word."""
    if word <= 0:
        return lowest, 0, 1
    top = math.frexp(float(word))[1] - 1
    low = (word << (width - 2 - top)) & ((1 << bits) - 1)
    value = between(base, slope, curve, low >> shift, low & ((1 << shift) - 1), exponent[top], shift, guard)
    clamped = min(max(value, lowest), highest)
    return clamped, int(clamped != value), 0


def circular(
    word: int,
    base: Table,
    slope: Table,
    curve: Table,
    shift: int,
    guard: int,
    bits: int,
    constant: int,
    point: int,
    lowest: int,
    highest: int,
) -> int:
    """Return sin or cos. `point` are the fraction bits of the argument in turns, ``word * constant``."""
    low = ((word * constant) >> (point - bits)) & ((1 << bits) - 1)
    value = between(base, slope, curve, low >> shift, low & ((1 << shift) - 1), 0, shift, guard)
    return min(max(value, lowest), highest)


def square_root(word: int, fraction: int) -> tuple[int, int, int]:
    """Return the square root, rounded half up. A word below 0 is a domain error, and gives 0."""
    if word < 0:
        return 0, 0, 1
    square = word << (fraction + 2)  # at most (2^31 - 1) * 2^32
    root = int(math.sqrt(float(square)))
    # A word is exact in float64, so the root is rounded once: it may be one too high, and is never too low.
    if root * root > square:
        root -= 1
    return (root + 1) >> 1, 0, 0


def divide(left: int, right: int, fraction: int, lowest: int, highest: int) -> tuple[int, int, int]:
    """Return ``floor(left * 2^fraction / right + 1/2)``, saturated. A divisor of 0 is a domain error."""
    if right == 0:
        return highest if left >= 0 else lowest, 0, 1
    exact = ((left << (fraction + 1)) + right) // (right << 1)
    clamped = min(max(exact, lowest), highest)
    return clamped, int(clamped != exact), 0


def quotient(left: int, right: int, lowest: int, highest: int) -> tuple[int, int, int]:
    """Divide words as integers toward zero, and saturate. A divisor of 0 is a domain error."""
    if right == 0:
        return highest if left >= 0 else lowest, 0, 1
    exact = abs(left) // abs(right)
    if (left < 0) != (right < 0):
        exact = -exact
    clamped = min(max(exact, lowest), highest)
    return clamped, int(clamped != exact), 0


def rounded(high: int, low: int, shift: int) -> int:
    """Return ``(high * 2^32 + low) >> shift`` for a `low` of 32 bits, clamped far outside every format."""
    if shift >= 32:
        return high >> (shift - 32)
    # What is clipped is at least 2^32 after the shift, and at most 2^62 before it.
    end = 1 << min(31, 30 + shift)
    clipped = min(max(high, -end), end)
    return (clipped << (32 - shift)) + (low >> shift)


def sigmoid(value: float) -> float:
    """Return ``1 / (1 + exp(-value))``, without overflow, as :func:`tabla.graph.function_reals.sigmoid` does."""
    small = np.exp(-abs(value))
    return float((1.0 if value >= 0 else small) / (1.0 + small))


def gaussian(value: float) -> float:
    """Return ``exp(-value^2)``."""
    return float(np.exp(-(value * value)))


def larger(left: float, right: float) -> float:
    """Return the larger of two numbers, or NaN if one is NaN."""
    return left if left >= right or left != left else right


def smaller(left: float, right: float) -> float:
    """Return the smaller of two numbers, or NaN if one is NaN."""
    return left if left <= right or left != left else right
