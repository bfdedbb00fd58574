"""Sums of products over index boxes, for any kind of number that numpy holds."""

from __future__ import annotations

import string
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Contraction:
    """The product of one or two arrays over output axes and summed axes, summed over the latter.

    `arrays` are views, so a contraction that was made once gives the sum of what the buffers hold now. `spec` is None
    when nothing is summed. `shape` has one axis per output index, of extent 1 where no array mentions the index.
    """

    arrays: tuple[Array, ...]
    spec: str | None
    shape: tuple[int, ...]

    def value(self) -> Array:
        """Return the sum, an array of `shape`."""
        return self.value_of(self.arrays)

    def value_of(self, arrays: tuple[Array, ...]) -> Array:
        """Return the sum for other arrays of the same shapes."""
        if self.spec is None:
            result: Array = arrays[0] if len(arrays) == 1 else arrays[0] * arrays[1]
            return result
        if self.spec == "a,a->" and arrays[0].dtype == np.int64:
            total: Array = np.dot(arrays[0], arrays[1])
            return total
        summed: Array = np.einsum(self.spec, *arrays)
        return summed if np.shape(summed) == self.shape else np.reshape(summed, self.shape)


def contract(factors: Sequence[Array], outputs: int, summed: Sequence[int]) -> tuple[Contraction, int]:
    """Return the contraction of some arrays, and how many times it adds each product.

    The arrays have one axis per output index, then one per summed index, of extent 1 where they do not mention the
    index. `summed` are the extents of the summed indices. A product is added several times when no array mentions a
    summed index.
    """
    rank = outputs + len(summed)
    widest = [max((array.shape[axis] for array in factors), default=1) for axis in range(rank)]
    repeats = prod(extent for axis, extent in enumerate(summed) if widest[outputs + axis] == 1)
    shape = tuple(widest[:outputs])
    if all(extent == 1 for extent in widest[outputs:]):
        flat = tuple(array.reshape(array.shape[:outputs]) for array in factors)
        return Contraction(arrays=flat, spec=None, shape=shape), repeats
    letters = {axis: letter for axis, letter in zip(_long(widest), string.ascii_letters, strict=False)}
    mentioned = [[axis for axis in _long(array.shape)] for array in factors]
    compact = tuple(
        array.reshape([array.shape[axis] for axis in axes]) for array, axes in zip(factors, mentioned, strict=True)
    )
    reads = ",".join("".join(letters[axis] for axis in axes) for axes in mentioned)
    writes = "".join(letters[axis] for axis in _long(shape))
    return Contraction(arrays=compact, spec=f"{reads}->{writes}", shape=shape), repeats


def _long(shape: Sequence[int]) -> list[int]:
    """Axes of more than one element."""
    return [axis for axis, extent in enumerate(shape) if extent > 1]
