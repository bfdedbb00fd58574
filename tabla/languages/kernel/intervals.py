"""The ends of index variables that affine inequalities bound: forms with rational factors, and boxes around them.

One inequality after the other narrows the intervals. Where that leaves a variable without an end, all other variables
are eliminated (Fourier and Motzkin). The ends are those of a box around the valid values; inside the box every
inequality counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

Interval = tuple[int, int]
_ROUNDS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Rational:
    """``constant + sum(factor * index)``. The factors are sorted by index, and none of them is zero."""

    constant: Fraction = Fraction(0)
    factors: tuple[tuple[str, Fraction], ...] = ()

    @staticmethod
    def make(constant: Fraction | int, factors: Mapping[str, Fraction | int]) -> Rational:
        """Build from a mapping, dropping zeros and sorting."""
        kept = tuple(sorted((name, Fraction(factor)) for name, factor in factors.items() if factor))
        return Rational(constant=Fraction(constant), factors=kept)

    @property
    def names(self) -> tuple[str, ...]:
        """The indices it mentions, sorted."""
        return tuple(name for name, _ in self.factors)

    def factor(self, name: str) -> Fraction:
        """Return the factor of an index, 0 if the index is absent."""
        return next((factor for other, factor in self.factors if other == name), Fraction(0))


class Unbounded(Exception):
    """An index variable without ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """``0 <= value < bound``."""

    value: Rational
    bound: int


def intervals_of(names: Sequence[str], rows: Sequence[Row]) -> dict[str, Interval] | None:
    """Return the ends [low, high) of every variable, or None if no values are valid. Raises `Unbounded` if a variable
    has no ends.
    """
    ends: dict[str, tuple[Fraction | None, Fraction | None]] = {name: (None, None) for name in names}
    if any(not row.value.factors and not 0 <= row.value.constant < row.bound for row in rows):
        return None
    if not _narrow(rows, ends):
        return None
    for name in names:
        if None in ends[name]:
            ends[name] = eliminated(name, rows)
            if not _narrow(rows, ends):
                return None
        if None in ends[name]:
            raise Unbounded(name)
    intervals: dict[str, Interval] = {}
    for name, (low, high) in ends.items():
        assert low is not None and high is not None
        if ceil(low) > floor(high):
            return None
        intervals[name] = (ceil(low), floor(high) + 1)
    return intervals


def _narrow(rows: Sequence[Row], ends: dict[str, tuple[Fraction | None, Fraction | None]]) -> bool:
    """Narrow the ends by each row in turn until nothing moves; False on an empty box."""
    for _ in range(_ROUNDS):
        before = dict(ends)
        for row in rows:
            for name, factor in row.value.factors:
                rest = _rest(row.value, name, ends)
                # factor * x lies in [-rest.high, bound - 1 - rest.low]
                least = None if rest[1] is None else -rest[1] / factor
                most = None if rest[0] is None else (row.bound - 1 - rest[0]) / factor
                if factor < 0:
                    least, most = most, least
                low, high = ends[name]
                if least is not None:
                    low = Fraction(ceil(least)) if low is None else max(low, Fraction(ceil(least)))
                if most is not None:
                    high = Fraction(floor(most)) if high is None else min(high, Fraction(floor(most)))
                ends[name] = (low, high)
                if low is not None and high is not None and low > high:
                    return False
        if ends == before:
            break
    return True


def _rest(
    value: Rational, name: str, ends: Mapping[str, tuple[Fraction | None, Fraction | None]]
) -> tuple[Fraction | None, Fraction | None]:
    """The ends of everything in a row but one variable."""
    low: Fraction | None = value.constant
    high: Fraction | None = value.constant
    for other, factor in value.factors:
        if other == name:
            continue
        one, two = ends[other]
        if factor < 0:
            one, two = two, one
        low = None if low is None or one is None else low + factor * one
        high = None if high is None or two is None else high + factor * two
    return low, high


def eliminated(name: str, rows: Sequence[Row]) -> tuple[Fraction | None, Fraction | None]:
    """Return the ends of a variable once all others are eliminated."""
    halves = {half for row in rows for half in _halves(row)}
    others = sorted({other for half in halves for other, _ in half.factors} - {name})
    for other in others:
        below = [half for half in halves if half.factor(other) > 0]
        above = [half for half in halves if half.factor(other) < 0]
        halves = {half for half in halves if half.factor(other) == 0}
        halves |= {_joined(a, b, other) for a in below for b in above}
    low: Fraction | None = None
    high: Fraction | None = None
    for half in halves:
        factor = half.factor(name)
        if factor > 0:
            low = -half.constant / factor if low is None else max(low, -half.constant / factor)
        elif factor < 0:
            high = -half.constant / factor if high is None else min(high, -half.constant / factor)
    return low, high


def _halves(row: Row) -> tuple[Rational, Rational]:
    """A row as two expressions that are not negative."""
    negated = {name: -factor for name, factor in row.value.factors}
    return row.value, Rational.make(row.bound - 1 - row.value.constant, negated)


def _joined(one: Rational, other: Rational, name: str) -> Rational:
    """The sum of two expressions in which a variable cancels."""
    a, b = one.factor(name), -other.factor(name)
    names = {*one.names, *other.names} - {name}
    factors = {n: one.factor(n) / a + other.factor(n) / b for n in names}
    return Rational.make(one.constant / a + other.constant / b, factors)
