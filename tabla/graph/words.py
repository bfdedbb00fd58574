"""Between the real numbers of the user's arrays and the words of a format."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabla.base.source import TablaError
from tabla.graph.format import Format

LEAST_FRACTION = 8
"""A cure names no format with fewer fraction bits, unless the build has fewer. Such a format would hold the value, but
no small number beside it."""


def _sample(position: int) -> str:
    return f"sample {position + 1}"


def to_words(
    array: ArrayLike,
    fmt: Format,
    name: str = "array",
    *,
    role: str = "",
    guard: int = 0,
    place_of: Callable[[int], str] = _sample,
) -> NDArray[np.int64]:
    """Return the words nearest to some reals, rounding halves up, in the same shape.

    With `guard` bits they are the stored integers of a wide model (decision 2): the nearest multiple of
    2^-(F + guard), and half a unit of a word as bias.

    Values that are no numbers, not finite or outside the format are the user's fault. The error names the tensor
    `name`, what it is (`role`), the worst value, and, for inputs and labels, its sample, which is the first axis.
    `place_of` says how a sample is called there; its argument counts from 0. The cure is the smallest format that would
    hold the value, if there is one, and a number to divide by.
    """
    given = np.asarray(array)
    if given.dtype.kind not in "biuf":
        raise TablaError(f"'{name}' holds {given.dtype} values, not real numbers", hint="give integers or floats")
    real = given.astype(np.float64)
    if not np.isfinite(real).all():
        where = ", ".join(str(int(i)) for i in np.argwhere(~np.isfinite(real))[0])
        raise TablaError(
            f"'{name}' holds a value that is not finite, first at [{where}]", hint="replace nan and inf before use"
        )
    words = _nearest(real * fmt.one)
    outside = (words < fmt.lowest) | (words > fmt.highest)
    if guard:
        words = _nearest(np.ldexp(real, fmt.fraction + guard)) + bias(guard)
        lowest, highest = fmt.limits(guard)
        outside |= (words < lowest) | (words > highest)
    if outside.any():
        place = np.unravel_index(int(np.argmax(np.where(outside, np.abs(real), 0))), real.shape)
        worst = float(real[place])
        sample = f" in {place_of(int(place[0]))}" if role in ("input", "label") and place else ""
        raise TablaError(
            f"{f'{role} ' if role else ''}'{name}' holds {worst:g}{sample}, outside the range of {fmt}"
            f" ({fmt.lowest / fmt.one:g} to {fmt.highest / fmt.one:g})",
            hint=_cure(Fraction(worst), fmt, name),
        )
    return words.astype(np.int64)


def saturated(array: ArrayLike, fmt: Format) -> tuple[NDArray[np.float64], int]:
    """Return reals with those outside the format replaced by its nearest word, and how many were outside."""
    real = np.asarray(array, dtype=np.float64)
    # Half a unit above the highest word is rounded to the highest word plus one, so the limit is the word itself.
    held = np.clip(real, fmt.lowest / fmt.one, fmt.highest / fmt.one)
    return held, int(np.count_nonzero(np.abs(held - real) > 0.5 / fmt.one))


def bias(guard: int) -> int:
    """Return what a stored integer with guard bits is above its value: half a unit of a word, so that dropping the
    guard bits rounds.
    """
    return 1 << guard >> 1


def _nearest(scaled: NDArray[np.float64]) -> NDArray[np.float64]:
    # Scaling by a power of two was exact, and so are floor and the difference; adding 0.5 would not be.
    whole = np.floor(scaled)
    return whole + (scaled - whole >= 0.5)


def integer_words(array: ArrayLike, fmt: Format, name: str = "array") -> NDArray[np.int64]:
    """Return whole numbers as words of a build's format: the integer n is the word n, whatever the fraction.

    An integer outside the range of words is the user's fault. The error names the tensor `name` and a format whose
    words are wide enough.
    """
    whole = np.asarray(array, dtype=np.float64)
    outside = (whole < fmt.lowest) | (whole > fmt.highest)
    if outside.any():
        worst = int(whole[outside][np.argmax(np.abs(whole[outside]))])
        raise TablaError(
            f"'{name}' holds {worst}, outside the integers of {fmt} ({fmt.lowest} to {fmt.highest})",
            hint=_cure_of_integer(worst, fmt),
        )
    return whole.astype(np.int64)


def to_real(words: ArrayLike, fmt: Format, *, guard: int = 0) -> NDArray[np.float64]:
    """Return the reals that words stand for, or stored integers with `guard` bits, exactly."""
    return np.ldexp((np.asarray(words, dtype=np.int64) - bias(guard)).astype(np.float64), -(fmt.fraction + guard))


def _cure(value: Fraction, fmt: Format, name: str) -> str:
    """Return a format that holds the value beside small numbers, if there is one, and a power of ten to divide by.

    The format has the fewest more integer bits, and as many of the fraction bits as fit. The divisor brings the value
    to at most 1.
    """
    divisor = 1
    while abs(value) > divisor:
        divisor *= 10
    scale = f"divide '{name}' by {divisor:,}"
    for integer in range(fmt.integer + 1, 33 - min(fmt.fraction, LEAST_FRACTION)):
        wider = Format(integer=integer, fraction=min(fmt.fraction, 32 - integer))
        if wider.holds(value):
            return f"use --format {wider}, or {scale}"
    return f"no number format holds it and small numbers as well: {scale}"


def _cure_of_integer(value: int, fmt: Format) -> str:
    """The format with the fewest more bits, the fraction as it is: it is that of the reals beside the integer."""
    for integer in range(fmt.integer + 1, 33 - fmt.fraction):
        wider = Format(integer=integer, fraction=fmt.fraction)
        if wider.lowest <= value <= wider.highest:
            return f"use --format {wider}, or smaller integers"
    return f"no word of 32 bits with {fmt.fraction} fraction bits holds it: use smaller integers"
