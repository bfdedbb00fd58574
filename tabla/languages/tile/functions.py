"""Functions of whole tensors: ``sqrt(A)``, ``select(C, T, F)``, ``reshape(T, dims)`` and the like."""

from __future__ import annotations

import builtins
from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np

from tabla.languages.tile.contractions import Combined, condition
from tabla.languages.tile.dimensions import TensorDim, axis_of, size_of
from tabla.languages.tile.elementwise import apply, node_of
from tabla.languages.tile.places import here, refuse
from tabla.languages.tile.program import Kind, Node, Ordinal, Reshape
from tabla.languages.tile.tensors import Tensor, operate

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


def softplus(value: Value) -> Tensor:
    """Return ``log(1 + exp(x))`` of every element. No power saturates inside."""
    return operate("soft_plus", value)


def tan(value: Value) -> Tensor:
    """Return the tangent of every element, in radians."""
    return operate("tangent", value)


def asin(value: Value) -> Tensor:
    """Return the angle from -pi/2 to pi/2 whose sine is the element."""
    return operate("arc_sine", value)


def acos(value: Value) -> Tensor:
    """Return the angle from 0 to pi whose cosine is the element."""
    return operate("arc_cosine", value)


def atan(value: Value) -> Tensor:
    """Return the angle from -pi/2 to pi/2 whose tangent is the element."""
    return operate("arc_tangent", value)


def atan2(y: Value, x: Value) -> Tensor:
    """Return the angle from -pi to pi of the points (x, y) from the positive x axis. That of (0, 0) is 0."""
    return operate("atan2", y, x)


def sinh(value: Value) -> Tensor:
    """Return the hyperbolic sine of every element."""
    return operate("hyperbolic_sine", value)


def cosh(value: Value) -> Tensor:
    """Return the hyperbolic cosine of every element."""
    return operate("hyperbolic_cosine", value)


def erf(value: Value) -> Tensor:
    """Return the error function of every element."""
    return operate("error_function", value)


def erfc(value: Value) -> Tensor:
    """Return ``1 - erf(x)`` of every element."""
    return operate("complementary_error_function", value)


def floor(value: Value) -> Tensor:
    """Return the greatest whole number that is not above the element, as a float."""
    return operate("floor", value)


def ceil(value: Value) -> Tensor:
    """Return the least whole number that is not below the element, as a float."""
    return operate("ceil", value)


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
    """Return `chosen` where `condition` is not zero, else `other`.

    All three broadcast, and both values are computed.
    """
    return operate("select", condition, chosen, other)


def cast(value: Any, kind: object) -> Tensor:
    """Return the elements as "float", "integer" (truncated toward zero) or "boolean" (whether they are not zero).

    "int8" to "int64", "uint8" to "uint64" and "uint" are integers that saturate at the ends of the type. Types of numpy
    are taken, too. "float16", "float32" and "float64" are "float": the number format says how exact reals are.
    """
    name = kind if isinstance(kind, str) else _type_name(kind)
    if name not in _CASTS:
        refuse(f"cast to {kind!r}", f"use one of {', '.join(_CASTS)}")
    target, low, high = _CASTS[name]
    node = apply("cast", [_node(value)], here(), target)
    if low is not None:
        node = apply("maximum", [node, node_of(low)], here())
    if high is not None:
        node = apply("minimum", [node, node_of(high)], here())
    return Tensor(node)


def _type_name(kind: Any) -> str:
    try:
        return str(np.dtype(kind).name)
    except TypeError:
        return ""


_Ends = tuple[Kind, int | None, int | None]
_CASTS: Mapping[str, _Ends] = {
    "float": ("float", None, None),
    "integer": ("integer", None, None),
    "boolean": ("boolean", None, None),
    **{f"int{bits}": ("integer", -(1 << (bits - 1)), (1 << (bits - 1)) - 1) for bits in (8, 16, 32)},
    "int64": ("integer", None, None),  # all integers that there are
    **{f"uint{bits}": ("integer", 0, (1 << bits) - 1) for bits in (8, 16, 32)},
    "uint64": ("integer", 0, None),
    "uint": ("integer", 0, None),
    **{name: ("float", None, None) for name in ("float16", "float32", "float64")},
    "bool": ("boolean", None, None),
}
"""What the names of types mean: the kind, and the least and the largest integer where a cast saturates before 64 bits
do.
"""


def index(shape: Tensor | Sequence[TensorDim | int], axis: int) -> Tensor:
    """Return the coordinate along `axis`, an integer, for every element of a shape or of a tensor's shape."""
    sizes = shape.shape if isinstance(shape, Tensor) else tuple(map(size_of, shape))
    axis = axis_of(axis)
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
    sizes = tuple(map(size_of, dims))
    count = 1
    for size in sizes:
        count *= size
    if count != node.size or any(size < 1 for size in sizes):
        refuse(f"{node.size} elements of shape {node.shape} do not fill {sizes}", "the sizes' products are equal")
    return Tensor(Reshape(shape=sizes, kind=node.kind, operand=node, span=here()))


def cond(left: object, right: object, value: object) -> Combined:
    """Inside a contraction, return `value` where ``left == right``, else 0: ``O[i] >= cond(I[i, j], M[i], X[j])``."""
    return condition(left, right, value)


def _node(value: object) -> Node:
    return value.node if isinstance(value, Tensor) else node_of(value)
