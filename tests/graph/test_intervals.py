"""Intervals hold every value that a graph computes in float64, and are as tight as their rules."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabla.graph.evaluate_float import FloatPlan
from tabla.graph.format import Format
from tabla.graph.graph import Affine, Divide, Extreme, Function, Graph, Index, Linear, Product
from tabla.graph.intervals import UNKNOWN, Interval, intervals
from tabla.graph.words import to_real
from tests.graph.examples import Builder, at, product
from tests.graph.graph_strategy import graphs, words

UNWRITTEN = 12345.678
"""Stands in elements that nobody writes, and that nobody may read."""
Q6_10 = Format.parse("q6.10")


def held(graph: Graph, arrays: dict[str, np.ndarray]) -> None:
    """Hold every value of one step against its interval."""
    given_ = {name: Interval(float(a.min()), float(a.max())) for name, a in arrays.items() if a.size}
    found = intervals(graph, given_)
    plan = FloatPlan.of(graph)
    plan.load(arrays)
    plan.memory.feed(arrays)
    for name, tensor in graph.tensors.items():
        if tensor.role == "value" and not tensor.filled:
            plan.memory.buffers[name][...] = UNWRITTEN
    plan.compute()
    for name, buffer in plan.memory.buffers.items():
        interval, values = found[name], buffer[buffer != UNWRITTEN]
        finite = values[np.isfinite(values)]
        if finite.size:
            slack = 1e-9 * max(1.0, float(np.abs(finite).max()))
            assert interval.low - slack <= finite.min() and finite.max() <= interval.high + slack, name
        if finite.size < values.size:
            assert math.isinf(interval.magnitude), name


@settings(max_examples=150, deadline=None)
@given(graph=graphs(), seed=st.integers(0, 1 << 30))
def test_every_value_lies_in_its_interval(graph: Graph, seed: int) -> None:
    inputs, models = words(graph, Q6_10, seed)
    held(graph, {name: to_real(array, Q6_10) for name, array in {**inputs, **models}.items()})


def of(operation: object, low: float, high: float, *, reduced: int = 0, constraint: bool = False) -> Interval:
    """The interval of a scalar `y` made from `x`, whose elements are between `low` and `high`."""
    builder = Builder()
    builder.tensor("x", "input", *((reduced,) if reduced else ()))
    builder.tensor("y", "value")
    builder.let("y", "", operation, "k" if reduced else "", **({"k": reduced} if reduced else {}))  # type: ignore[arg-type]
    if constraint:
        builder.statements[0] = replace(builder.statements[0], constraints=(Affine.of(-1, k=1),))
    return intervals(builder.graph("f", {}), {"x": Interval(low, high)})["y"]


X, XK = at("x"), at("x", "k")


@pytest.mark.parametrize(
    ("name", "low", "high", "expected"),
    [
        ("sigmoid", -math.inf, 0, (0, 0.5)),
        ("tanh", 0, math.inf, (0, 1)),
        ("exp", 0, 1, (1, math.e)),
        ("sqrt", 0, 4, (0, 2)),
        ("sqrt", -1, 4, (-math.inf, math.inf)),
        ("log", 1, math.e, (0, 1)),
        ("log", -1, 1, (-math.inf, math.inf)),
        ("gaussian", -9, 9, (0, 1)),
        ("sin", -9, 9, (-math.inf, math.inf)),
    ],
)
def test_functions(name: str, low: float, high: float, expected: tuple[float, float]) -> None:
    found = of(Function(name=name, operand=X), low, high)
    assert (found.low, found.high) == pytest.approx(expected)


def test_sums_count_their_points() -> None:
    square = Linear(terms=(product(XK, XK, "k"),))
    assert of(square, -1, 2, reduced=5) == Interval(-10, 20)
    # A constraint may leave out any of them.
    assert of(Linear(terms=(product(XK, XK, "k"),)), 1, 2, reduced=5) == Interval(5, 20)
    assert of(Linear(terms=(product(XK, XK, "k"),)), 1, 2, reduced=5, constraint=True) == Interval(0, 20)
    # Only products are shifted.
    assert of(Linear(terms=(product(XK, XK, "k"),), shift=1), 1, 2, reduced=5) == Interval(2.5, 10)
    assert of(Linear(terms=(product(XK, XK, "k"),), test="<"), 1, 2, reduced=5) == Interval(0, 1)


def test_quotients_products_and_extremes() -> None:
    assert of(Divide(left=X, right=X), 1, 2) == Interval(0.5, 2)
    assert of(Divide(left=X, right=X), 0, 2) == UNKNOWN
    assert of(Product(operand=XK, reduce=("k",)), -2, 1, reduced=2) == Interval(-2, 4)
    assert of(Product(operand=XK, reduce=("k",)), 2, 3, reduced=2) == Interval(1, 9)
    assert of(Product(operand=XK, reduce=("k",)), 2, 3, reduced=2, constraint=True) == Interval(1, 9)
    assert of(Extreme(op="max", operands=(XK,), reduce=("k",)), -2, 1, reduced=2) == Interval(-2, 1)
    assert of(Extreme(op="max", operands=(XK,), reduce=("k",)), -2, 1, reduced=2, constraint=True) == UNKNOWN


def test_models_that_learn_have_no_bound() -> None:
    builder = Builder()
    builder.tensor("x", "input")
    builder.tensor("w", "model")
    builder.tensor("w'", "next")
    builder.let("w'", "", Linear(terms=(product(at("w"), at("x")),)))
    one = {"x": Interval(1, 1), "w": Interval(1, 1)}
    learning = intervals(builder.graph("f", {"w": "w'"}), one)
    assert learning["w"] == learning["w'"] == UNKNOWN
    assert intervals(builder.graph("f", {}), one)["w"] == Interval(1, 1)


def test_elements_that_nothing_writes_are_zero() -> None:
    builder = Builder()
    builder.tensor("x", "input")
    builder.tensor("y", "value", 3)
    builder.let("y", "i", Linear(terms=(product(at("x"), at("x")),)), i=2)
    builder.statements[0] = replace(builder.statements[0], indices=(Index(name="i", low=1, high=3),))
    graph = builder.graph("f", {})
    assert intervals(graph, {"x": Interval(2, 3)})["y"] == Interval(4, 9)
    builder.tensors["y"] = replace(builder.tensors["y"], filled=True)
    assert intervals(builder.graph("f", {}), {"x": Interval(2, 3)})["y"] == Interval(0, 9)
