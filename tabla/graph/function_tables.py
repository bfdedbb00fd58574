"""The tables of the function unit by kind, and how wrong they are: ``docs/decisions/0004-functions.md`` in integers.

Every integer comes from ``decimal`` arithmetic with digits to spare, never from the machine's libm: the same
format gives the same table on every computer.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Context, Decimal, localcontext
from itertools import pairwise

from tabla.graph.format import Format

GUARD = 3
"""Fraction bits of a table entry beyond those of a word."""
MOST_INDEX_BITS = 11
"""A table has at most 2048 segments: one block RAM of 18 kbit holds the bases of a 16-bit format twice over."""
FINE_ABOVE = 16
"""A format with more fraction bits is fine: 2048 chords would be too coarse, so its tables have parabolas."""
FINE_INDEX_BITS = 10
"""A table of parabolas has 1024 segments: they are closer to the function than 32,768 chords, and a block RAM of 18
kbit has as many words.
"""
INTERPOLATION_LIMIT = 0.25
"""How many units in the last place the chord may add, as long as there are segments enough."""
CLAMP_LIMIT = 0.0625
"""How many units in the last place it may cost to hold the flat end of a function constant."""
EXPONENT_BITS, FINE_EXPONENT_BITS = 16, 24
"""Fraction bits of the constant C of exp, which is log2(e), and those that it has in fine formats."""

# 32-bit words with guard and the cancellation in tanh need about 25 digits.
_EXACT = Context(prec=50)


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """The integers of one function in one format. A kind that has no use for a field leaves it 0 or empty.

    `shift` is the number of fraction bits inside a segment, and `guard` that of the extra fraction bits of `base`,
    `slope` and `curve`. A table of chords has no `curve`. The direct functions tabulate `2**reach` words to either side
    of 0. `index_bits`, `fraction_bits` and `constant` are k, t and C of decision 0004. ``exponent[p]`` is the logarithm
    of a word whose top bit is p.
    """

    name: str
    kind: str
    shift: int = 0
    guard: int = 0
    reach: int = 0
    index_bits: int = 0
    fraction_bits: int = 0
    constant: int = 0
    base: tuple[int, ...] = ()
    slope: tuple[int, ...] = ()
    curve: tuple[int, ...] = ()
    exponent: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """What a direct function's table must know of the function.

    `exactly` is the real function, to all digits of the decimal context. `curvature(t)` is the largest magnitude of the
    second derivative at arguments of magnitude t and more. `tail(t)` is the largest change of the function between
    an argument of magnitude t and any larger one of the same sign. A function with `corners` has them at -1 and 1; they
    lie between segments.
    """

    exactly: Callable[[Decimal], Decimal]
    curvature: Callable[[float], float]
    tail: Callable[[float], float]
    corners: bool = False


def _round(value: Decimal, bits: int) -> int:
    """Nearest integer to value * 2^bits, half up."""
    with localcontext(_EXACT):
        return math.floor(value * (1 << bits) + Decimal("0.5"))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Segments:
    """The three columns of a table."""

    base: tuple[int, ...]
    slope: tuple[int, ...]
    curve: tuple[int, ...]


def fine(fmt: Format) -> bool:
    """Return whether the tables of a format have parabolas in place of chords."""
    return fmt.fraction > FINE_ABOVE


def _segments(value: Callable[[Decimal], Decimal], fmt: Format, index_bits: int, bits: int) -> _Segments:
    """Return the columns of a table with entries of `bits` fraction bits. ``value(p)`` is the function at the share p
    of its range, from 0 at the left end to 1 at the right end.

    A parabola meets the function in the middle of its segment, too. `curve` is four times the distance from there to
    the chord.
    """
    parts = 2 if fine(fmt) else 1
    count = parts << index_bits
    with localcontext(_EXACT):
        values = [value(Decimal(i) / count) for i in range(count + 1)]
        ends = [_round(each, bits) for each in values[::parts]]
        middles = zip(values[0::2], values[1::2], values[2::2], strict=False) if parts == 2 else ()
        curve = tuple(_round(4 * middle - 2 * (left + right), bits) for left, middle, right in middles)
    return _Segments(base=tuple(ends[:-1]), slope=tuple(right - left for left, right in pairwise(ends)), curve=curve)


def direct_table(name: str, curve: Curve, fmt: Format) -> Table:
    """Return the table of a direct function: as few segments of equal width as its accuracy takes.

    A table of chords has at least 2 segments and at most ``2**MOST_INDEX_BITS``, one of parabolas has
    ``2**FINE_INDEX_BITS``.
    """
    reach = next((r for r in range(fmt.width - 1) if held(curve, fmt, r) < CLAMP_LIMIT), fmt.width - 1)
    index_bits = _index_bits(lambda fmt, k: direct_chord(curve, fmt, reach + 1 - k), fmt, reach + 1)
    if curve.corners:
        index_bits = min(max(index_bits, reach + 1 - fmt.fraction), reach + 1)

    def value(share: Decimal) -> Decimal:
        return curve.exactly((share * (2 << reach) - (1 << reach)) / fmt.one)

    made = _segments(value, fmt, index_bits, fmt.fraction + GUARD)
    return Table(
        name=name,
        kind="direct",
        shift=reach + 1 - index_bits,
        guard=GUARD,
        reach=reach,
        index_bits=index_bits,
        base=made.base,
        slope=made.slope,
        curve=made.curve,
    )


def direct_chord(curve: Curve, fmt: Format, shift: int, start: float = 0.0) -> float:
    """Return how many units in the last place the chords over 2^shift words add, for arguments of magnitude `start` and
    more.
    """
    if shift <= 0:
        return 0.0
    return 2.0 ** (2 * shift - fmt.fraction - 3) * curve.curvature(start)


def held(curve: Curve, fmt: Format, reach: int) -> float:
    """Return the units by which a held end constant may be off; 0 if every argument is tabulated."""
    return 0.0 if reach >= fmt.width - 1 else fmt.one * curve.tail(((1 << reach) - 1) / fmt.one)


def _index_bits(chord: Callable[[Format, int], float], fmt: Format, fraction_bits: int) -> int:
    """The fewest bits that choose a segment so that its `chord` adds little; at most those that there are."""
    if fine(fmt):
        return min(FINE_INDEX_BITS, fraction_bits)
    most = min(MOST_INDEX_BITS, fraction_bits)
    return next((k for k in range(1, most) if chord(fmt, k) < INTERPOLATION_LIMIT), most)


def _unit_interval(
    name: str, value: Callable[[Decimal], Decimal], fmt: Format, index_bits: int, bits: int, fraction_bits: int
) -> Table:
    """The table of a function of an argument in [0, 1), with entries of `bits` fraction bits."""
    made = _segments(value, fmt, index_bits, bits)
    return Table(
        name=name,
        kind=name,
        shift=fraction_bits - index_bits,
        guard=GUARD,
        index_bits=index_bits,
        fraction_bits=fraction_bits,
        base=made.base,
        slope=made.slope,
        curve=made.curve,
    )


def exp_point(fmt: Format) -> int:
    """Return Q: the fraction bits of the power of two in [1, 2) that the pipeline of exp shifts into place."""
    return fmt.width + 1


def exponent_bits(fmt: Format) -> int:
    """Return E: the fraction bits of the constant C of exp, which is log2(e)."""
    return FINE_EXPONENT_BITS if fine(fmt) else EXPONENT_BITS


def _exp_fraction_bits(fmt: Format) -> int:
    """The bits of the argument of 2^r."""
    return min(fmt.fraction + exponent_bits(fmt), 26 if fine(fmt) else 20)


def exp_table(fmt: Format) -> Table:
    """Return the table of 2^r over [0, 1), with C in `constant`."""
    fraction_bits = _exp_fraction_bits(fmt)
    with localcontext(_EXACT):
        ln2 = Decimal(2).ln()
        constant = _round(1 / ln2, exponent_bits(fmt))
    index_bits = _index_bits(exp_chord, fmt, fraction_bits)
    bits = exp_point(fmt) + GUARD
    made = _unit_interval("exp", lambda share: (ln2 * share).exp(), fmt, index_bits, bits, fraction_bits)
    return replace(made, constant=constant)


def exp_chord(fmt: Format, index_bits: int) -> float:
    """Return how many units the chords add just below the most positive word, where 2^r is curved most."""
    if index_bits >= _exp_fraction_bits(fmt):
        return 0.0
    return 2.0 ** (fmt.width - 2 - 2 * index_bits - 3) * 2 * math.log(2) ** 2


def log_table(fmt: Format) -> Table:
    """Return the table of log(1 + r) over [0, 1), with the logarithms of the powers of two in `exponent`."""
    fraction_bits = fmt.width - 2
    index_bits = _index_bits(log_chord, fmt, fraction_bits)
    bits = fmt.fraction + GUARD
    with localcontext(_EXACT):
        ln2 = Decimal(2).ln()
        exponent = tuple(_round((p - fmt.fraction) * ln2, bits) for p in range(fmt.width - 1))
    made = _unit_interval("log", lambda share: (1 + share).ln(), fmt, index_bits, bits, fraction_bits)
    return replace(made, exponent=exponent)


def log_chord(fmt: Format, index_bits: int) -> float:
    """Return how many units the chords add just above a power of two, where the logarithm is curved most."""
    return 0.0 if index_bits >= fmt.width - 2 else 2.0 ** (fmt.fraction - 2 * index_bits - 3)


def turn_bits(fmt: Format) -> int:
    """Return B: the fraction bits of the constant C of the circular functions, which is 1 / (2 pi)."""
    return min(fmt.width + 3, 33)


def circular_table(name: str, fmt: Format, *, quarters: int) -> Table:
    """Return the table of one turn of the sine that begins `quarters` quarter turns late: 0 for sin, 1 for cos."""
    # Four bits more than a word has: what is cut below them is a small part of a unit, whatever the argument.
    fraction_bits = min(fmt.fraction + turn_bits(fmt), fmt.width + 4)
    index_bits = _index_bits(circular_chord, fmt, fraction_bits)
    with localcontext(_EXACT):
        constant = _round(1 / (2 * _PI), turn_bits(fmt))
    late, bits = Decimal(quarters) / 4, fmt.fraction + GUARD
    made = _unit_interval(name, lambda share: _sine(share + late), fmt, index_bits, bits, fraction_bits)
    return replace(made, kind="circular", constant=constant)


_PI = Decimal("3.14159265358979323846264338327950288419716939937510582")


def _sine(turns: Decimal) -> Decimal:
    """The sine of an angle in turns, by its series about 0: exact to more digits than any table has."""
    with localcontext(_EXACT):
        turns -= turns.to_integral_value()
        angle = 2 * _PI * turns
        term = total = angle
        order = 1
        while abs(term) > Decimal(10) ** -40:
            term = -term * angle * angle / ((order + 1) * (order + 2))
            total += term
            order += 2
        return total


def circular_chord(fmt: Format, index_bits: int) -> float:
    """Return how many units the chords add at the crest, where both circular functions are curved most."""
    return fmt.one * math.ldexp(2 * math.pi, -index_bits) ** 2 / 8
