"""The meaning of a function on arrays: floats in float64, integers exact and inside their types.

A statement is evaluated at once over the whole domain of its indices. A value that a condition does not choose is not
looked at: a read outside its tensor or a division by zero there is no fault. `min` and `max` of something that is not a
number are not a number; `fmin` and `fmax` prefer an operand that is one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from tabla.base.source import Label, Span, TablaError
from tabla.languages.tc import program
from tabla.languages.tc.bind import bind_sizes, require_inputs
from tabla.languages.tc.constraints import Interval
from tabla.languages.tc.program import Function, Tensor, Value
from tabla.languages.tc.ranges import Called, Inference, infer
from tabla.languages.tc.real_functions import real_function
from tabla.languages.tc.scalars import Scalar
from tabla.languages.tc.statement_ranges import Domain
from tabla.languages.tc.subscripts import Linear

Array = np.ndarray[Any, np.dtype[Any]]

_COMPARE: Mapping[str, np.ufunc] = {
    "<": np.less, ">": np.greater, "<=": np.less_equal, ">=": np.greater_equal, "==": np.equal, "!=": np.not_equal,
}  # fmt: skip
_COMBINE: Mapping[str, np.ufunc] = {"+": np.add, "*": np.multiply, "min": np.minimum, "max": np.maximum}
# The largest value of each float type, which starts a minimum.
_GREATEST = {16: 65504.0, 32: float(np.finfo(np.float32).max), 64: float(np.finfo(np.float64).max)}


@dataclass(slots=True, kw_only=True)
class Stored:
    """The elements of a tensor. `low` is the index of the first one in each dimension."""

    values: Array
    low: tuple[int, ...]


def evaluate(
    function: Function,
    inputs: Mapping[str, Array],
    sizes: Mapping[str, int] = MappingProxyType({}),
) -> dict[str, Array]:
    """Return the results of a function by name, given its inputs by name.

    Faults of the data are `TablaError`: inputs that are missing or do not fit, ranges that these sizes make empty,
    reads outside a tensor, and integers outside their type.
    """
    bound = bind_sizes(function, {name: np.shape(array) for name, array in inputs.items()}, sizes)
    require_inputs(function, inputs)
    inference = infer(function, bound)
    given = {name: _input(function.tensors[name], array) for name, array in inputs.items()}
    for name in function.inputs:
        if name not in given:
            # Only its sizes are read, and they are known.
            box = [_numbers(interval) for interval in inference.bounds[name]]
            given[name] = np.zeros([high - low for low, high in box], _dtype(function.tensors[name].scalar))
    with np.errstate(all="ignore"):
        stored = _run(inference, given)
    return {name: stored[name].values for name in function.results}


def _input(tensor: Tensor, array: Array) -> Array:
    array = np.asarray(array)
    if tensor.scalar.integral:
        whole = array.dtype.kind in "biu" or bool(np.all(array == np.trunc(array)))
        if not whole:
            message, hint = f"'{tensor.name}' is {tensor.scalar}, its array has fractions", "round the data"
            raise TablaError(message, Label(tensor.span), hint=hint)
        return _inside(tensor.scalar, array.astype(np.int64), np.True_, tensor.span)
    return array.astype(bool if tensor.scalar.kind == "bool" else np.float64)


def _run(inference: Inference, given: Mapping[str, Array]) -> dict[str, Stored]:
    stored = {
        name: Stored(values=array, low=(0,) * array.ndim)
        for name, array in given.items()
        if inference.function.tensors[name].role == "input"
    }
    for step in inference.steps:
        match step:
            case Domain():
                name = step.statement.target
                tensor = inference.function.tensors[name]
                _prepare(stored, tensor, step, given.get(name))
                _Evaluation(step, stored, inference, tensor).run()
            case Called(statement=call):
                arguments = zip(call.function.inputs, call.arguments, strict=True)
                parameters = call.function.tensors
                passed = {p: _input(parameters[p], stored[argument].values) for p, argument in arguments}
                results = _run(step.inference, passed)
                for result, target in zip(call.function.results, call.targets, strict=True):
                    values = _converted(results[result].values, inference.function.tensors[target].scalar)
                    stored[target] = Stored(values=values, low=(0,) * values.ndim)
    return stored


def _prepare(stored: dict[str, Stored], tensor: Tensor, step: Domain, initial: Array | None) -> None:
    """Make room for what a statement writes. Elements that no statement writes are 0."""
    statement = step.statement
    box = [_numbers(step.intervals[name]) for name in statement.indices]
    known = stored.get(tensor.name)
    if known is not None:
        old = [(low, low + n) for low, n in zip(known.low, known.values.shape, strict=True)]
        box = [(min(a, c), max(b, d)) for (a, b), (c, d) in zip(box, old, strict=True)]
    values = np.zeros([high - low for low, high in box], _dtype(tensor.scalar))
    if known is not None:
        at = tuple(slice(a - low, b - low) for (a, b), (low, _) in zip(old, box, strict=True))
        values[at] = known.values
    elif tensor.initial and initial is not None:
        if initial.shape != values.shape:
            message = f"'{tensor.name}' has the shape {values.shape}, {initial.shape} given"
            raise TablaError(message, Label(tensor.span), hint="pass an array of that shape")
        values[...] = initial
    if statement.initialise and statement.reduction is not None:
        values[...] = _identity(statement.reduction, tensor.scalar)
    stored[tensor.name] = Stored(values=values, low=tuple(low for low, _ in box))


class _Evaluation:
    """One statement over its whole domain: every value is an array that broadcasts to it."""

    def __init__(self, step: Domain, stored: dict[str, Stored], inference: Inference, target: Tensor) -> None:
        self.step, self.stored, self.target = step, stored, target
        self.sizes = {name: size.value for name, size in inference.sizes.items()}
        ranges = [np.arange(*_numbers(interval)) for interval in step.intervals.values()]
        self.shape = tuple(len(values) for values in ranges)
        self.indices = {
            name: values.reshape([-1 if axis == own else 1 for axis in range(len(ranges))])
            for own, (name, values) in enumerate(zip(step.intervals, ranges, strict=True))
        }

    def run(self) -> None:
        statement, scalar = self.step.statement, self.target.scalar
        active = self._domain()
        for guard in statement.guards:
            self._value(guard, active)
        value = _converted(self._value(statement.value, active), scalar)
        value = np.broadcast_to(value, self.shape)
        active = np.broadcast_to(active, self.shape)
        stored = self.stored[statement.target]
        box = [_numbers(self.step.intervals[name]) for name in statement.indices]
        at = tuple(slice(a - low, b - low) for (a, b), low in zip(box, stored.low, strict=True))
        if statement.reduction is None:
            stored.values[at] = np.where(active, value, stored.values[at])
            return
        combine = _COMBINE[statement.reduction]
        value = np.where(active, value, _identity(statement.reduction, scalar))
        axes = tuple(range(len(statement.indices), len(self.shape)))
        total = combine.reduce(value, axis=axes, dtype=value.dtype) if axes else value
        result = combine(stored.values[at], total)
        stored.values[at] = _inside(scalar, result, np.True_, statement.span) if scalar.integral else result

    def _domain(self) -> Array:
        """Which points of the box belong to the domain."""
        active: Array = np.asarray(True)
        for name, (low, high) in self.step.dependent.items():
            index = self.indices[name]
            active = active & (index >= self._linear(low)) & (index < self._linear(high))
        return active

    def _linear(self, linear: Linear) -> Array:
        total: Array = np.asarray(linear.constant.value)
        for name, factor in linear.coefficients.items():
            total = total + self.indices[name] * np.asarray(factor.value)
        return total

    def _value(self, value: Value, active: Array) -> Array:
        """The value at every point; faults only where `active`."""
        match value:
            case program.Constant(value=number, scalar=scalar):
                return np.asarray(int(number)) if scalar.integral else np.asarray(float(number))
            case program.SizeVariable(name=name):
                return np.asarray(self.sizes[name])
            case program.Extent(tensor=tensor, axis=axis):
                return np.asarray(self.step.before[tensor][axis].extent.value)
            case program.Index(name=name):
                return self.indices[name]
            case program.Read():
                return self._read(value, active)
            case program.Convert(operand=operand, scalar=scalar):
                return self._convert(self._value(operand, active), scalar, active, value.span)
            case program.Unary(operator="!", operand=operand):
                return np.logical_not(self._value(operand, active))
            case program.Unary(operand=operand):
                return self._checked(value, -_converted(self._value(operand, active), value.scalar), active)
            case program.Binary():
                return self._binary(value, active)
            case program.Choice(condition=condition, chosen=chosen, other=other, scalar=scalar):
                which = self._value(condition, active)
                one = _converted(self._value(chosen, active & which), scalar)
                return np.where(which, one, _converted(self._value(other, active & ~which), scalar))
            case program.Apply(function=function, arguments=arguments, scalar=scalar):
                values = [_converted(self._value(argument, active), scalar) for argument in arguments]
                if function in ("min", "max"):
                    return np.asarray(_COMBINE[function](*values))
                return np.asarray(real_function(function, value.span)(*values))

    def _binary(self, value: program.Binary, active: Array) -> Array:
        left = self._value(value.left, active)
        if value.operator in ("&&", "||"):
            rest = active & (left if value.operator == "&&" else ~left)
            right = self._value(value.right, rest)
            return left & right if value.operator == "&&" else left | right
        left, right = (_converted(side, value.common) for side in (left, self._value(value.right, active)))
        if value.operator in _COMPARE:
            return np.asarray(_COMPARE[value.operator](left, right))
        match value.operator:
            case "+":
                result = left + right
            case "-":
                result = left - right
            case "*":
                result = left * right
            case "/" if not value.scalar.integral:
                result = left / right
            case "%" if not value.scalar.integral:
                result = np.fmod(left, right)
            case operator:
                if np.any(active & (right == 0)):
                    raise TablaError("division by zero", Label(value.span), hint="divide by something else")
                safe = np.where(right == 0, 1, right)
                quotient = np.abs(left) // np.abs(safe) * np.sign(left) * np.sign(safe)
                result = quotient if operator == "/" else left - quotient * safe
        return self._checked(value, result, active)

    def _checked(self, value: Value, result: Array, active: Array) -> Array:
        return _inside(value.scalar, result, active, value.span) if value.scalar.integral else result

    def _convert(self, operand: Array, scalar: Scalar, active: Array, span: Span) -> Array:
        if scalar.integral and operand.dtype.kind == "f":
            whole = np.trunc(operand)
            if np.any(active & ~((whole >= scalar.least) & (whole <= scalar.greatest))):
                message, hint = f"a value does not fit {scalar}", "cast to a wider type, or clamp it before"
                raise TablaError(message, Label(span), hint=hint)
            return np.where(np.isfinite(whole), whole, 0).astype(np.int64)
        converted = _converted(operand, scalar)
        return _inside(scalar, converted, active, span) if scalar.integral else converted

    def _read(self, read: program.Read, active: Array) -> Array:
        stored = self.stored[read.tensor]
        places: list[Array] = []
        for axis, subscript in enumerate(read.subscripts):
            index = self._value(subscript, active) - stored.low[axis]
            extent = stored.values.shape[axis]
            outside = active & ((index < 0) | (index >= extent))
            if np.any(outside):
                first = int(np.broadcast_to(index, np.shape(outside))[outside].flat[0]) + stored.low[axis]
                raise TablaError(
                    f"'{read.tensor}' is read at {first} in dimension {axis}, which runs over "
                    f"[{stored.low[axis]}, {stored.low[axis] + extent})",
                    Label(subscript.span),
                    hint=_cure(subscript.span, stored.low[axis], stored.low[axis] + extent),
                )
            places.append(np.clip(index, 0, extent - 1))
        return np.asarray(stored.values[tuple(places)])


def _cure(subscript: Span, low: int, high: int) -> str:
    text = subscript.source.text[subscript.start : subscript.end]
    data = "check the data that subscripts are made of, or narrow the ranges by a where clause"
    return f"{data}, or read it only where {text} >= {low} && {text} < {high}"


def _numbers(interval: Interval) -> tuple[int, int]:
    low, high = interval.low.value, interval.high.value
    assert low is not None and high is not None
    return low, high


def _dtype(scalar: Scalar) -> type[np.generic]:
    return np.int64 if scalar.integral else np.bool_ if scalar.kind == "bool" else np.float64


def _converted(values: Array, scalar: Scalar) -> Array:
    return values.astype(_dtype(scalar))


def _identity(reduction: str, scalar: Scalar) -> float | int | bool:
    match reduction:
        case "+":
            return 0
        case "*":
            return 1
        case _ if scalar.kind == "bool":
            return reduction == "min"
        case _ if scalar.integral:
            return min(scalar.greatest, 2**63 - 1) if reduction == "min" else scalar.least
        case _:
            return _GREATEST[scalar.bits] if reduction == "min" else -_GREATEST[scalar.bits]


def _inside(scalar: Scalar, values: Array, active: Array | np.bool_, span: Span) -> Array:
    """The values, which must fit an integer type where `active`."""
    least, greatest = max(scalar.least, -(2**63)), min(scalar.greatest, 2**63 - 1)
    if np.any(active & ((values < least) | (values > greatest))):
        hint = "use a wider type: cast an operand, int64(...)"
        raise TablaError(f"an integer does not fit {scalar}", Label(span), hint=hint)
    return values
