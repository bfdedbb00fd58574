"""Operators on every element: kinds, shapes, numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from numbers import Integral, Real
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from tabla.base.source import Span
from tabla.graph.composed_functions import BY_OPERATOR
from tabla.languages.tile.dimensions import TensorDim
from tabla.languages.tile.places import here, refuse
from tabla.languages.tile.program import Elementwise, Kind, Node, Number, Operator, Shape, Values

COMPARISONS = frozenset({"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"})
FLOATING = frozenset(
    {
        "square_root", "exponential", "logarithm", "sine", "cosine", "hyperbolic_tangent", "sigmoid", "error_function",
        *BY_OPERATOR,
    }
)  # fmt: skip
WHOLE: Mapping[Operator, str] = {
    "remainder": "%",
    "bit_and": "&",
    "bit_or": "|",
    "bit_xor": "^",
    "bit_not": "~",
    "shift_left": "<<",
    "shift_right": ">>",
}
"""The operators of integers and booleans, as Python writes them."""
LOGICAL = frozenset({"bit_and", "bit_or", "bit_xor", "bit_not"})
KINDS: tuple[Kind, ...] = get_args(Kind)


def node_of(value: object) -> Node:
    """Return a number or a size as a tensor of rank 0."""
    match value:
        case Node():
            return value
        case TensorDim():
            return Number(shape=(), kind="integer", value=Fraction(value.size))
        case np.ndarray() | np.generic():
            return _array(value)
        case bool():
            return Number(shape=(), kind="boolean", value=Fraction(value))
        case Integral():
            return Number(shape=(), kind="integer", value=Fraction(int(value)))
        case Real() if math.isfinite(float(value)):
            exact = value if isinstance(value, Fraction) else Fraction(float(value))
            return Number(shape=(), kind="float", value=exact, span=here())
        case _:
            what = "a finite number" if isinstance(value, float) else "a tensor or a number"
            refuse(f"{_described(value)} is not {what}", "use tensors, sizes, and finite numbers of 64 bits")


def _array(given: NDArray[Any] | np.generic) -> Node:
    """An array of numpy, or one of its numbers. An array of rank 0 is a number."""
    array = np.asarray(given)
    if array.dtype.kind not in "biuf":
        refuse(f"an array of type {array.dtype} is not a tensor", "use arrays of numbers or of booleans")
    if not array.size:
        refuse(f"an array of shape {array.shape} has no elements", "sizes are positive")
    if not np.isfinite(array).all():
        refuse("an array with an infinite element, or with one that is no number", "use finite numbers")
    kind: Kind = "boolean" if array.dtype.kind == "b" else "float" if array.dtype.kind == "f" else "integer"
    values = tuple(Fraction(element) for element in array.ravel().tolist())
    if not array.shape:
        return Number(shape=(), kind=kind, value=values[0], span=here())
    return Values(shape=array.shape, kind=kind, values=values, span=here())


def _described(value: Any) -> str:
    return repr(value) if isinstance(value, float) else f"a value of type {type(value).__name__}"


def apply(operator: Operator, operands: Sequence[Node], span: Span | None, kind: Kind | None = None) -> Node:
    """Return the tensor of an operator. `kind` is for cast."""
    return Elementwise(
        shape=broadcast([operand.shape for operand in operands]),
        kind=kind or kind_of(operator, operands),
        operator=operator,
        inputs=tuple(operands),
        span=span,
    )


def kind_of(operator: Operator, operands: Sequence[Node]) -> Kind:
    """Return the kind of the elements of a result."""
    kinds = [operand.kind for operand in operands]
    if operator in COMPARISONS:
        return "boolean"
    if operator in FLOATING:
        return "float"
    if operator in LOGICAL and set(kinds) == {"boolean"}:
        return "boolean"
    if operator == "select":
        return joined(kinds[1:]) if kinds[1] != kinds[2] else kinds[1]
    if operator == "power" and joined(kinds) == "integer":
        exponent = operands[1]
        return "integer" if isinstance(exponent, Number) and exponent.value >= 0 else "float"
    if operator in ("maximum", "minimum") and set(kinds) == {"boolean"}:
        return "boolean"
    return joined(kinds)


def joined(kinds: Sequence[Kind]) -> Kind:
    """Return the kind of an arithmetic result: float if an operand is a float, else integer."""
    return "float" if "float" in kinds else "integer"


def broadcast(shapes: Sequence[Shape]) -> Shape:
    """Return the common shape. Sizes are aligned at the right, and a size of 1 stretches."""
    rank = max(len(shape) for shape in shapes)
    result: list[int] = []
    for axis in range(rank):
        extents = {shape[axis - rank + len(shape)] for shape in shapes if axis - rank + len(shape) >= 0} - {1}
        if len(extents) > 1:
            refuse(
                f"shapes {' and '.join(str(shape) for shape in shapes if shape)} do not broadcast together",
                "aligned at the right, sizes are equal or 1",
            )
        result.append(extents.pop() if extents else 1)
    return tuple(result)
