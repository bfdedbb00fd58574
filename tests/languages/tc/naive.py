"""Tensor Comprehensions as the reference page words it: one point at a time, in plain Python numbers.

The witness for `tabla.languages.tc.evaluate`: it shares the checked tree and the inferred ranges with it, nothing else.
A tensor is a dictionary from index tuples to numbers.
"""

from __future__ import annotations

import math
from itertools import product
from typing import Any

from tabla.languages.tc import program
from tabla.languages.tc.program import Function
from tabla.languages.tc.ranges import Inference, infer
from tabla.languages.tc.scalars import Scalar
from tabla.languages.tc.statement_ranges import Domain

Number = Any
Elements = dict[tuple[int, ...], Number]


class Outside(Exception):
    """A read outside its tensor, an integer outside its type, a division by zero."""


def _safe(function: Any, *arguments: float) -> float:
    try:
        return function(*arguments)
    except OverflowError:
        return math.inf
    except (ValueError, ZeroDivisionError):
        return math.nan


def least(one: Number, other: Number) -> Number:
    """The smaller; what is not a number stays so."""
    return math.nan if one != one or other != other else min(one, other)


def most(one: Number, other: Number) -> Number:
    """The larger; what is not a number stays so."""
    return math.nan if one != one or other != other else max(one, other)


def number_of(pick: Any) -> Any:
    """fmin and fmax prefer what is a number."""
    return lambda one, other: other if one != one else one if other != other else pick(one, other)


FUNCTIONS: dict[str, Any] = {
    "exp": math.exp, "tanh": math.tanh, "fabs": abs, "sin": math.sin, "cos": math.cos, "floor": math.floor,
    "fmax": number_of(max), "fmin": number_of(min), "pow": math.pow, "atan": math.atan,
    "sqrt": math.sqrt, "rsqrt": lambda x: 1 / math.sqrt(x), "log": math.log, "erf": math.erf,
}  # fmt: skip


def run(function: Function, inputs: dict[str, Elements], sizes: dict[str, int]) -> dict[str, Elements]:
    """All tensors after the last statement."""
    return _run(infer(function, sizes), dict(inputs), sizes)


def _run(inference: Inference, tensors: dict[str, Elements], sizes: dict[str, int]) -> dict[str, Elements]:
    for step in inference.steps:
        if isinstance(step, Domain):
            _Statement(step, tensors, sizes, inference.function).run()
            continue
        call = step.statement
        inside = {p: rebased(tensors[a]) for p, a in zip(call.function.inputs, call.arguments, strict=True)}
        bound = {name: size.at({}) for name, size in step.inference.sizes.items()}
        results = _run(step.inference, inside, bound)
        for result, target in zip(call.function.results, call.targets, strict=True):
            tensors[target] = rebased(results[result])
    return tensors


def rebased(elements: Elements) -> Elements:
    """The same elements with the first index of each dimension 0."""
    if elements == {} or () in elements:
        return dict(elements)
    lows = [min(column) for column in zip(*elements, strict=True)]
    return {tuple(i - low for i, low in zip(at, lows, strict=True)): value for at, value in elements.items()}


def cast(value: Number, scalar: Scalar) -> Number:
    """A value as one of a type; toward zero where it was a float."""
    if scalar.kind == "bool":
        return bool(value)
    if scalar.kind == "float":
        return float(value)
    if isinstance(value, float) and not math.isfinite(value):
        raise Outside
    whole = int(value)
    if not scalar.least <= whole <= scalar.greatest:
        raise Outside
    return whole


class _Statement:
    def __init__(self, step: Domain, tensors: dict[str, Elements], sizes: dict[str, int], function: Function) -> None:
        self.step, self.tensors, self.sizes = step, tensors, sizes
        self.scalar = function.tensors[step.statement.target].scalar

    def run(self) -> None:
        statement = self.step.statement
        target = self.tensors.setdefault(statement.target, {})
        ranges = {name: range(i.low.at({}), i.high.at({})) for name, i in self.step.intervals.items()}
        box = list(product(*(ranges[name] for name in statement.indices)))
        if statement.initialise:
            target.update({at: self._identity() for at in target} | {at: self._identity() for at in box})
        for at in box:
            target.setdefault(at, cast(0, self.scalar))
        self._fill(target)
        self.before = {name: dict(elements) for name, elements in self.tensors.items()}
        for values in product(*ranges.values()):
            point = dict(zip(ranges, values, strict=True))
            if not self._inside(point):
                continue
            for guard in statement.guards:
                self.value(guard, point)
            value = cast(self.value(statement.value, point), self.scalar)
            at = tuple(point[name] for name in statement.indices)
            target[at] = value if statement.reduction is None else self._combine(target[at], value)

    def _fill(self, target: Elements) -> None:
        """A tensor of several boxes is the box around them; between them it is 0, or what `!` sets."""
        if target and () not in target:
            columns = list(zip(*target, strict=True))
            empty = self._identity() if self.step.statement.initialise else cast(0, self.scalar)
            for at in product(*(range(min(c), max(c) + 1) for c in columns)):
                target.setdefault(at, empty)

    def _inside(self, point: dict[str, int]) -> bool:
        for given in self.step.statement.ranges:
            low, high = self.value(given.low, point), self.value(given.high, point)
            if not low <= point[given.index] < high:
                return False
        return True

    def _identity(self) -> Number:
        operator = self.step.statement.reduction
        if operator in ("+", "*"):
            return cast(int(operator == "*"), self.scalar)
        if self.scalar.integral:
            return self.scalar.greatest if operator == "min" else self.scalar.least
        return 3.4028234663852886e38 * (1 if operator == "min" else -1)

    def _combine(self, old: Number, new: Number) -> Number:
        match self.step.statement.reduction:
            case "+":
                return cast(old + new, self.scalar)
            case "*":
                return cast(old * new, self.scalar)
            case "min":
                return least(old, new)
            case _:
                return most(old, new)

    def value(self, value: program.Value, point: dict[str, int]) -> Number:
        match value:
            case program.Constant(value=number, scalar=scalar):
                return cast(number, scalar)
            case program.SizeVariable(name=name):
                return self.sizes[name]
            case program.Extent(tensor=tensor, axis=axis):
                column = [at[axis] for at in self.before[tensor]]
                return max(column) - min(column) + 1
            case program.Index(name=name):
                return point[name]
            case program.Read(tensor=tensor, subscripts=subscripts):
                at = tuple(self.value(subscript, point) for subscript in subscripts)
                if at not in self.before[tensor]:
                    raise Outside
                return self.before[tensor][at]
            case program.Convert(operand=operand, scalar=scalar):
                return cast(self.value(operand, point), scalar)
            case program.Unary(operator="!", operand=operand):
                return not self.value(operand, point)
            case program.Unary(operand=operand, scalar=scalar):
                return cast(-self.value(operand, point), scalar)
            case program.Binary():
                return self._binary(value, point)
            case program.Choice(condition=condition, chosen=chosen, other=other, scalar=scalar):
                return cast(self.value(chosen if self.value(condition, point) else other, point), scalar)
            case program.Apply(function="min" | "max" as function, arguments=arguments, scalar=scalar):
                pair = [cast(self.value(argument, point), scalar) for argument in arguments]
                return least(*pair) if function == "min" else most(*pair)
            case program.Apply(function=function, arguments=arguments):
                return float(_safe(FUNCTIONS[function], *(float(self.value(a, point)) for a in arguments)))

    def _binary(self, value: program.Binary, point: dict[str, int]) -> Number:
        left = self.value(value.left, point)
        if value.operator == "&&":
            return left and self.value(value.right, point)
        if value.operator == "||":
            return left or self.value(value.right, point)
        left, right = cast(left, value.common), cast(self.value(value.right, point), value.common)
        match value.operator:
            case "<":
                return left < right
            case ">":
                return left > right
            case "<=":
                return left <= right
            case ">=":
                return left >= right
            case "==":
                return left == right
            case "!=":
                return left != right
            case "+":
                result = left + right
            case "-":
                result = left - right
            case "*":
                result = left * right
            case "/" if value.scalar.integral:
                if right == 0:
                    raise Outside
                result = int(abs(left) // abs(right)) * (1 if (left < 0) == (right < 0) else -1)
            case "%" if value.scalar.integral:
                if right == 0:
                    raise Outside
                result = int(math.copysign(abs(left) % abs(right), left))
            case "/":
                if right == 0:
                    signs = math.copysign(1.0, left) * math.copysign(1.0, right)
                    return math.nan if left == 0 or left != left else signs * math.inf
                result = left / right
            case _:
                result = _safe(math.fmod, left, right)
        return cast(result, value.scalar)
