"""Functions of whole tensors: ``sqrt(A)``, ``select(C, T, F)``, ``reshape(T, dims)`` and the like."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from tabla.lang.tile.contractions import Combined, condition
from tabla.lang.tile.dimensions import TensorDim, size_of
from tabla.lang.tile.elementwise import KINDS, apply, node_of
from tabla.lang.tile.indices import TensorIndex, TensorIndexes
from tabla.lang.tile.places import here, refuse
from tabla.lang.tile.program import Kind, Node, Ordinal, Reshape
from tabla.lang.tile.tensors import Tensor, TensorOutput, operate

Value = Tensor | TensorDim | float


def sqrt(value: Value) -> Tensor:
    """Return the square root of every element."""
    return operate("square_root", value)


def exp(value: Value) -> Tensor:
    """Return e to the power of every element."""
    return operate("exponential", value)


def log(value: Value) -> Tensor:
    """Return the natural logarithm of every element."""
    return operate("logarithm", value)


def pow(base: Any, exponent: Any, modulus: int | None = None) -> Any:
    """Return every element to a power. For plain numbers it is Python's own `pow`."""
    if modulus is None and _any_tensor(base, exponent):
        return operate("power", base, exponent)
    return builtins.pow(base, exponent, modulus)


def sin(value: Value) -> Tensor:
    """Return the sine of every element, in radians."""
    return operate("sine", value)


def cos(value: Value) -> Tensor:
    """Return the cosine of every element, in radians."""
    return operate("cosine", value)


def tanh(value: Value) -> Tensor:
    """Return the hyperbolic tangent of every element."""
    return operate("hyperbolic_tangent", value)


def sigmoid(value: Value) -> Tensor:
    """Return ``1 / (1 + exp(-x))`` of every element."""
    return operate("sigmoid", value)


def abs(value: Any) -> Any:
    """Return the absolute value of every element. For a plain number it is Python's own `abs`."""
    return operate("absolute", value) if _any_tensor(value) else builtins.abs(value)


def max(*values: Any, **options: Any) -> Any:
    """Return the larger one of corresponding elements. For sizes it is Python's `max`.

    The largest along an axis is a contraction: ``O[i] >= T[i, j]``.
    """
    return reduce(_maximum, values) if _any_tensor(*values) else builtins.max(*values, **options)


def min(*values: Any, **options: Any) -> Any:
    """Return the smaller one of corresponding elements. For sizes it is Python's `min`.

    The smallest along an axis is a contraction: ``O[i] <= T[i, j]``.
    """
    return reduce(_minimum, values) if _any_tensor(*values) else builtins.min(*values, **options)


def round(value: Any, digits: int | None = None) -> Any:
    """Return the whole number nearest to every element, a half to the even one. For a plain number it is Python's own
    `round`.
    """
    return operate("round", value) if _any_tensor(value) else builtins.round(value, digits)


def _maximum(left: Any, right: Any) -> Tensor:
    return operate("maximum", left, right)


def _minimum(left: Any, right: Any) -> Tensor:
    return operate("minimum", left, right)


def _any_tensor(*values: Any) -> bool:
    return any(isinstance(value, Tensor) for value in values)


def select(condition: Value, chosen: Value, other: Value) -> Tensor:
    """Return `chosen` where `condition` is not zero, else `other`. All three broadcast, and both values are computed.
    """
    return operate("select", condition, chosen, other)


def cast(value: Value, kind: Kind) -> Tensor:
    """Return the elements as "float", "integer" (truncated toward zero) or "boolean" (whether they are not zero)."""
    if kind not in KINDS:
        refuse(f"cast to {kind!r}", f"use one of {', '.join(KINDS)}")
    return Tensor(apply("cast", [_node(value)], here(), kind))


def index(shape: Tensor | Sequence[TensorDim | int], axis: int) -> Tensor:
    """Return the coordinate along `axis`, an integer, for every element of a shape or of a tensor's shape."""
    sizes = shape.shape if isinstance(shape, Tensor) else tuple(size_of(size) for size in shape)
    if not 0 <= axis < len(sizes):
        refuse(f"axis {axis} of a shape of {len(sizes)} dimensions", f"use 0 to {len(sizes) - 1}")
    return Tensor(Ordinal(shape=sizes, kind="integer", axis=axis, span=here()))


def ident(value: Any) -> Tensor:
    """Return a tensor with the same elements. Of a numpy array or a list of numbers it makes a tensor to subscript."""
    node = _node(np.asarray(value) if isinstance(value, list | tuple) else value)
    return Tensor(apply("cast", [node], here(), node.kind)) if _any_tensor(value) else Tensor(node)


def shape(tensor: Tensor) -> Tensor:
    """Return the sizes of a tensor as a tensor of integers, of one dimension."""
    return ident(np.asarray(tensor.shape, dtype=np.int64))


def reshape(tensor: Tensor, dims: Sequence[TensorDim | int]) -> Tensor:
    """Return the same elements, in row-major order, in another shape."""
    node = _node(tensor)
    sizes = tuple(size_of(size) for size in dims)
    count = 1
    for size in sizes:
        count *= size
    if count != node.size or any(size < 1 for size in sizes):
        refuse(f"{node.size} elements of shape {node.shape} do not fill {sizes}", "the sizes' products are equal")
    return Tensor(Reshape(shape=sizes, kind=node.kind, operand=node, span=here()))


def gather(table: Tensor, where: Tensor) -> Tensor:
    """Return ``table[where]`` along the first axis. It has the shape of `where`, followed by the other axes of `table`.

    It is the contraction ``O[i, k] += cond(where[i], Row[j], table[j, k])``, so a value of `where` that is no row gives
    0.
    """
    rows, places = _node(table), _node(where)
    if not rows.shape:
        refuse("gather from a single value", "the table has at least one dimension")
    i, k = TensorIndexes(len(places.shape)), TensorIndexes(len(rows.shape) - 1)
    j = TensorIndex("row")
    numbers = index(rows.shape[:1], 0)
    output = TensorOutput(*places.shape, *rows.shape[1:])
    output.contract("sum", (*i, *k), cond(Tensor(places)[i], numbers[j], Tensor(rows)[(j, *k)]))
    return output


def cond(left: object, right: object, value: object) -> Combined:
    """Inside a contraction, return `value` where ``left == right``, else 0: ``O[i] >= cond(I[i, j], M[i], X[j])``."""
    return condition(left, right, value)


def _node(value: object) -> Node:
    return value.node if isinstance(value, Tensor) else node_of(value)
