"""Strided windows against plain indexing."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabla.graph.graph import Affine, Index
from tabla.graph.windows import ramp, window

COEFFICIENT = st.integers(-3, 3)


@settings(deadline=None)
@given(st.data())
def test_windows_show_the_elements_of_every_point(data: st.DataObject) -> None:
    indices = tuple(
        Index(name=name, low=low, high=low + data.draw(st.integers(1, 4)))
        for name, low in zip("ijk", data.draw(st.lists(st.integers(-2, 2), max_size=3)), strict=False)
    )
    box = {index.name: index for index in indices}
    subscripts, shape = [], []
    for _ in range(data.draw(st.integers(0, 3))):
        raw = Affine.make(0, {index.name: data.draw(COEFFICIENT) for index in indices})
        low, high = raw.bounds(box)
        subscripts.append(Affine.make(-low, dict(raw.coefficients)))
        shape.append(high - low + 1 + data.draw(st.integers(0, 1)))
    buffer = np.arange(int(np.prod(shape, dtype=int)), dtype=np.int64).reshape(shape)
    view = np.broadcast_to(window(buffer, subscripts, indices), [index.extent for index in indices])
    for offsets in product(*(range(index.extent) for index in indices)):
        point = {index.name: index.low + offset for index, offset in zip(indices, offsets, strict=True)}
        assert view[offsets] == buffer[tuple(subscript.at(point) for subscript in subscripts)]
    for subscript in subscripts:
        values = np.broadcast_to(ramp(subscript, indices), view.shape)
        assert (int(values.min()), int(values.max())) == subscript.bounds(box)


def test_windows_write_through() -> None:
    buffer = np.zeros((2, 3), dtype=np.int64)
    window(buffer, (Affine(constant=1), Affine.of(2, i=-1)), (Index(name="i", low=0, high=2),))[...] = [5, 6]
    assert buffer.tolist() == [[0, 0, 0], [0, 6, 5]]


@pytest.mark.parametrize("subscript", [Affine.of(1, i=1), Affine.of(-1, i=1)])
def test_windows_do_not_leave_their_row(subscript: Affine) -> None:
    with pytest.raises(IndexError, match="of 3 elements"):
        window(np.zeros((3, 3)), (Affine(constant=1), subscript), (Index(name="i", low=0, high=3),))
