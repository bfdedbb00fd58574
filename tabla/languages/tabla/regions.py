"""Whether a read of a variable stays inside the elements that have a value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tabla.languages.kernel.regions import Box, Region
from tabla.languages.tabla.affine import Affine

__all__ = ["Box", "Region", "first_outside"]


def first_outside(
    region: Region, subscripts: Sequence[Affine], ranges: Mapping[str, tuple[int, int]]
) -> tuple[int, ...] | None:
    """Return an element that the subscripts reach and `region` lacks, or None if there is none.

    `ranges` gives the half-open range of every iterator. The answer is exact for any affine subscripts: if the box
    around the reached elements is neither inside nor outside, the longest range is halved, and both halves are asked.
    """
    used = sorted({name for subscript in subscripts for name, _ in subscript.terms})
    pending: list[dict[str, tuple[int, int]]] = [{name: ranges[name] for name in used}]
    while pending:
        domain = pending.pop()
        intervals = [subscript.interval(domain) for subscript in subscripts]
        hull = tuple((low, high + 1) for low, high in intervals)
        if region.covers(hull):
            continue
        if not region.meets(hull):
            return tuple(s.at({name: start for name, (start, _) in domain.items()}) for s in subscripts)
        name, (start, stop) = max(domain.items(), key=lambda item: item[1][1] - item[1][0])
        middle = (start + stop) // 2
        pending.append(domain | {name: (middle, stop)})
        pending.append(domain | {name: (start, middle)})
    return None
