"""A kernel of reals element by element, in plain Python: a witness that shares no code with the evaluation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

from tabla.graph.graph import Affine, Index
from tabla.languages.kernel.tree import Apply, Expression, Kernel, Number, Position, Read, Reduce

Point = dict[str, int]
Values = dict[tuple[str, tuple[int, ...]], float]
BINARY = {
    "add": lambda a, b: a + b, "subtract": lambda a, b: a - b, "multiply": lambda a, b: a * b,
    "min": min, "max": max, "less": lambda a, b: a < b, "greater_equal": lambda a, b: a >= b,
}  # fmt: skip


def points(indices: tuple[Index, ...], conditions: tuple[Affine, ...], around: Point) -> Iterator[Point]:
    for place in product(*(range(index.low, index.high) for index in indices)):
        point = around | dict(zip((index.name for index in indices), place, strict=True))
        if all(condition.at(point) >= 0 for condition in conditions):
            yield point


def value_of(expression: Expression, point: Point, values: Values) -> float:
    match expression:
        case Number(value=value):
            return float(value)
        case Position(index=index):
            return point[index]
        case Read(tensor=tensor, subscripts=subscripts):
            return values[tensor, tuple(form.at(point) for form in subscripts)]
        case Apply(function="real", arguments=(inner,)):
            return float(value_of(inner, point, values))
        case Apply(function="negate", arguments=(inner,)):
            return -value_of(inner, point, values)
        case Apply(function=function, arguments=(left, right)):
            return BINARY[function](value_of(left, point, values), value_of(right, point, values))
        case Reduce(reduction="sum", indices=indices, body=body, conditions=conditions):
            return sum((value_of(body, inner, values) for inner in points(indices, conditions, point)), start=0.0)
        case Reduce(reduction="max", indices=indices, body=body):
            return max(value_of(body, inner, values) for inner in points(indices, (), point))
        case _:
            raise AssertionError(expression)


def run(kernel: Kernel, given: Mapping[str, Mapping[tuple[int, ...], float]]) -> Values:
    """Return all elements that have a value after the statements."""
    values = {(name, at): value for name, elements in given.items() for at, value in elements.items()}
    written = set[str]()
    for statement in kernel.statements:
        new = {
            (statement.target, tuple(form.at(point) for form in statement.write)): value_of(
                statement.value, point, values
            )
            for point in points(statement.indices, statement.conditions, {})
        }
        if statement.conditions and statement.target not in written:
            shape = kernel.tensors[statement.target].shape
            values |= {(statement.target, at): 0.0 for at in product(*map(range, shape))}
        values |= new
        written.add(statement.target)
    return values
