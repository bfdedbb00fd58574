"""Which outputs of a contraction have a valid point at all. Those that have none are 0, whatever the aggregation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import gcd

import numpy as np

from tabla.graph.graph import Affine, Index
from tabla.graph.windows import ramp
from tabla.languages.tile.region import Region

MOST_POINTS = 1 << 24


def inhabited(region: Region) -> tuple[Affine, ...] | None:
    """Return constraints on output indices alone that hold exactly where a valid point exists.

    Summed indices are eliminated one after the other (Fourier and Motzkin). The result is None where the elimination is
    not exact over the integers and a trial of all points finds a hole.
    """
    ranges = {index.name: index for index in (*region.indices, *region.reduced)}
    halves = {*region.constraints, *(half for index in region.reduced for half in _ends(index))}
    exact = True
    for index in region.reduced:
        below = [half for half in halves if half.coefficient(index.name) > 0]
        above = [half for half in halves if half.coefficient(index.name) < 0]
        halves = {half for half in halves if not half.coefficient(index.name)}
        for one in below:
            for other in above:
                a, b = one.coefficient(index.name), -other.coefficient(index.name)
                exact = exact and 1 in (a, b)
                halves.add(_tight(one * b + other * a))
    found = tuple(sorted((half for half in halves if half.bounds(ranges)[0] < 0), key=str))
    return found if exact or _same(region, found) else None


def _ends(index: Index) -> tuple[Affine, Affine]:
    return Affine.make(-index.low, {index.name: 1}), Affine.make(index.high - 1, {index.name: -1})


def _tight(half: Affine) -> Affine:
    common = gcd(*(c for _, c in half.coefficients))
    if common <= 1:
        return half
    return Affine(
        constant=half.constant // common, coefficients=tuple((name, c // common) for name, c in half.coefficients)
    )


def _same(region: Region, found: Sequence[Affine]) -> bool:
    """Whether, point by point, `found` holds exactly where some values of the summed indices are valid."""
    indices = (*region.indices, *region.reduced)
    shape = tuple(index.extent for index in indices)
    if int(np.prod(shape, dtype=np.int64)) > MOST_POINTS:
        return False
    valid = np.ones(shape, dtype=bool)
    for constraint in region.constraints:
        valid &= ramp(constraint, indices) >= 0
    outputs = len(region.indices)
    exists = valid.any(axis=tuple(range(outputs, len(indices))))
    claimed = np.ones(shape[:outputs], dtype=bool)
    for constraint in found:
        claimed &= ramp(constraint, region.indices) >= 0
    return bool((exists == claimed).all())


def holds(constraints: Sequence[Affine], box: Mapping[str, Index]) -> bool:
    """Return whether constraints hold on a whole box."""
    return all(constraint.bounds(box)[0] >= 0 for constraint in constraints)
