"""Affine subscripts: an integer plus integer multiples of iterators."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Affine:
    """``constant + sum(coefficient * iterator)``. `terms` are sorted by iterator, and none is zero."""

    terms: tuple[tuple[str, int], ...] = ()
    constant: int = 0

    def __post_init__(self) -> None:
        names = [name for name, _ in self.terms]
        if names != sorted(set(names)) or any(coefficient == 0 for _, coefficient in self.terms):
            raise ValueError(f"terms must be sorted, distinct and not zero: {self.terms}")

    def interval(self, ranges: Mapping[str, tuple[int, int]]) -> tuple[int, int]:
        """Return the least and the greatest value while each iterator runs over its half-open range."""
        low = high = self.constant
        for name, coefficient in self.terms:
            start, stop = ranges[name]
            ends = (coefficient * start, coefficient * (stop - 1))
            low += min(ends)
            high += max(ends)
        return low, high

    def at(self, point: Mapping[str, int]) -> int:
        """Return the value where each iterator has the value that `point` gives it."""
        return self.constant + sum(coefficient * point[name] for name, coefficient in self.terms)

    def __str__(self) -> str:
        text = ""
        for name, coefficient in self.terms:
            sign = "-" if coefficient < 0 else "+"
            factor = name if abs(coefficient) == 1 else f"{abs(coefficient)}*{name}"
            text += f" {sign} {factor}" if text else f"-{factor}" if coefficient < 0 else factor
        if not text:
            return str(self.constant)
        if self.constant:
            text += f" {'-' if self.constant < 0 else '+'} {abs(self.constant)}"
        return text
