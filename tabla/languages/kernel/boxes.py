"""Boxes of elements: what two of them share, and what one has beyond the other."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

Box = tuple[tuple[int, int], ...]
"""One half-open range per dimension. The box of a scalar has none and holds its only element."""


def intersection(one: Box, other: Box) -> Box | None:
    """Return the elements in both boxes, or None if there are none."""
    both = tuple((max(a, c), min(b, d)) for (a, b), (c, d) in zip(one, other, strict=True))
    return both if all(start < stop for start, stop in both) else None


def difference(box: Box, other: Box) -> list[Box]:
    """Return disjoint boxes that make up `box` without `other`."""
    if intersection(box, other) is None:
        return [box]
    pieces: list[Box] = []
    for at, ((a, b), (c, d)) in enumerate(zip(box, other, strict=True)):
        if a < c:
            pieces.append((*box[:at], (a, c), *box[at + 1 :]))
        if d < b:
            pieces.append((*box[:at], (d, b), *box[at + 1 :]))
        box = (*box[:at], (max(a, c), min(b, d)), *box[at + 1 :])
    return pieces


def without(boxes: Iterable[Box], others: Iterable[Box]) -> list[Box]:
    """Return disjoint boxes that make up `boxes`, which are disjoint, without all of `others`."""
    left = list(boxes)
    for other in others:
        left = [piece for box in left for piece in difference(box, other)]
    return left


def meets(one: Box, other: Box) -> bool:
    """Return whether two boxes share an element."""
    return intersection(one, other) is not None


def covers(one: Box, other: Box) -> bool:
    """Return whether a box holds all elements of another one."""
    return all(a <= c and d <= b for (a, b), (c, d) in zip(one, other, strict=True))


def hull(one: Box, other: Box) -> Box:
    """Return the smallest box that holds two boxes."""
    return tuple((min(a, c), max(b, d)) for (a, b), (c, d) in zip(one, other, strict=True))


def volume(box: Box) -> int:
    """Return how many elements a box holds."""
    return prod(high - low for low, high in box)
