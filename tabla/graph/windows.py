"""Affine reads and writes as strided views: no index array is ever made, whatever the size of the box."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from tabla.graph.graph import Affine, Index

Element = TypeVar("Element", bound=np.generic)


def window(buffer: NDArray[Element], subscripts: Sequence[Affine], indices: Sequence[Index]) -> NDArray[Element]:
    """Return the elements ``buffer[subscripts]`` over a box: one axis per index, of extent 1 where no subscript
    mentions the index.

    `buffer` is C-contiguous. The view stays valid for the buffer's life, and writing to the view writes the buffer. A
    subscript that leaves the buffer is a fault of ours and raises IndexError.
    """
    box = {index.name: index for index in indices}
    for subscript, extent in zip(subscripts, buffer.shape, strict=True):
        low, high = subscript.bounds(box)
        if low < 0 or high >= extent:
            raise IndexError(f"subscript {subscript} takes {low}..{high} of {extent} elements")
    steps = [stride for stride in buffer.strides]
    offset = sum(
        step * (subscript.constant + sum(c * box[n].low for n, c in subscript.coefficients))
        for step, subscript in zip(steps, subscripts, strict=True)
    )
    strides = [
        sum(step * subscript.coefficient(index.name) for step, subscript in zip(steps, subscripts, strict=True))
        for index in indices
    ]
    shape = [index.extent if stride else 1 for index, stride in zip(indices, strides, strict=True)]
    return np.ndarray(tuple(shape), buffer.dtype, buffer, offset, tuple(strides))


def ramp(value: Affine, indices: Sequence[Index]) -> NDArray[np.int64]:
    """Return the integers that `value` takes over a box: one axis per index, of extent 1 where `value` does not mention
    the index.
    """
    total = np.full((1,) * len(indices), value.constant, dtype=np.int64)
    for axis, index in enumerate(indices):
        coefficient = value.coefficient(index.name)
        if coefficient:
            along = [1] * len(indices)
            along[axis] = index.extent
            total = total + coefficient * np.arange(index.low, index.high).reshape(along)
    return total
