"""The function unit's tables: the integers of ``docs/decisions/0004-functions.md``.

Every integer comes from ``decimal`` arithmetic with digits to spare, never from the machine's libm: the same
format gives the same table on every computer.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Context, Decimal, localcontext
from functools import lru_cache
from itertools import pairwise
from typing import Literal, assert_never

from tabla.ir.format import Format

UnitName = Literal["sigmoid", "tanh", "gaussian", "exp", "log", "sqrt", "divide", "quotient", "sin", "cos"]
DirectName = Literal["sigmoid", "tanh", "gaussian"]
Kind = Literal["direct", "exp", "log", "sqrt", "divide", "quotient", "circular"]

GUARD = 3
"""Fraction bits of a table entry beyond those of a word."""
MOST_INDEX_BITS = 11
"""At most 2048 segments: one block RAM of 18 kbit holds the bases of a 16-bit format twice over."""
INTERPOLATION_LIMIT = 0.25
"""Units in the last place that the chord may add, as long as the segments suffice."""
CLAMP_LIMIT = 0.0625
"""Units in the last place that holding a flat end constant may add."""
EXPONENT_BITS = 16
"""Fraction bits of exp's C, the word of log2(e)."""

# 32-bit words with guard and the cancellation in tanh need about 25 digits.
_EXACT = Context(prec=50)

# The largest |f''| of sigmoid, tanh (both at their turning points) and gaussian (at 0).
_CURVATURE: dict[DirectName, float] = {
    "sigmoid": 1 / (6 * math.sqrt(3)),
    "tanh": 4 / (3 * math.sqrt(3)),
    "gaussian": 2.0,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """The integers of one function in one format; a kind that has no use for a field leaves it 0 or empty.

    `shift` bits of fraction inside a segment, `guard` extra fraction bits of `base` and `slope`; `2**reach`
    words to either side of 0 are tabulated (direct functions); `index_bits` k, `fraction_bits` t and
    `constant` C as in the decision; `exponent[p]` is the logarithm of a word whose top bit is p.
    """

    name: UnitName
    kind: Kind
    shift: int = 0
    guard: int = 0
    reach: int = 0
    index_bits: int = 0
    fraction_bits: int = 0
    constant: int = 0
    base: tuple[int, ...] = ()
    slope: tuple[int, ...] = ()
    exponent: tuple[int, ...] = ()


@lru_cache(maxsize=256)
def table(name: UnitName, fmt: Format) -> Table:
    """The table of a function in a format: at most 2048 segments, at least 2, each a power of two wide."""
    match name:
        case "sigmoid" | "tanh" | "gaussian":
            return _direct_table(name, fmt)
        case "exp":
            return _exp_table(fmt)
        case "log":
            return _log_table(fmt)
        case "sqrt" | "divide" | "quotient":
            return Table(name=name, kind=name)
        case "sin" | "cos":
            return _circular_table(name, fmt)
        case _:
            assert_never(name)


def _round(value: Decimal, bits: int) -> int:
    """Nearest integer to value * 2^bits, half up."""
    with localcontext(_EXACT):
        return math.floor(value * (1 << bits) + Decimal("0.5"))


def _entries(values: list[Decimal], bits: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Bases and slopes from the values at the n + 1 ends of n segments."""
    ends = [_round(value, bits) for value in values]
    return tuple(ends[:-1]), tuple(right - left for left, right in pairwise(ends))


def _exactly(name: DirectName, argument: Decimal) -> Decimal:
    """The real function, to 50 digits."""
    with localcontext(_EXACT):
        match name:
            case "sigmoid":
                return 1 / (1 + (-argument).exp())
            case "tanh":
                return 1 - 2 / (1 + (2 * argument).exp())
            case "gaussian":
                return (-argument * argument).exp()
            case _:
                assert_never(name)


def _direct_table(name: DirectName, fmt: Format) -> Table:
    reach = next((r for r in range(fmt.width - 1) if clamp(name, fmt, r) < CLAMP_LIMIT), fmt.width - 1)
    index_bits = next(
        (k for k in range(1, MOST_INDEX_BITS) if direct_chord(name, fmt, reach + 1 - k) < INTERPOLATION_LIMIT),
        MOST_INDEX_BITS,
    )
    index_bits = min(index_bits, reach + 1)
    shift = reach + 1 - index_bits
    with localcontext(_EXACT):
        ends = [Decimal((i << shift) - (1 << reach)) / fmt.one for i in range((1 << index_bits) + 1)]
    base, slope = _entries([_exactly(name, end) for end in ends], fmt.fraction + GUARD)
    return Table(
        name=name,
        kind="direct",
        shift=shift,
        guard=GUARD,
        reach=reach,
        index_bits=index_bits,
        base=base,
        slope=slope,
    )


def direct_chord(name: DirectName, fmt: Format, shift: int, start: float = 0.0) -> float:
    """Units that chords over 2^shift words add, to arguments of magnitude `start` and more."""
    if shift <= 0:
        return 0.0
    return 2.0 ** (2 * shift - fmt.fraction - 3) * _curvature(name, start)


def _curvature(name: DirectName, start: float) -> float:
    """Largest |f''(t)| for |t| >= start; past 2 all three only fall."""
    if start < 2:
        return _CURVATURE[name]
    match name:
        case "sigmoid":
            return math.exp(-start)
        case "tanh":
            return 8 * math.exp(-2 * start)
        case "gaussian":
            return (4 * start * start - 2) * math.exp(-start * start)
        case _:
            assert_never(name)


def clamp(name: DirectName, fmt: Format, reach: int) -> float:
    """Units between the last tabulated argument and the far end of the format; 0 if all is tabulated."""
    if reach >= fmt.width - 1:
        return 0.0
    last = ((1 << reach) - 1) / fmt.one
    match name:
        case "sigmoid":
            return fmt.one / (1 + math.exp(min(last, 700.0)))
        case "tanh":
            return fmt.one * 2 / (1 + math.exp(min(2 * last, 700.0)))
        case "gaussian":
            return fmt.one * math.exp(-last * last)
        case _:
            assert_never(name)


def _index_bits(chord: Callable[[Format, int], float], fmt: Format, fraction_bits: int) -> int:
    """The fewest bits that choose a segment so that its `chord` adds little; at most those that there are."""
    most = min(MOST_INDEX_BITS, fraction_bits)
    return next((k for k in range(1, most) if chord(fmt, k) < INTERPOLATION_LIMIT), most)


def _unit_interval(name: Literal["exp", "log"], values: list[Decimal], bits: int, fraction_bits: int) -> Table:
    """The table of a function of [0, 1) from `values` at the ends of its segments, entries with `bits` of fraction."""
    index_bits = (len(values) - 1).bit_length() - 1
    base, slope = _entries(values, bits)
    return Table(
        name=name,
        kind=name,
        shift=fraction_bits - index_bits,
        guard=GUARD,
        index_bits=index_bits,
        fraction_bits=fraction_bits,
        base=base,
        slope=slope,
    )


def exp_point(fmt: Format) -> int:
    """Q: fraction bits of the power of two in [1, 2) that the pipeline of exp shifts into place."""
    return fmt.width + 1


def _exp_table(fmt: Format) -> Table:
    fraction_bits = min(fmt.fraction + EXPONENT_BITS, 20)
    index_bits = _index_bits(exp_chord, fmt, fraction_bits)
    with localcontext(_EXACT):
        ln2 = Decimal(2).ln()
        values = [(ln2 * i / (1 << index_bits)).exp() for i in range((1 << index_bits) + 1)]
        constant = _round(1 / ln2, EXPONENT_BITS)
    made = _unit_interval("exp", values, exp_point(fmt) + GUARD, fraction_bits)
    return replace(made, constant=constant)


def exp_chord(fmt: Format, index_bits: int) -> float:
    """Units that chords add just below the most positive word, where 2^r has its largest curvature."""
    if index_bits >= min(fmt.fraction + EXPONENT_BITS, 20):
        return 0.0
    return 2.0 ** (fmt.width - 2 - 2 * index_bits - 3) * 2 * math.log(2) ** 2


def _log_table(fmt: Format) -> Table:
    fraction_bits = fmt.width - 2
    index_bits = _index_bits(log_chord, fmt, fraction_bits)
    bits = fmt.fraction + GUARD
    with localcontext(_EXACT):
        ln2 = Decimal(2).ln()
        values = [(1 + Decimal(i) / (1 << index_bits)).ln() for i in range((1 << index_bits) + 1)]
        exponent = tuple(_round((p - fmt.fraction) * ln2, bits) for p in range(fmt.width - 1))
    made = _unit_interval("log", values, bits, fraction_bits)
    return replace(made, exponent=exponent)


def log_chord(fmt: Format, index_bits: int) -> float:
    """Units that chords add just above a power of two, where the logarithm has its largest curvature."""
    return 0.0 if index_bits >= fmt.width - 2 else 2.0 ** (fmt.fraction - 2 * index_bits - 3)


def turn_bits(fmt: Format) -> int:
    """B: fraction bits of the circular functions' C, the word of 1 / (2 pi)."""
    return min(fmt.width + 3, 33)


def _circular_table(name: Literal["sin", "cos"], fmt: Format) -> Table:
    # Four bits more than a word has: what is cut below them is a small part of a unit, whatever the argument.
    fraction_bits = min(fmt.fraction + turn_bits(fmt), fmt.width + 4)
    index_bits = _index_bits(circular_chord, fmt, fraction_bits)
    segments = 1 << index_bits
    quarter = segments // 4 if name == "cos" else 0
    with localcontext(_EXACT):
        values = [_sine(Decimal(i + quarter) / segments) for i in range(segments + 1)]
        constant = _round(1 / (2 * _PI), turn_bits(fmt))
    base, slope = _entries(values, fmt.fraction + GUARD)
    return Table(
        name=name,
        kind="circular",
        shift=fraction_bits - index_bits,
        guard=GUARD,
        index_bits=index_bits,
        fraction_bits=fraction_bits,
        constant=constant,
        base=base,
        slope=slope,
    )


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
    """Units that chords add at the crest, where both functions have their largest curvature."""
    return fmt.one * math.ldexp(2 * math.pi, -index_bits) ** 2 / 8
