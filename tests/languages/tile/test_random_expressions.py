"""Random elementwise programs with broadcasting: the evaluation and the graph against numpy's own operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import tabla.tile as tile
from tabla.graph.format import Format
from tabla.graph.verify import verify
from tabla.languages.tile import trace
from tabla.languages.tile.lower import lower
from tests.graph.runs import evaluate_float
from tests.languages.tile.meaning import evaluate

SHAPES: list[tuple[int, ...]] = [(), (3,), (2, 1), (2, 3), (1,)]
# Each operator in the notation and in numpy.
BINARY: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "+": (lambda a, b: a + b, np.add),
    "-": (lambda a, b: a - b, np.subtract),
    "*": (lambda a, b: a * b, np.multiply),
    "/": (lambda a, b: a / (b * b + 0.5), lambda a, b: a / (b * b + 0.5)),
    "max": (tile.max, np.maximum),
    "min": (tile.min, np.minimum),
    "<": (lambda a, b: a < b, lambda a, b: np.less(a, b).astype(float)),
    "==": (lambda a, b: a == b, lambda a, b: np.equal(a, b).astype(float)),
}
UNARY: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "-": (lambda a: -a, np.negative),
    "abs": (tile.abs, np.abs),
    "tanh": (tile.tanh, np.tanh),
    "sigmoid": (tile.sigmoid, lambda a: 1 / (1 + np.exp(-a))),
    "sqrt": (lambda a: tile.sqrt(a * a), np.abs),
    "square": (lambda a: a**2, np.square),
    "cube": (lambda a: tile.pow(a, 3), lambda a: a**3),
}
Step = tuple[str, str, int, int, int]


@st.composite
def recipes(draw: st.DrawFn) -> tuple[list[int], list[Step]]:
    """Shapes of the inputs by number, and steps: a kind, an operator, operands counted from the newest."""
    inputs = draw(st.lists(st.integers(0, len(SHAPES) - 1), min_size=2, max_size=3))
    steps: list[Step] = []
    for _ in range(draw(st.integers(1, 7))):
        kind = draw(st.sampled_from(["binary", "binary", "binary", "unary", "select", "number"]))
        operator = draw(st.sampled_from(sorted(UNARY if kind == "unary" else BINARY)))
        back = st.integers(0, len(inputs) + len(steps) - 1)
        steps.append((kind, operator, draw(back), draw(back), draw(back)))
    return inputs, steps


def follow(recipe: list[Step], values: list[Any], which: int) -> Any:
    """The last value; `which` is 0 for the notation, 1 for numpy."""
    for kind, operator, *places in recipe:
        a, b, c = (values[-1 - place] for place in places)
        match kind:
            case "binary":
                values.append(BINARY[operator][which](a, b))
            case "unary":
                values.append(UNARY[operator][which](a))
            case "number":
                values.append(BINARY[operator][which](0.75, a))
            case _:
                chosen = tile.select(a < b, b, c) if which == 0 else np.where(a < b, b, c)
                values.append(chosen)
    return values[-1]


@settings(max_examples=80)
@given(recipes(), st.integers(0, 999))
def test_expressions(recipe: tuple[list[int], list[Step]], seed: int) -> None:
    inputs, steps = recipe
    names = [f"X{number}" for number in range(len(inputs))]
    random = np.random.default_rng(seed)
    arrays = {name: random.integers(-8, 9, SHAPES[which]) / 4 for name, which in zip(names, inputs, strict=True)}

    def function(X0: Any, X1: Any, X2: Any = None) -> Any:
        return follow(steps, [X0, X1, X2][: len(inputs)], 0)

    program = trace(function, {name: array.shape for name, array in arrays.items()})
    expected = np.asarray(follow(steps, list(arrays.values()), 1), dtype=float)
    np.testing.assert_allclose(evaluate(program, arrays)["out0"].astype(float), expected, rtol=1e-9, atol=1e-9)
    graph = lower(program, number_format=Format.parse("q16.16"))
    verify(graph)
    values = evaluate_float(graph, {name: np.asarray(array) for name, array in arrays.items()}).values
    np.testing.assert_allclose(values[graph.results[0][1]], expected, rtol=1e-9, atol=1e-9)
