"""A witness of what a program means, by brute force: all valid index values, one after the other, in float64."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, assert_never

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabla.base.source import TablaError
from tabla.graph.composed_functions import BY_OPERATOR
from tabla.languages.tile.domain import Domain, Integers, integers
from tabla.languages.tile.program import (
    Access,
    Aggregation,
    Contraction,
    Elementwise,
    Kind,
    Node,
    Number,
    Ordinal,
    Program,
    Reshape,
    Values,
)

Array = NDArray[Any]
TYPES: Mapping[Kind, type] = {"float": np.float64, "integer": np.int64, "boolean": np.bool_}


def evaluate(program: Program, inputs: Mapping[str, ArrayLike]) -> dict[str, Array]:
    """Return the results ``out0``, ``out1``, ... for arrays given by parameter, and updated weights by their names, as
    they are after the step.
    """
    values: dict[Node, Array] = {}
    for given in program.inputs:
        if given.parameter not in inputs:
            raise TablaError(f"no values given for '{given.parameter}'", hint="add an array of that name")
        array = np.asarray(inputs[given.parameter])
        if array.shape != given.shape:
            raise TablaError(
                f"'{given.parameter}' has shape {array.shape}, the program says {given.shape}",
                hint="reshape the array, or give the other shape with --shape",
            )
        values[given] = array.astype(TYPES[given.kind])
    with np.errstate(all="ignore"):
        for node in program.nodes():
            if node not in values:
                values[node] = _value(node, values)
    results = {name: values[node] for name, node in program.results()}
    for step in program.steps:
        results[step.weights.parameter] = values[step.weights] - float(step.rate) * values[step.gradient]
    return results


def _value(node: Node, values: Mapping[Node, Array]) -> Array:
    match node:
        case Number():
            number = float(node.value) if node.kind == "float" else int(node.value)
            return np.asarray(number, dtype=TYPES[node.kind])
        case Values():
            numbers = [float(value) if node.kind == "float" else int(value) for value in node.values]
            return np.asarray(numbers, dtype=TYPES[node.kind]).reshape(node.shape)
        case Ordinal():
            along = np.arange(node.shape[node.axis], dtype=np.int64)
            shape = [1] * len(node.shape)
            shape[node.axis] = -1
            return np.broadcast_to(along.reshape(shape), node.shape).copy()
        case Contraction():
            return _contract(node, values)
        case Elementwise():
            return _elementwise(node, [values[operand] for operand in node.inputs])
        case Reshape():
            return values[node.operand].reshape(node.shape)
        case _:
            raise AssertionError(f"no value for {node}")


_JOIN: Mapping[Aggregation, np.ufunc] = {
    "sum": np.add,
    "assign": np.add,
    "product": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
}


def _contract(node: Contraction, values: Mapping[Node, Array]) -> Array:
    size, kind = node.size, TYPES[node.kind]
    result: Array = np.zeros(size, dtype=kind)
    written = np.zeros(size, dtype=bool)
    for point in Domain.of(node).points():
        count = len(next(iter(point.values()))) if point else 1
        parts = [_elements(source, values[source.node], point, count) for source in node.sources]
        terms: Array = _combine(node, parts).astype(kind)
        places = [integers(subscript.value, point, count) for subscript in node.write]
        flat = np.ravel_multi_index(places, node.shape) if places else np.zeros(count, dtype=np.int64)
        # The first value of an element starts it, so that no identity is needed.
        first, at = np.unique(flat, return_index=True)
        fresh = ~written[first]
        result[first[fresh]] = terms[at[fresh]]
        written[first] = True
        rest = np.ones(count, dtype=bool)
        rest[at[fresh]] = False
        _JOIN[node.aggregation].at(result, flat[rest], terms[rest])
    return result.reshape(node.shape)


def _elements(source: Access, array: Array, point: Mapping[str, Integers], count: int) -> Array:
    places = tuple(integers(subscript.value, point, count) for subscript in source.subscripts)
    return array[places] if places else np.broadcast_to(array, (count,))


def _combine(node: Contraction, parts: list[Array]) -> Array:
    match node.combination:
        case "none":
            return parts[0]
        case "multiply":
            return _arithmetic(parts[0]) * _arithmetic(parts[1])
        case "add":
            return _arithmetic(parts[0]) + _arithmetic(parts[1])
        case "condition":
            return np.where(parts[0] == parts[1], parts[2], np.zeros_like(parts[2]))
        case _:
            assert_never(node.combination)


def _arithmetic(array: Array) -> Array:
    """Booleans count as integers."""
    return array.astype(np.int64) if array.dtype == np.bool_ else array


def _divide(left: Array, right: Array) -> Array:
    if left.dtype == np.int64 and right.dtype == np.int64:
        quotient = np.abs(left) // np.abs(np.where(right == 0, 1, right))
        return np.where(right == 0, 0, np.sign(left) * np.sign(right) * quotient)
    return left / right


def _remainder(left: Array, right: Array) -> Array:
    """What the quotient toward zero leaves: it has the sign of `left`. Divided by 0, everything is left."""
    return np.where(right == 0, left, np.fmod(left, np.where(right == 0, 1, right)))


def _cast(value: Array, kind: Kind) -> Array:
    """Toward zero, and saturated at the ends of 64 bits. What is no number becomes 0."""
    if kind != "integer" or value.dtype != np.float64:
        return value
    ends = np.iinfo(np.int64)
    inside = np.where(np.abs(value) < 2.0**63, value, 0.0).astype(np.int64)
    return np.where(value >= 2.0**63, ends.max, np.where(value <= -(2.0**63), ends.min, inside))


def _sigmoid(value: Array) -> Array:
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * value)))


def _select(condition: Array, chosen: Array, other: Array) -> Array:
    return np.where(condition != 0, chosen, other)


_OPERATORS: Mapping[str, Callable[..., Any]] = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": _divide,
    "power": np.power,
    "equal": np.equal,
    "not_equal": np.not_equal,
    "less": np.less,
    "less_equal": np.less_equal,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
    "negate": np.negative,
    "absolute": np.abs,
    "square_root": np.sqrt,
    "exponential": np.exp,
    "logarithm": np.log,
    "sine": np.sin,
    "cosine": np.cos,
    "hyperbolic_tangent": np.tanh,
    "sigmoid": _sigmoid,
    "error_function": np.vectorize(math.erf, otypes=[np.float64]),
    "remainder": _remainder,
    "bit_and": np.bitwise_and,
    "bit_or": np.bitwise_or,
    "bit_xor": np.bitwise_xor,
    "shift_left": np.left_shift,
    "shift_right": np.right_shift,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "select": _select,
    **{operator: composed.reals for operator, composed in BY_OPERATOR.items()},
}


def _elementwise(node: Elementwise, parts: list[Array]) -> Array:
    arrays = [_arithmetic(part) for part in parts]
    if node.operator == "power" and node.kind == "float":
        arrays = [array.astype(np.float64) for array in arrays]
    match node.operator:
        case "cast":
            value = _cast(arrays[0], node.kind)
        case "bit_not":
            value = arrays[0] == 0 if node.kind == "boolean" else ~arrays[0]
        case operator:
            value = np.asarray(_OPERATORS[operator](*arrays))
    if node.kind == "boolean" and value.dtype != np.bool_:
        value = value != 0
    return np.broadcast_to(value, node.shape).astype(TYPES[node.kind])
