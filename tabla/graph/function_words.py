"""What the function unit computes, bit for bit, on arrays of words (``docs/decisions/0004-functions.md``).

All steps fit 64-bit integers in every format of at most 32 bits; the notes beside the wide ones say why.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tabla.graph.format import Format
from tabla.graph.function_tables import Table, exp_point, exponent_bits, turn_bits

Words = NDArray[np.int64]

PLACE_BITS = 17
"""The top bits of the way to the end of a segment, which a curve is multiplied by: 18 bits with a sign."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """The result words in the shape of the arguments, how many of them saturated, and how many arguments lay outside
    the domain.
    """

    words: Words
    overflows: int = 0
    domain_errors: int = 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Arrays:
    base: Words
    slope: Words
    curve: Words
    exponent: Words


@lru_cache(maxsize=256)
def _arrays(made: Table) -> _Arrays:
    def array(numbers: tuple[int, ...]) -> Words:
        return np.array(numbers, dtype=np.int64)

    return _Arrays(
        base=array(made.base), slope=array(made.slope), curve=array(made.curve), exponent=array(made.exponent)
    )


def divide(left: Words, right: Words, fmt: Format) -> Applied:
    """Return ``floor(left * 2^F / right + 1/2)``, saturated. The arrays broadcast. A divisor of 0 is a domain error."""
    left, right = np.broadcast_arrays(left, right)
    nought = right == 0
    divisor = np.where(nought, 1, right)
    # |left| <= 2^31 and F <= 30, so the doubled numerator stays within 2^62 + 2^31.
    quotient = ((left << (fmt.fraction + 1)) + divisor) // (divisor << 1)
    exact = _saturated(quotient, fmt)
    saturated = (exact != quotient) & ~nought
    words = np.where(nought, np.where(left >= 0, fmt.highest, fmt.lowest), exact)
    return Applied(words=words, overflows=int(np.count_nonzero(saturated)), domain_errors=int(np.count_nonzero(nought)))


def quotient(left: Words, right: Words, fmt: Format) -> Applied:
    """Divide words as integers toward zero and saturate. The arrays broadcast. A divisor of 0 is a domain error."""
    left, right = np.broadcast_arrays(left, right)
    nought = right == 0
    whole = np.abs(left) // np.abs(np.where(nought, 1, right)) * (np.sign(left) * np.sign(right))
    exact = _saturated(whole, fmt)
    words = np.where(nought, np.where(left >= 0, fmt.highest, fmt.lowest), exact)
    # The lowest word by -1.
    overflows = int(np.count_nonzero(exact != whole))
    return Applied(words=words, overflows=overflows, domain_errors=int(np.count_nonzero(nought)))


def _saturated(words: Words, fmt: Format) -> Words:
    return np.minimum(np.maximum(words, fmt.lowest), fmt.highest)


def _between(made: Table, position: Words, fraction: Words, offset: Words | int = 0) -> Words:
    """The value of the chord or parabola, rounded to whole units; `offset` is a further table entry added before
    rounding.
    """
    arrays = _arrays(made)
    slope = arrays.slope[position]
    if made.curve:
        cut = max(0, made.shift - PLACE_BITS)
        rest = ((1 << made.shift) - 1 - fraction) >> cut
        slope = slope + ((arrays.curve[position] * rest) >> (made.shift - cut))
    # Entries have at most 38 bits and a shift at most 21 (or few bits and a shift up to 29):
    # 60 bits hold the sum.
    value = ((arrays.base[position] + offset) << made.shift) + slope * fraction
    rounded: Words = (value + (1 << (made.shift + made.guard - 1))) >> (made.shift + made.guard)
    return rounded


def direct(made: Table, words: Words, fmt: Format) -> Applied:
    """Return a function that is one table over its argument, clamped to where the table reaches."""
    reach = 1 << made.reach
    u = np.minimum(np.maximum(words, -reach), reach - 1) + reach
    value = _between(made, u >> made.shift, u & ((1 << made.shift) - 1))
    return Applied(words=_saturated(value, fmt))


def exponential(made: Table, words: Words, fmt: Format) -> Applied:
    """Return exp: a power of two in [1, 2) from the table, shifted into place."""
    # |word| <= 2^31 and C < 2^25, so the exponent stays within 56 bits.
    exponent, below = words * made.constant, fmt.fraction + exponent_bits(fmt)
    whole = exponent >> below
    low = (exponent >> (below - made.fraction_bits)) & ((1 << made.fraction_bits) - 1)
    mantissa = _between(made, low >> made.shift, low & ((1 << made.shift) - 1))
    point = exp_point(fmt)
    above = whole >= fmt.integer - 1
    # Large shifts all give 0, and where the result is above the range the shift is not used.
    shift = np.minimum(np.maximum(point - fmt.fraction - whole, 1), point + 2)
    value = np.where(shift > point + 1, 0, (mantissa + (np.int64(1) << (shift - 1))) >> shift)
    value = np.where(above, fmt.highest + 1, value)
    clamped = _saturated(value, fmt)
    return Applied(words=clamped, overflows=int(np.count_nonzero(clamped != value)))


def logarithm(made: Table, words: Words, fmt: Format) -> Applied:
    """Return log: that of the mantissa and that of the top bit's place, added. A word of 0 or less is an error."""
    outside = words <= 0
    inside = np.where(outside, 1, words)
    # frexp is exact on words of 32 bits: inside = m * 2^e with 1/2 <= m < 1.
    top = np.frexp(inside.astype(np.float64))[1].astype(np.int64) - 1
    low = (inside << (fmt.width - 2 - top)) & ((1 << made.fraction_bits) - 1)
    offset = _arrays(made).exponent[top]
    value = _between(made, low >> made.shift, low & ((1 << made.shift) - 1), offset)
    clamped = _saturated(value, fmt)
    saturated = (clamped != value) & ~outside
    return Applied(
        words=np.where(outside, fmt.lowest, clamped),
        overflows=int(np.count_nonzero(saturated)),
        domain_errors=int(np.count_nonzero(outside)),
    )


def circular(made: Table, words: Words, fmt: Format) -> Applied:
    """Return sin or cos: the argument in turns chooses a place in the table of one turn."""
    # |word| <= 2^31 and C < 2^31, so the turns stay within 62 bits.
    turns = words * made.constant
    low = (turns >> (fmt.fraction + turn_bits(fmt) - made.fraction_bits)) & ((1 << made.fraction_bits) - 1)
    value = _between(made, low >> made.shift, low & ((1 << made.shift) - 1))
    return Applied(words=_saturated(value, fmt))


def square_root(words: Words, fmt: Format) -> Applied:
    """Return the square root, rounded half up. A word below 0 is an error, and gives 0."""
    outside = words < 0
    # 31 + 30 + 2 bits: unsigned, because the square of the root's upper neighbour may reach 2^63.
    square = np.where(outside, 0, words).astype(np.uint64) << np.uint64(fmt.fraction + 2)
    root = np.sqrt(square.astype(np.float64)).astype(np.uint64)
    one = np.uint64(1)
    # float64 has 53 bits, so the root may be one too high or too low.
    root = root - (root * root > square).astype(np.uint64)
    root = root + ((root + one) * (root + one) <= square).astype(np.uint64)
    rounded = ((root + one) >> one).astype(np.int64)
    return Applied(words=rounded, domain_errors=int(np.count_nonzero(outside)))
