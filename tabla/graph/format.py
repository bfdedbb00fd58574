"""Number formats: signed fixed point ``qI.F``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from tabla.base.source import TablaValueError
from tabla.graph.other_formats import Limits, cure

LEAST_WIDTH, LARGEST_WIDTH, DEFAULT_WIDTH = 8, 32, 16
"""The bits of words: the fewest, the most, and those that ``auto`` stands for."""
LEAST_INTEGER, MOST_FRACTION = 2, 30
"""The fewest bits before the point, with the sign, and the most behind it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """``qI.F``: I integer bits, which include the sign, and F fraction bits. A word has 8 to 32 bits in all."""

    integer: int
    fraction: int

    def __post_init__(self) -> None:
        if not (
            self.integer >= LEAST_INTEGER
            and 0 <= self.fraction <= MOST_FRACTION
            and LEAST_WIDTH <= self.width <= LARGEST_WIDTH
        ):
            raise TablaValueError(
                f"format q{self.integer}.{self.fraction} is not supported",
                hint="use qI.F with I >= 2, 8 to 32 bits in all, such as q6.10",
            )

    @staticmethod
    def parse(text: str) -> Format:
        """Read a format such as ``q6.10``. Any other text is the user's fault."""
        found = re.fullmatch(r"q([0-9]{1,3})\.([0-9]{1,3})", text)
        if not found:
            limits = Limits(integer=LEAST_INTEGER, fraction=MOST_FRACTION, narrowest=LEAST_WIDTH, widest=LARGEST_WIDTH)
            raise TablaValueError(
                f"'{text}' is not a number format", hint=cure(text, limits) or "write qI.F, such as q6.10"
            )
        return Format(integer=int(found[1]), fraction=int(found[2]))

    def __str__(self) -> str:
        return f"q{self.integer}.{self.fraction}"

    @property
    def width(self) -> int:
        """Bits of a word."""
        return self.integer + self.fraction

    @property
    def one(self) -> int:
        """The word of 1.0."""
        return 1 << self.fraction

    @property
    def lowest(self) -> int:
        """The most negative word."""
        return -(1 << (self.width - 1))

    @property
    def highest(self) -> int:
        """The most positive word."""
        return (1 << (self.width - 1)) - 1

    def limits(self, guard: int = 0) -> tuple[int, int]:
        """Return the least and the greatest integer that a word with so many guard bits can be."""
        return self.lowest << guard, ((self.highest + 1) << guard) - 1

    def saturate(self, word: int) -> int:
        """Clamp an integer into the range of words."""
        return max(self.lowest, min(self.highest, word))

    def nearest(self, value: Fraction | int) -> int:
        """Return the integer nearest to value * 2^F, rounding halves up. It may lie outside the range of words."""
        return int((Fraction(value) * (2 << self.fraction) + 1) // 2)

    def holds(self, value: Fraction | int) -> bool:
        """Return whether the word nearest to `value` is inside the range."""
        return self.lowest <= self.nearest(value) <= self.highest


def width_of(text: str) -> int | None:
    """Return N for ``autoN``, 16 for ``auto``, and None for any other text. Raises `TablaError` for a wrong N."""
    if not text.startswith("auto"):
        return None
    number = text.removeprefix("auto")
    if not number:
        return DEFAULT_WIDTH
    if not number.isdecimal():
        return None
    width = int(number) if len(number) < 4 else LARGEST_WIDTH + 1
    if not LEAST_WIDTH <= width <= LARGEST_WIDTH:
        hint = f"use auto{LEAST_WIDTH} to auto{LARGEST_WIDTH}; auto is auto{DEFAULT_WIDTH}"
        raise TablaValueError(f"there are no words of {number} bits", hint=hint)
    return width
