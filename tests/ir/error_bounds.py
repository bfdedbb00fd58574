"""How far the words of the function unit may lie from the real values: bounds that tests hold the tables to."""

from __future__ import annotations

import math
from functools import lru_cache

from tabla.ir.format import Format
from tabla.ir.function_tables import (
    EXPONENT_BITS,
    GUARD,
    circular_chord,
    direct_chord,
    exp_chord,
    exp_point,
    held,
    log_chord,
    turn_bits,
)
from tabla.ir.functions import FUNCTIONS, table


@lru_cache(maxsize=256)
def error_bound(name: str, fmt: Format) -> float:
    """Largest distance, in units in the last place, from a result to the real value clamped into the format.

    Half a unit for the last rounding, plus what table entries (rounded at `guard` bits), chords, held ends and
    C add. For arguments inside the domain (log of a word > 0, root of a word >= 0, divisor not 0).
    """
    match FUNCTIONS[name].kind:
        case "direct":
            return _direct_bound(name, fmt)
        case "exp":
            return _exp_bound(fmt)
        case "log":
            chord = log_chord(fmt, table(name, fmt).index_bits)
            # One rounded entry from each of the two tables that are added.
            return 0.5 + 2 * 2.0 ** -(GUARD + 1) + chord
        case "sqrt" | "divide":
            return 0.5
        case "quotient":
            # Of integers, the integer that it is defined as.
            return 0.0
        case "circular":
            return _circular_bound(name, fmt)
        case kind:
            raise ValueError(f"no bound is known for functions of kind {kind!r}")


def _direct_bound(name: str, fmt: Format) -> float:
    made, curve = table(name, fmt), FUNCTIONS[name].curve
    assert curve is not None
    inner = ((1 << made.reach) - (1 << made.shift)) / fmt.one
    outside = held(curve, fmt, made.reach) + direct_chord(curve, fmt, made.shift, inner)
    return 0.5 + 2.0 ** -(GUARD + 1) + max(direct_chord(curve, fmt, made.shift), outside)


def _exp_bound(fmt: Format) -> float:
    made = table("exp", fmt)
    ln2 = math.log(2)
    top = 2.0 ** (fmt.width - 1)
    # C's error moves the exponent by `drift` per unit of x; bits dropped below `fraction_bits` only lower it.
    drift = made.constant / 2.0**EXPONENT_BITS - 1 / ln2
    dropped = 2.0**-made.fraction_bits if fmt.fraction + EXPONENT_BITS > made.fraction_bits else 0.0
    largest = (fmt.integer - 1) * ln2
    # Below 0, |x| exp(x) never exceeds 1/e.
    positive, negative = largest * abs(drift), abs(drift) / math.e * fmt.one
    if drift < 0:
        under, over = top * math.expm1(ln2 * (positive + dropped)), ln2 * negative
    else:
        under, over = ln2 * negative + top * math.expm1(ln2 * dropped), top * math.expm1(ln2 * positive)
    entries = 2.0 ** (fmt.width - 2 - exp_point(fmt) - 1) * (1 + 2.0**-GUARD)
    return 0.5 + entries + max(under, over + exp_chord(fmt, made.index_bits))


def _circular_bound(name: str, fmt: Format) -> float:
    made = table(name, fmt)
    # Turns by which the argument may be off: C's error, largest at the end of the range, and the bits that are cut.
    drift = abs(made.constant / 2.0 ** turn_bits(fmt) - 1 / (2 * math.pi)) * 2.0 ** (fmt.integer - 1)
    cut = 2.0**-made.fraction_bits if fmt.fraction + turn_bits(fmt) > made.fraction_bits else 0.0
    phase = 2 * math.pi * fmt.one * (drift + cut)
    return min(0.5 + 2.0 ** -(GUARD + 1) + circular_chord(fmt, made.index_bits) + phase, 2.0 * fmt.one + 1)
