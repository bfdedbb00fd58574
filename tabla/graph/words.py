"""Between the real numbers of the user's arrays and the words of a format.

`WordType` says for a tensor which of the functions below turns its numbers into words, and back.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabla.base.source import TablaError
from tabla.graph.format import Format
from tabla.graph.graph import Tensor

Words = NDArray[np.int64]
Reals = NDArray[np.float64]

LEAST_FRACTION = 8
"""A cure names no format with fewer fraction bits, unless the build has fewer. Such a format would hold the value, but
no small number beside it."""


def sample_place(position: int) -> str:
    """Return how an error names a sample that has no other place; `position` counts from 0."""
    return f"sample {position + 1}"


class OutsideRange(TablaError):
    """A number outside of the range of a format. `name` is that of its tensor, and `place` are its subscripts.

    The message is the text `what`, which says where the number is, and then the text `limits`.
    """

    def __init__(self, what: str, limits: str, *, hint: str, name: str, place: tuple[int, ...]) -> None:
        super().__init__(what + limits, hint=hint)
        self.what, self.limits, self.name, self.place = what, limits, name, place


@dataclass(frozen=True, slots=True, kw_only=True)
class WordType:
    """What the words of a tensor stand for.

    The words are in the number format `format`. Those of an `integer` tensor are the integers themselves, whatever the
    fraction. The stored integers of a wide model have `guard` bits more than words (decision 2). Errors say which
    tensor is meant by its `name` and its `role`.
    """

    name: str
    format: Format
    role: str = ""
    guard: int = 0
    integer: bool = False

    @staticmethod
    def of(tensor: Tensor, fmt: Format, *, integer: bool = False) -> WordType:
        """Return the type of a tensor of a graph. Which tensors hold integers is known to the notation alone."""
        return WordType(name=tensor.name, format=fmt, role=tensor.role, guard=tensor.guard, integer=integer)

    @property
    def limits(self) -> tuple[int, int]:
        """The least and the greatest stored integer."""
        return self.format.limits(self.guard)

    def refuse_fractions(self, array: ArrayLike) -> None:
        """Raise `TablaError` for an array with fractions, if the tensor holds integers."""
        if self.integer and not np.array_equal(array, np.trunc(array)):
            raise TablaError(
                f"'{self.name}' is a tensor of integers, but its array has fractions", hint="round the data"
            )

    def to_words(self, array: ArrayLike, place_of: Callable[[int], str] = sample_place) -> Words:
        """Return the words of an array, as `to_words` or `integer_words` makes them; `place_of` is that of `to_words`.

        Raises `TablaError` for numbers that the words do not hold.
        """
        if self.integer:
            _refuse_infinite(real_numbers(array, self.name), self.name)
            self.refuse_fractions(array)
            return integer_words(array, self.format, self.name)
        return to_words(array, self.format, self.name, role=self.role, guard=self.guard, place_of=place_of)

    def to_reals(self, words: ArrayLike) -> Reals:
        """Return the numbers that words stand for, exactly."""
        whole = Format(integer=self.format.width, fraction=0)
        return to_real(words, whole if self.integer else self.format, guard=self.guard)

    def inside(self, array: Reals) -> tuple[Reals, int]:
        """Return the array with its reals inside the range of the format, and how many were outside (`saturated`).

        Integers never saturate, because they would be wrong.
        """
        return (array, 0) if self.integer else saturated(array, self.format)


def _refuse_infinite(real: Reals, name: str) -> None:
    if not np.isfinite(real).all():
        where = ", ".join(str(int(i)) for i in np.argwhere(~np.isfinite(real))[0])
        raise TablaError(
            f"'{name}' holds a value that is not finite, first at [{where}]", hint="replace nan and inf before use"
        )


def to_words(
    array: ArrayLike,
    fmt: Format,
    name: str = "array",
    *,
    role: str = "",
    guard: int = 0,
    place_of: Callable[[int], str] = sample_place,
) -> Words:
    """Return the words nearest to some reals, rounding halves up, in the same shape.

    With `guard` bits they are the stored integers of a wide model (decision 2): the nearest multiple of
    2^-(F + guard), and half a unit of a word as bias.

    Values that are no numbers, not finite or outside the format are the user's fault. The error names the tensor
    `name`, what it is (`role`), the worst value, and, for inputs and labels, its sample, which is the first axis.
    `place_of` says how a sample is called there; its argument counts from 0. The cure is the smallest format that would
    hold the value, if there is one, and a number to divide by.
    """
    real = real_numbers(array, name)
    _refuse_infinite(real, name)
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
        raise OutsideRange(
            f"{f'{role} ' if role else ''}'{name}' holds {worst:g}{sample}",
            f", outside the range of {fmt} ({fmt.lowest / fmt.one:g} to {fmt.highest / fmt.one:g})",
            hint=_cure(Fraction(worst), fmt, name),
            name=name,
            place=tuple(map(int, place)),
        )
    return words.astype(np.int64)


def real_numbers(array: ArrayLike, name: str) -> Reals:
    """Return numbers as float64. Raises `TablaError` for an array of anything else; the error names the tensor."""
    given = np.asarray(array)
    if given.dtype.kind not in "biuf":
        raise TablaError(f"'{name}' holds {given.dtype} values, not real numbers", hint="give integers or floats")
    return given.astype(np.float64)


def saturated(array: ArrayLike, fmt: Format) -> tuple[Reals, int]:
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


def _nearest(scaled: Reals) -> Reals:
    # Scaling by a power of two was exact, and so are floor and the difference; adding 0.5 would not be.
    whole = np.floor(scaled)
    return whole + (scaled - whole >= 0.5)


def integer_words(array: ArrayLike, fmt: Format, name: str = "array") -> Words:
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


def to_real(words: ArrayLike, fmt: Format, *, guard: int = 0) -> Reals:
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
