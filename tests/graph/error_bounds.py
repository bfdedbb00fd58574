"""How far the words of the function unit may lie from the real values: bounds that tests hold the tables to."""

from __future__ import annotations

import math
from functools import lru_cache

from tabla.graph.format import Format
from tabla.graph.function_tables import (
    GUARD,
    Table,
    circular_chord,
    direct_chord,
    exp_chord,
    exp_point,
    exponent_bits,
    fine,
    held,
    log_chord,
    turn_bits,
)
from tabla.graph.functions import FUNCTIONS, table


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
            made = table(name, fmt)
            chord = _parabola(made, fmt.one) if fine(fmt) else log_chord(fmt, made.index_bits)
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


BENDS = {
    "sigmoid": 1 / 8,
    "tanh": 2.0,
    "gaussian": 3.9055,
    "erf": 4 / math.sqrt(math.pi),
    "atan": 2.0,
    "arc": 0.7699,
    "exp": 2 * math.log(2) ** 3,
    "log": 2.0,
    "sin": math.tau**3,
    "cos": math.tau**3,
}
"""The largest magnitude of the third derivative of what a table holds, such as 2^r, log(1 + r) or a sine of turns."""


def _parabola(made: Table, one: float) -> float:
    """Return how many units a parabola adds in a table whose unit is 1 / `one`: by its distance from the function, and
    by the integers of its product.
    """
    width = 2.0**-made.index_bits if made.fraction_bits else (2 << made.reach) / one * 2.0**-made.index_bits
    # A cubic polynomial of third derivative 1 lies so far from its parabola through both ends and the middle.
    away = math.sqrt(3) / 216 * BENDS[made.name] * width**3 * one
    most = max(map(abs, made.curve))
    # The product loses less than a unit of the table, and the way that is left is short of its true length.
    lost = 1 + most * (2.0**-made.shift + (2.0**-17 if made.shift > 17 else 0.0)) + 1 / 8
    return away + lost * 2.0**-made.guard


def _direct_bound(name: str, fmt: Format) -> float:
    made, curve = table(name, fmt), FUNCTIONS[name].curve
    assert curve is not None
    if fine(fmt):
        return 0.5 + 2.0 ** -(GUARD + 1) + held(curve, fmt, made.reach) + _parabola(made, fmt.one)
    inner = ((1 << made.reach) - (1 << made.shift)) / fmt.one
    outside = held(curve, fmt, made.reach) + direct_chord(curve, fmt, made.shift, inner)
    return 0.5 + 2.0 ** -(GUARD + 1) + max(direct_chord(curve, fmt, made.shift), outside)


def _exp_bound(fmt: Format) -> float:
    made = table("exp", fmt)
    ln2 = math.log(2)
    top = 2.0 ** (fmt.width - 1)
    # C's error moves the exponent by `drift` per unit of x; bits dropped below `fraction_bits` only lower it.
    drift = made.constant / 2.0 ** exponent_bits(fmt) - 1 / ln2
    dropped = 2.0**-made.fraction_bits if fmt.fraction + exponent_bits(fmt) > made.fraction_bits else 0.0
    largest = (fmt.integer - 1) * ln2
    # Below 0, |x| exp(x) never exceeds 1/e.
    positive, negative = largest * abs(drift), abs(drift) / math.e * fmt.one
    if drift < 0:
        under, over = top * math.expm1(ln2 * (positive + dropped)), ln2 * negative
    else:
        under, over = ln2 * negative + top * math.expm1(ln2 * dropped), top * math.expm1(ln2 * positive)
    entries = 2.0 ** (fmt.width - 2 - exp_point(fmt) - 1) * (1 + 2.0**-GUARD)
    if fine(fmt):
        # Words are most exact where the result is small, so the bound is that of a power which is shifted by nothing.
        point = 2.0 ** exp_point(fmt)
        return 0.5 + entries + max(under, over) + _parabola(made, point) / point * 2.0 ** (fmt.width - 2)
    return 0.5 + entries + max(under, over + exp_chord(fmt, made.index_bits))


def _circular_bound(name: str, fmt: Format) -> float:
    made = table(name, fmt)
    # Turns by which the argument may be off: C's error, largest at the end of the range, and the bits that are cut.
    drift = abs(made.constant / 2.0 ** turn_bits(fmt) - 1 / (2 * math.pi)) * 2.0 ** (fmt.integer - 1)
    cut = 2.0**-made.fraction_bits if fmt.fraction + turn_bits(fmt) > made.fraction_bits else 0.0
    phase = 2 * math.pi * fmt.one * (drift + cut)
    chord = _parabola(made, fmt.one) if fine(fmt) else circular_chord(fmt, made.index_bits)
    return min(0.5 + 2.0 ** -(GUARD + 1) + chord + phase, 2.0 * fmt.one + 1)
