"""Which elements of a tensor have a value: unions of boxes, and whether a read stays inside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tabla.graph.graph import Affine, Index

# One half-open range per dimension; a scalar's box has none and holds its only element.
Box = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """A union of boxes of one rank. Touching boxes are merged where their union is a box."""

    boxes: tuple[Box, ...] = ()

    def with_box(self, box: Box) -> Region:
        """Return the union of this region and `box`."""
        boxes = list(self.boxes)
        grown = True
        while grown:
            grown = False
            for other in boxes:
                if (union := _union(box, other)) is not None:
                    boxes.remove(other)
                    box, grown = union, True
                    break
        return Region(boxes=(*boxes, box))

    def extents(self) -> tuple[int, ...]:
        """Return one more than the greatest index in each dimension."""
        return tuple(max(stop for _, stop in ranges) for ranges in zip(*self.boxes, strict=True))

    def covers(self, box: Box) -> bool:
        """Return whether every element of `box` is in this region."""
        left = [box]
        for known in self.boxes:
            left = [piece for part in left for piece in difference(part, known)]
            if not left:
                return True
        return False

    def meets(self, box: Box) -> bool:
        """Return whether any element of `box` is in this region."""
        return any(intersection(box, known) is not None for known in self.boxes)


def first_outside(region: Region, subscripts: Sequence[Affine], indices: Mapping[str, Index]) -> tuple[int, ...] | None:
    """Return an element that the subscripts reach and `region` lacks, or None if there is none.

    `indices` gives the range of every index. The answer is exact for any affine subscripts: if the box around the
    reached elements is neither inside nor outside, the longest range is halved, and both halves are asked.
    """
    used = sorted({name for subscript in subscripts for name in subscript.names})
    pending = [{name: indices[name] for name in used}]
    while pending:
        domain = pending.pop()
        hull = tuple((low, high + 1) for low, high in (subscript.bounds(domain) for subscript in subscripts))
        if region.covers(hull):
            continue
        if not region.meets(hull):
            return tuple(s.at({name: index.low for name, index in domain.items()}) for s in subscripts)
        longest = max(domain.values(), key=lambda index: index.extent)
        middle = (longest.low + longest.high) // 2
        pending.append(domain | {longest.name: replace(longest, low=middle)})
        pending.append(domain | {longest.name: replace(longest, high=middle)})
    return None


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


def _union(one: Box, other: Box) -> Box | None:
    """The union of two boxes if it is a box."""
    apart = [at for at, (a, b) in enumerate(zip(one, other, strict=True)) if a != b]
    if not apart:
        return one
    if _inside(one, other):
        return other
    if _inside(other, one):
        return one
    if len(apart) > 1:
        return None
    (a, b), (c, d) = one[apart[0]], other[apart[0]]
    if b < c or d < a:
        return None
    return (*one[: apart[0]], (min(a, c), max(b, d)), *one[apart[0] + 1 :])


def _inside(one: Box, other: Box) -> bool:
    return all(c <= a and b <= d for (a, b), (c, d) in zip(one, other, strict=True))
