"""Boxes of elements: what two of them share, what one has beyond the other, and the indices of one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import prod

from tabla.graph.graph import Affine, Index

Box = tuple[tuple[int, int], ...]
"""One half-open range per dimension. The box of a scalar has none and holds its only element."""
MARKED = "axis{}'"
"""What `axes` calls indices among those of a text, which has no such name."""


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


def whole(shape: Sequence[int]) -> Box:
    """Return all elements of a tensor."""
    return tuple((0, size) for size in shape)


def around(subscripts: Iterable[Affine], ranges: Mapping[str, Index]) -> Box:
    """Return the smallest box that holds all elements that subscripts reach. `ranges` has the index of each name."""
    return tuple((low, high + 1) for low, high in (subscript.bounds(ranges) for subscript in subscripts))


def axes(box: Box, name: str = "axis{}") -> tuple[tuple[Index, ...], tuple[Affine, ...]]:
    """Return an index for each axis of a box, and the subscripts of its elements. `name` has a place for the axis."""
    indices = tuple(Index(name=name.format(axis), low=low, high=high) for axis, (low, high) in enumerate(box))
    return indices, tuple(Affine.index(index.name) for index in indices)
