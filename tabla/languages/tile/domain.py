"""The valid index values of a contraction: integers for which every subscript is in range.

The ends of every index variable follow from all subscripts and constraints together
(:mod:`tabla.languages.kernel.intervals`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor, lcm

import numpy as np
from numpy.typing import NDArray

from tabla.languages.kernel.intervals import Interval, Rational, Row, Unbounded, eliminated, intervals_of
from tabla.languages.tile.places import refuse
from tabla.languages.tile.program import Contraction, Subscript

Integers = NDArray[np.int64]
CHUNK = 1 << 18


@dataclass(frozen=True, slots=True, kw_only=True)
class Domain:
    """The valid values among the index values [low, high) of a box: those that keep every row and make every `whole`
    form an integer.

    `intervals` is None where no values are valid.
    """

    names: tuple[str, ...]
    rows: tuple[Row, ...]
    whole: tuple[Rational, ...]
    intervals: Mapping[str, Interval] | None

    @staticmethod
    def of(contraction: Contraction) -> Domain:
        """Return the valid values of a contraction. Raises `TablaError` for an index variable without ends."""
        ranges = _ranges(contraction)
        rows = tuple(dict.fromkeys(Row(value=subscript.value, bound=bound) for subscript, bound in ranges))
        whole = tuple(dict.fromkeys(each for subscript, _ in ranges for each in subscript.whole))
        names = tuple(dict.fromkeys(name for row in rows for name in row.value.names))
        try:
            intervals = intervals_of(names, rows)
        except Unbounded as fault:
            refuse(
                f"nothing bounds the index variable '{fault}'",
                f"use it in a subscript of its own, or add a constraint: add_constraint({fault} < N)",
                contraction.span,
            )
        return Domain(names=names, rows=rows, whole=whole, intervals=intervals)

    def points(self) -> Iterator[dict[str, Integers]]:
        """Return the valid values, some at a time. The last name runs fastest."""
        if self.intervals is None:
            return
        ends = [self.intervals[name] for name in self.names]
        extents = tuple(high - low for low, high in ends)
        total = int(np.prod(extents, dtype=np.int64))
        for start in range(0, total, CHUNK):
            positions = np.unravel_index(np.arange(start, min(total, start + CHUNK)), extents) if extents else ()
            point = {
                name: position.astype(np.int64) + low
                for name, position, (low, _) in zip(self.names, positions, ends, strict=True)
            }
            count = min(total, start + CHUNK) - start
            valid = self._valid(point, count)
            yield {name: values[valid] for name, values in point.items()} if extents else {}

    def _valid(self, point: Mapping[str, Integers], count: int) -> NDArray[np.bool_]:
        valid = np.ones(count, dtype=bool)
        for each in self.whole:
            scaled, scale = scaled_values(each, point, count)
            valid &= scaled % scale == 0
        for row in self.rows:
            scaled, scale = scaled_values(row.value, point, count)
            valid &= (scaled >= 0) & (scaled < row.bound * scale)
        return valid


def _ranges(contraction: Contraction) -> list[tuple[Subscript, int]]:
    ranges = list(zip(contraction.write, contraction.shape, strict=True))
    for source in contraction.sources:
        ranges += zip(source.subscripts, source.node.shape, strict=True)
    return ranges + [(constraint.subscript, constraint.bound) for constraint in contraction.constraints]


def scaled_values(value: Rational, point: Mapping[str, Integers], count: int) -> tuple[Integers, int]:
    """Return integers and a scale, so that the values are exactly integers / scale."""
    scale = lcm(value.constant.denominator, *(factor.denominator for _, factor in value.factors))
    constant = int(value.constant * scale)
    terms = [(int(factor * scale), point[name]) for name, factor in value.factors]
    largest = abs(constant) + sum(abs(factor) * int(np.abs(each).max(initial=0)) for factor, each in terms)
    # Beyond 64 bits numpy would wrap around in silence, so these are integers of Python.
    kind = np.dtype(np.int64 if max(largest, *(abs(factor) for factor, _ in terms), 0) < 1 << 63 else object)
    total = np.full(count, constant, dtype=kind)
    for factor, each in terms:
        total += factor * each.astype(kind, copy=False)
    return total, scale


def integers(value: Rational, point: Mapping[str, Integers], count: int) -> Integers:
    """Return the values where they are integers."""
    scaled, scale = scaled_values(value, point, count)
    return (scaled // scale).astype(np.int64, copy=False)


def check(contraction: Contraction) -> None:
    """Refuse index variables without ends, and an assignment that writes an element twice."""
    domain = Domain.of(contraction)
    if contraction.aggregation == "assign" and not _apart(contraction, domain):
        counts = np.zeros(contraction.size, dtype=np.int64)
        for point in domain.points():
            count = len(next(iter(point.values()))) if point else 1
            places = [integers(subscript.value, point, count) for subscript in contraction.write]
            flat = np.ravel_multi_index(places, contraction.shape) if places else np.zeros(count, dtype=np.int64)
            counts += np.bincount(flat, minlength=contraction.size)
            if (counts > 1).any():
                element = [int(i) for i in np.unravel_index(int(np.argmax(counts > 1)), contraction.shape)]
                name = contraction.name.text or "the output"
                refuse(
                    f"element {element} of '{name}' is assigned more than once",
                    "aggregate with +=, *=, >= or <=, or constrain the indices",
                    contraction.span,
                )


def largest(value: Rational, ranges: Sequence[tuple[Subscript, int]]) -> int | None:
    """Return the largest integer that a form of the index variables takes where the subscripts are in their ranges, or
    None if no values are valid. Raises `Unbounded` if there is no largest one.
    """
    rows = [Row(value=subscript.value, bound=bound) for subscript, bound in ranges]
    result = ""  # no index variable has this name
    negated = {name: -factor for name, factor in value.factors}
    rows.append(Row(value=Rational.make(-value.constant, {result: 1, **negated}), bound=1))
    names = tuple(dict.fromkeys(name for row in rows for name in row.value.names))
    intervals = intervals_of(names, rows)
    if intervals is None:
        return None
    # Intervals alone do not see that variables depend on each other.
    exact = eliminated(result, rows)[1]
    last = intervals[result][1] - 1
    return last if exact is None else min(last, floor(exact))


def covers(contraction: Contraction) -> bool:
    """Return True if a contraction writes every element of its output. False says nothing."""
    domain = Domain.of(contraction)
    if domain.intervals is None or domain.whole:
        return False
    written = [subscript.value for subscript in contraction.write]
    plain = all(form == Rational.make(0, dict.fromkeys(form.names, 1)) and len(form.names) == 1 for form in written)
    names = [name for form in written for name in form.names]
    if not plain or len(set(names)) < len(names):
        return False
    ends = {name: (Fraction(low), Fraction(high - 1)) for name, (low, high) in domain.intervals.items()}
    whole = [(Fraction(0), Fraction(extent - 1)) for extent in contraction.shape]
    if [ends[name] for name in names] != whole:
        return False
    return all(low >= 0 and high < row.bound for row in domain.rows for low, high in (_bounds(row.value, ends),))


def _bounds(value: Rational, ends: Mapping[str, tuple[Fraction, Fraction]]) -> tuple[Fraction, Fraction]:
    """The least and the largest value of a form over a box."""
    parts = [sorted((factor * ends[name][0], factor * ends[name][1])) for name, factor in value.factors]
    return value.constant + sum(low for low, _ in parts), value.constant + sum(high for _, high in parts)


def _apart(contraction: Contraction, domain: Domain) -> bool:
    """Whether every index variable with several values stands alone in a subscript of the output."""
    alone = {subscript.value.names[0] for subscript in contraction.write if len(subscript.value.names) == 1}
    if domain.intervals is None:
        return True
    several = {name for name, (low, high) in domain.intervals.items() if high - low > 1}
    return several <= alone
