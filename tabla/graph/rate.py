"""A learning rate that a host can change: a word that is loaded beside the models (decision 23)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from tabla.base.source import TablaError
from tabla.graph.format import Format

RATE = "mu"
"""The name under which the word of the rate is loaded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeRate:
    """A learning rate whose mantissa is a word, the model `RATE`, which no step changes.

    The rate of the word m is ``sign * m * 2^-(F + shift)``, where F is the number of fraction bits of the format. The
    microcode has `sign`, 1 or -1, and `shift`. `built` is the rate that the program was compiled with, and the one of
    every load that names no other.
    """

    sign: int
    shift: int
    built: Fraction

    def mantissa(self, rate: Fraction | float, number_format: Format) -> Fraction:
        """Return what the word of a rate stands for, ``sign * rate * 2^shift``, before it is rounded to a word.

        The rate 0 learns nothing. Raises `TablaError` for a rate whose word `number_format` does not hold, for one
        whose word would be 0 though the rate is not, and for one that is not finite.
        """
        if not math.isfinite(rate):
            raise TablaError(f"the learning rate {rate} is not finite", hint="give a number")
        value = self.sign * Fraction(rate) * Fraction(2) ** self.shift
        if number_format.holds(value) and (number_format.nearest(value) or not value):
            return value
        step = Fraction(1, number_format.one) / Fraction(2) ** self.shift
        raise TablaError(
            f"the learning rate {float(rate):.6g} is outside what the word of '{RATE}' holds: 0, or"
            f" {float(step):.6g} to {float(step * number_format.highest):.6g}, of either sign",
            hint=f"compile the program with a --learning-rate closer to it than {float(self.built):.6g}",
        )

    def word(self, rate: Fraction | float, number_format: Format) -> int:
        """Return the word of a rate. Raises `TablaError` as `mantissa` does."""
        return number_format.nearest(self.mantissa(rate, number_format))

    def rate(self, word: int, number_format: Format) -> Fraction:
        """Return the rate that a word stands for."""
        return self.sign * Fraction(word, number_format.one) / Fraction(2) ** self.shift
