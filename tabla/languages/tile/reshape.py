"""Reshapes as affine copies: both shapes as products of the same finer extents."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from tabla.graph.graph import Affine

Subscripts = tuple[Affine, ...]


def refinement(
    old: Sequence[int], new: Sequence[int]
) -> tuple[tuple[int, ...], Subscripts, Subscripts] | tuple[None, Subscripts, Subscripts]:
    """Return the finer extents, the subscripts of the old shape and those of the new shape, over indices ``i0``,
    ``i1``, ... .

    The extents are None where the shapes have no common refinement. A flat tensor between the two shapes helps there.
    """
    places = sorted({*_steps(old), *_steps(new)}, reverse=True)
    steps = [place for place in places if place]
    extents = []
    for larger, smaller in pairwise(steps):
        if larger % smaller:
            return None, (), ()
        extents.append(larger // smaller)
    names = {f"i{n}": smaller for n, smaller in enumerate(steps[1:])}
    read, write = (_subscripts(shape, names) for shape in (old, new))
    return tuple(extents), read, write


def _steps(shape: Sequence[int]) -> list[int]:
    """Return how many elements a step along each axis skips, with the whole size in front."""
    steps = [1]
    for extent in reversed(shape):
        steps.append(steps[-1] * extent)
    return steps


def _subscripts(shape: Sequence[int], names: dict[str, int]) -> Subscripts:
    """Return each axis as the sum of the finer indices that lie inside it."""
    subscripts: list[Affine] = []
    step = 1
    for extent in reversed(shape):
        inside = {name: size // step for name, size in names.items() if step <= size < step * extent}
        subscripts.append(Affine.make(0, inside))
        step *= extent
    return tuple(reversed(subscripts))
