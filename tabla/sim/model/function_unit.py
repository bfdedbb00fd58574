"""The function unit of the cycle model: ``docs/decisions/0004-functions.md`` in plain integers.

It was written from that page alone and shares nothing with the function unit of the graph's evaluator.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isqrt

from tabla.program.image import FunctionTable


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """The word that a function gives, and whether it counts as an overflow or as a domain error."""

    word: int
    overflow: bool = False
    domain_error: bool = False


Function = Callable[[int, int], Value]
"""Takes operand and divisor and returns the value; only kinds that divide read the divisor."""


def _clamp(value: int, lowest: int, highest: int) -> int:
    return max(lowest, min(highest, value))


def _interpolate(table: FunctionTable, segment: int, inside: int, offset: int = 0) -> int:
    """Interpolate at `inside` of `segment`, add `offset` (in units of the table's base), and round half up.

    A table with a third column has a parabola in each segment: its chord is bent by what is left of the segment.
    """
    cut = table.shift + table.guard
    slope = table.slope[segment]
    if table.curve:
        lost = max(table.shift - 17, 0)
        left = ((1 << table.shift) - 1 - inside) >> lost
        slope += table.curve[segment] * left >> (table.shift - lost)
    total = ((table.base[segment] + offset) << table.shift) + slope * inside
    return (total + (1 << cut >> 1)) >> cut


def _direct(table: FunctionTable, width: int, fraction: int) -> Function:
    radius = 1 << table.reach
    lowest, highest = -(1 << (width - 1)), (1 << (width - 1)) - 1

    def evaluate(operand: int, divisor: int) -> Value:
        place = _clamp(operand, -radius, radius - 1) + radius
        value = _interpolate(table, place >> table.shift, place & ((1 << table.shift) - 1))
        return Value(word=_clamp(value, lowest, highest))

    return evaluate


def _exp(table: FunctionTable, width: int, fraction: int) -> Function:
    lowest, highest = -(1 << (width - 1)), (1 << (width - 1)) - 1
    bits = table.fraction_bits
    inside_bits = bits - table.index_bits
    mantissa_fraction = width + 1
    point = fraction + (24 if fraction > 16 else 16)

    def evaluate(operand: int, divisor: int) -> Value:
        scaled = operand * table.constant
        power = scaled >> point
        if power >= width - fraction - 1:
            return Value(word=highest, overflow=True)
        rest = (scaled >> (point - bits)) & ((1 << bits) - 1)
        mantissa = _interpolate(table, rest >> inside_bits, rest & ((1 << inside_bits) - 1))
        drop = mantissa_fraction - fraction - power
        if drop > mantissa_fraction + 1:
            return Value(word=0)
        value = (mantissa + (1 << (drop - 1))) >> drop
        word = _clamp(value, lowest, highest)
        return Value(word=word, overflow=word != value)

    return evaluate


def _log(table: FunctionTable, width: int, fraction: int) -> Function:
    lowest, highest = -(1 << (width - 1)), (1 << (width - 1)) - 1
    inside_bits = width - 2 - table.index_bits

    def evaluate(operand: int, divisor: int) -> Value:
        if operand <= 0:
            return Value(word=lowest, domain_error=True)
        top = operand.bit_length() - 1
        below = (operand << (width - 2 - top)) & ((1 << (width - 2)) - 1)
        segment, inside = below >> inside_bits, below & ((1 << inside_bits) - 1)
        value = _interpolate(table, segment, inside, table.exponent[top])
        word = _clamp(value, lowest, highest)
        return Value(word=word, overflow=word != value)

    return evaluate


def _circular(table: FunctionTable, width: int, fraction: int) -> Function:
    lowest, highest = -(1 << (width - 1)), (1 << (width - 1)) - 1
    bits = table.fraction_bits
    inside_bits = bits - table.index_bits
    point = fraction + min(width + 3, 33)

    def evaluate(operand: int, divisor: int) -> Value:
        turn = ((operand * table.constant) >> (point - bits)) & ((1 << bits) - 1)
        value = _interpolate(table, turn >> inside_bits, turn & ((1 << inside_bits) - 1))
        return Value(word=_clamp(value, lowest, highest))

    return evaluate


def _sqrt(table: FunctionTable, width: int, fraction: int) -> Function:
    def evaluate(operand: int, divisor: int) -> Value:
        if operand < 0:
            return Value(word=0, domain_error=True)
        return Value(word=(isqrt(operand << (fraction + 2)) + 1) >> 1)

    return evaluate


def _divide(table: FunctionTable, width: int, fraction: int) -> Function:
    lowest, highest = -(1 << (width - 1)), (1 << (width - 1)) - 1

    def evaluate(operand: int, divisor: int) -> Value:
        if divisor == 0:
            return Value(word=highest if operand >= 0 else lowest, domain_error=True)
        # floor(x / y + 1/2) with one floor division, sign of the divisor and all.
        value = ((operand << (fraction + 1)) + divisor) // (2 * divisor)
        word = _clamp(value, lowest, highest)
        return Value(word=word, overflow=word != value)

    return evaluate


def _quotient(table: FunctionTable, width: int, fraction: int) -> Function:
    lowest, highest = -(1 << (width - 1)), (1 << (width - 1)) - 1

    def evaluate(operand: int, divisor: int) -> Value:
        if divisor == 0:
            return Value(word=highest if operand >= 0 else lowest, domain_error=True)
        value = abs(operand) // abs(divisor)
        value = value if (operand < 0) == (divisor < 0) else -value
        word = _clamp(value, lowest, highest)
        return Value(word=word, overflow=word != value)

    return evaluate


KINDS: dict[str, Callable[[FunctionTable, int, int], Function]] = {
    "direct": _direct,
    "exp": _exp,
    "log": _log,
    "circular": _circular,
    "sqrt": _sqrt,
    "divide": _divide,
    "quotient": _quotient,
}


def function_of(table: FunctionTable, width: int, fraction: int) -> Function:
    """Return the function of a table of the image, on words of `width` bits of which `fraction` are fraction bits."""
    return KINDS[table.kind](table, width, fraction)
