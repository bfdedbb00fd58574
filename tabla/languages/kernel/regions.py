"""Which elements of a tensor have a value: unions of boxes, and whether a read stays inside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tabla.graph.boxes import Box, around, covers, meets, without
from tabla.graph.graph import Affine, Index


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
        return not without([box], self.boxes)

    def meets(self, box: Box) -> bool:
        """Return whether any element of `box` is in this region."""
        return any(meets(box, known) for known in self.boxes)


def first_outside(region: Region, subscripts: Sequence[Affine], indices: Mapping[str, Index]) -> tuple[int, ...] | None:
    """Return an element that the subscripts reach and `region` lacks, or None if there is none.

    `indices` gives the range of every index. The answer is exact for any affine subscripts: if the box around the
    reached elements is neither inside nor outside, the longest range is halved, and both halves are asked.
    """
    used = sorted({name for subscript in subscripts for name in subscript.names})
    pending = [{name: indices[name] for name in used}]
    while pending:
        domain = pending.pop()
        hull = around(subscripts, domain)
        if region.covers(hull):
            continue
        if not region.meets(hull):
            return tuple(s.at({name: index.low for name, index in domain.items()}) for s in subscripts)
        longest = max(domain.values(), key=lambda index: index.extent)
        middle = (longest.low + longest.high) // 2
        pending.append(domain | {longest.name: replace(longest, low=middle)})
        pending.append(domain | {longest.name: replace(longest, high=middle)})
    return None


def _union(one: Box, other: Box) -> Box | None:
    """The union of two boxes if it is a box."""
    apart = [at for at, (a, b) in enumerate(zip(one, other, strict=True)) if a != b]
    if not apart:
        return one
    if covers(other, one):
        return other
    if covers(one, other):
        return one
    if len(apart) > 1:
        return None
    (a, b), (c, d) = one[apart[0]], other[apart[0]]
    if b < c or d < a:
        return None
    return (*one[: apart[0]], (min(a, c), max(b, d)), *one[apart[0] + 1 :])
