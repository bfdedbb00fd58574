"""Elements that move to where data say: gather, scatter, and order along an axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tabla.languages.tile.contractions import Combined, condition
from tabla.languages.tile.dimensions import TensorDim, axis_of, size_of
from tabla.languages.tile.elementwise import node_of
from tabla.languages.tile.indices import TensorIndex, TensorIndexes
from tabla.languages.tile.places import here, refuse
from tabla.languages.tile.program import Ordinal, Reshape, Shape
from tabla.languages.tile.tensors import Tensor, TensorOutput, operate


class Gathered(Tensor):
    """The tensor that `gather` makes. ``gather(table, where).axis(1)`` gathers along another axis."""

    def __init__(self, table: Tensor, where: Tensor, axis: int) -> None:
        shape, places = table.shape, where.shape
        before, k = TensorIndexes(axis), TensorIndexes(len(shape) - axis - 1)
        i, row = TensorIndexes(len(places)), TensorIndex("row")
        output = TensorOutput(*shape[:axis], *places, *shape[axis + 1 :])
        chosen = condition(where[i], _numbers(shape[axis])[row], table[(*before, row, *k)])
        output.contract("sum", (*before, *i, *k), chosen)
        super().__init__(output.node)
        self._table, self._where = table, where

    def axis(self, axis: int) -> Gathered:
        """Return the elements gathered along `axis`. A negative axis counts from the last one."""
        return Gathered(self._table, self._where, _axis(axis, self._table.shape))

    def build(self) -> Gathered:
        """Return the tensor itself: it is complete."""
        return self


def gather(table: Any, where: Any) -> Gathered:
    """Return ``table[where]`` along the first axis. It has the shape of `where`, followed by the other axes of `table`.

    It is the contraction ``O[i, k] += cond(where[i], Row[j], table[j, k])``, so a value of `where` that is no row gives
    0.
    """
    rows, places = _tensor(table), _tensor(where)
    if not rows.rank:
        refuse("gather from a single value", "the table has at least one dimension")
    return Gathered(rows, places, 0)


def scatter(values: Any, where: Any, rows: Tensor | TensorDim | int, axis: int = 0) -> Tensor:
    """Return a tensor of so many `rows` along `axis`, or as many as a tensor has there, to which values are added.

    The axes of `values` from `axis` on begin with those of `where`, and ``values[i, k]`` is added to row ``where[i]``.
    What leads to no row is dropped. It is the reverse of `gather`.
    """
    given, places = _tensor(values), _tensor(where)
    axis = _axis(axis, given.shape)
    after = axis + places.rank
    if given.shape[axis:after] != places.shape:
        hint = "the axes of the values, from the axis on, begin with those of the positions"
        refuse(f"values of shape {given.shape} at positions of shape {places.shape}", hint)
    count = rows.shape[axis] if isinstance(rows, Tensor) else size_of(rows)
    before, k = TensorIndexes(axis), TensorIndexes(given.rank - after)
    i, row = TensorIndexes(places.rank), TensorIndex("row")
    output = TensorOutput(*given.shape[:axis], count, *given.shape[after:])
    chosen = condition(places[i], _numbers(count)[row], given[(*before, *i, *k)])
    output.contract("sum", (*before, row, *k), chosen)
    return output


def argsort(tensor: Any, axis: int = -1, descending: bool = False) -> Tensor:
    """Return the positions of the elements along `axis` in ascending order. Equal elements keep their order.

    Every element is compared with every other one of its row.
    """
    given = _tensor(tensor)
    axis = _axis(axis, given.shape)
    return _sorted(given, axis, given.shape[axis], descending, positions=True)


def topk(tensor: Any, count: TensorDim | int, axis: int = -1) -> tuple[Tensor, Tensor]:
    """Return the `count` largest elements along `axis`, the largest one first, and their positions. Of equal elements
    the first ones come first.
    """
    given = _tensor(tensor)
    axis, count = _axis(axis, given.shape), size_of(count)
    if not 1 <= count <= given.shape[axis]:
        refuse(f"the {count} largest of {given.shape[axis]} elements", f"use 1 to {given.shape[axis]}")
    return (
        _sorted(given, axis, count, True, positions=False),
        _sorted(given, axis, count, True, positions=True),
    )


def _sorted(tensor: Tensor, axis: int, count: int, descending: bool, *, positions: bool) -> Tensor:
    """The first elements in order, or their positions: at place p the one that p others come before."""
    shape = tensor.shape
    before, k = TensorIndexes(axis), TensorIndexes(len(shape) - axis - 1)
    place, own = TensorIndex("place"), TensorIndex("own")
    numbers = _numbers(shape[axis])
    value = numbers[own] if positions else tensor[(*before, own, *k)]
    chosen: Combined = condition(_ranks(tensor, axis, descending)[(*before, own, *k)], numbers[place], value)
    output = TensorOutput(*shape[:axis], count, *shape[axis + 1 :])
    output.contract("sum", (*before, place, *k), chosen)
    return output


def _ranks(tensor: Tensor, axis: int, descending: bool) -> Tensor:
    """How many elements of its row come before each element."""
    shape, extent = tensor.shape, tensor.shape[axis]
    own = _reshaped(tensor, (*shape[:axis], extent, 1, *shape[axis + 1 :]))
    other = _reshaped(tensor, (*shape[:axis], 1, extent, *shape[axis + 1 :]))
    pairs = (extent, extent, *[1] * (len(shape) - axis - 1))
    left, right = (own, other) if descending else (other, own)
    earlier = operate("less", _ordinal(pairs, 1), _ordinal(pairs, 0))
    # Of equal elements, the earlier one comes before the later one.
    comes = operate("select", earlier, operate("less_equal", left, right), operate("less", left, right))
    before, k = TensorIndexes(axis), TensorIndexes(len(shape) - axis - 1)
    i, j = TensorIndex("own"), TensorIndex("other")
    ranks = TensorOutput(*shape)
    ranks.contract("sum", (*before, i, *k), comes[(*before, i, j, *k)])
    return ranks


def _reshaped(tensor: Tensor, shape: Shape) -> Tensor:
    return Tensor(Reshape(shape=shape, kind=tensor.kind, operand=tensor.node, span=here()))


def _ordinal(shape: Sequence[int], axis: int) -> Tensor:
    return Tensor(Ordinal(shape=tuple(shape), kind="integer", axis=axis, span=here()))


def _numbers(count: int) -> Tensor:
    """The integers from 0 on."""
    return _ordinal((count,), 0)


def _axis(axis: int, shape: Shape) -> int:
    """Return an axis of a shape, counted from the first one."""
    axis = axis_of(axis)
    if not -len(shape) <= axis < len(shape):
        hint = f"use {-len(shape)} to {len(shape) - 1}" if shape else "a single value has no axes"
        refuse(f"axis {axis} of a tensor of {len(shape)} dimensions", hint)
    return axis % len(shape)


def _tensor(value: Any) -> Tensor:
    """A tensor whose statement is complete, or one with the elements of an array."""
    return Tensor(value.node if isinstance(value, Tensor) else node_of(value))
