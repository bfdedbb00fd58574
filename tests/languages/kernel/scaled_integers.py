"""Products with constants that a format cannot hold, in integers and exact fractions (decision 22). Nothing of the
product is imported.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import floor


class Words:
    """Words of the format qI.F, as integers."""

    def __init__(self, integer: int, fraction: int) -> None:
        self.width, self.fraction = integer + fraction, fraction
        self.most = (1 << (self.width - 1)) - 1
        self.bits = max(fraction, min(10, self.width - 2))

    def word(self, exact: Fraction) -> int:
        """The word nearest to a number in units of the last place. Halves are rounded up, and the word saturates."""
        return min(max(floor(exact + Fraction(1, 2)), -self.most - 1), self.most)

    def outside(self, constant: Fraction) -> bool:
        nearest = floor(constant * (1 << self.fraction) + Fraction(1, 2))
        return not -self.most - 1 <= nearest <= self.most or (nearest == 0 and constant != 0)

    def apart(self, constant: Fraction) -> tuple[Fraction, int]:
        """(m, s) with 1/2 < m <= 1 and the constant's sign in m."""
        mantissa, shift = abs(constant), 0
        while not Fraction(1, 2) < mantissa <= 1:
            up = mantissa <= Fraction(1, 2)
            mantissa, shift = (mantissa * 2, shift + 1) if up else (mantissa / 2, shift - 1)
        return (mantissa if constant > 0 else -mantissa), shift

    def taken(self, constant: Fraction) -> Fraction:
        """The constant as a word with as many bits behind the point as it has room for, at most 2W - 1."""
        size = abs(constant)
        mantissa, _ = self.apart(size)
        if mantissa == 1:
            return constant
        return self.at(constant, self.place(size))

    def taken_by_index(self, constant: Fraction) -> Fraction:
        """The constant beside an index that does not fit: its mantissa has as many bits as one of decision 22 had."""
        mantissa, shift = self.apart(constant)
        places = 1 << max(self.bits, -shift)
        return Fraction(floor(abs(mantissa) * places + Fraction(1, 2)), places) * Fraction(2) ** -shift

    def scaled(self, words: Iterable[int], constant: Fraction) -> int:
        """A sum of words times a constant."""
        return self.word(sum(words) * self.taken(constant))

    def exact(self, constant: Fraction) -> bool:
        """Whether the constant is a word without an error."""
        return (constant * (1 << self.fraction)).denominator == 1 and not self.outside(constant)

    def sum_of(
        self,
        scaled: Sequence[tuple[Fraction, int]],
        plain: Sequence[tuple[int, int]] = (),
        products: Sequence[tuple[int, int, int]] = (),
        added: Fraction | None = None,
    ) -> int:
        """A sum of constants times words, of signs times words, of signs times products of two words, and of a constant
        if one is `added`.
        """
        words = [*plain, *([] if added is None else [(1, floor(added * (1 << self.fraction) + Fraction(1, 2)))])]
        while True:
            inexact = [(c, x) for c, x in scaled if not self.exact(c)]
            if not inexact:
                total = sum(sign * x for sign, x in words) + sum(c * x for c, x in scaled)
                return self.word(total + Fraction(sum(s * a * b for s, a, b in products), 1 << self.fraction))
            start = len(words) == 1 and words[0][0] == 1
            sizes = {abs(c) for c, _ in scaled} | ({Fraction(1)} if words and not start else set())
            if products:
                apart = inexact
            elif len(sizes) == 1 and abs(self.apart(max(sizes))[0]) == 1:
                return self.word(Fraction(sum(sign * x for sign, x in words)) + sum(c * x for c, x in scaled))
            else:
                place = self.place(max(sizes))
                apart = [
                    (c, x)
                    for c, x in scaled
                    if 16 * abs(c) < max(sizes) and (c * Fraction(2) ** place).denominator != 1
                ]
                if not apart:
                    total = sum(Fraction(sign * x) for sign, x in words) + sum(self.at(c, place) * x for c, x in scaled)
                    return self.word(total)
            scaled = [pair for pair in scaled if pair not in apart]
            words.append((1, self.sum_of(apart)))

    def place(self, size: Fraction) -> int:
        """The most bits behind the point with which a word holds a number above 0, at most 2W - 1."""
        return max(p for p in range(-2, 2 * self.width) if floor(size * Fraction(2) ** p + Fraction(1, 2)) <= self.most)

    def at(self, constant: Fraction, place: int) -> Fraction:
        """The constant with so many bits behind the point; halves of its size are rounded up."""
        size = floor(abs(constant) * Fraction(2) ** place + Fraction(1, 2)) / Fraction(2) ** place
        return size if constant > 0 else -size

    def scaled_products(self, pairs: Sequence[tuple[int, int]], constant: Fraction, added: int = 0) -> int:
        """A sum of products of words times a constant, plus a word.

        It is rounded twice, unless the constant is a power of two and nothing is added.
        """
        total = Fraction(sum(a * b for a, b in pairs), 1 << self.fraction)
        mantissa, shift = self.apart(constant)
        if abs(constant) == Fraction(2) ** -shift:
            return self.word(Fraction(self.word(total * constant) + added))
        sign = 1 if constant > 0 else -1
        return self.word(self.word(sign * total * Fraction(2) ** (-shift - 1)) * self.taken(2 * abs(mantissa)) + added)
