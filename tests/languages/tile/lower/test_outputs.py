"""Outputs whose shape follows from the reads, and outputs that have values before their statement."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tabla.base.source import TablaError
from tabla.languages.tile import trace
from tabla.tile import Contraction, TensorIndex, TensorIndexes, TensorOutput
from tests.languages.tile.lower.witnesses import agreed, evaluated

CHANCE = np.random.default_rng(7)
A = CHANCE.integers(-64, 64, (3, 4)) / 64
B = CHANCE.integers(-64, 64, (4, 2)) / 64
P = CHANCE.integers(-64, 64, (3, 6)) / 64
V = CHANCE.integers(-64, 64, 6) / 64


def test_shapes_follow() -> None:
    def function(A: Any, B: Any, V: Any) -> Any:
        i, j, k = TensorIndexes(3)
        product, shifted, every, full, lower, single = (TensorOutput(...) for _ in range(6))
        product[i, j] += A[i, k] * B[k, j]
        shifted[i + 1] = V[i]
        every[i] = V[2 * i]
        full[i + k] += V[i] * A[0, k]
        lower[i - k] += V[i] * A[0, k]
        single[()] += V[i]
        return product, shifted, every, full, lower, single

    kernel = A[0]
    correlated = [sum(V[i + k] * kernel[k] for k in range(4) if i + k < 6) for i in range(6)]
    expected = [A @ B, np.array([0, *V]), V[::2], np.convolve(V, kernel), np.array(correlated), np.asarray(V.sum())]
    agreed(function, {"A": A, "B": B, "V": V}, expected)


def test_constraints_narrow_the_shape() -> None:
    def function(V: Any) -> Any:
        i, k = TensorIndexes(2)
        sums = TensorOutput(...)
        sums[i] += V[k]
        sums.add_constraint(i - k < 2)
        pooled = Contraction().outAccess(i).max(V[2 * i + k]).add_constraint(k < 2).build()
        return sums, pooled

    expected = [np.array([*V, 0]) + np.array([0, *V]), V.reshape(3, 2).max(1)]
    assert [each.shape for each in evaluated(function, {"V": V})] == [(7,), (3,)]
    agreed(function, {"V": V}, expected)


@pytest.mark.parametrize(
    ("subscript", "message"),
    [("i + k", "dimension 0 of 'O' does not follow: nothing bounds it"), ("i - 9", "the statement writes nothing")],
)
def test_shapes_that_do_not_follow(subscript: str, message: str) -> None:
    def function(V: Any) -> Any:
        i, k = TensorIndexes(2)
        O = TensorOutput(...)
        O[i + k if subscript == "i + k" else i - 9] += V[i]
        return O

    with pytest.raises(TablaError, match=message) as caught:
        trace(function, {"V": (6,)})
    assert caught.value.hint == "give the sizes: TensorOutput(N)" and caught.value.line


AGGREGATIONS = ["sum", "product", "max", "min", "assign"]


def aggregated(aggregation: str, start: Any, values: list[float]) -> float:
    """What init says, by a loop."""
    result = float(start)
    for value in values:
        match aggregation:
            case "sum":
                result += value
            case "product":
                result *= value
            case "max":
                result = max(result, value)
            case "min":
                result = min(result, value)
            case _:
                result = value
    return result


@pytest.mark.parametrize("how", ["init", "use_default"])
@pytest.mark.parametrize("aggregation", AGGREGATIONS)
def test_values_before_the_statement(how: str, aggregation: str) -> None:
    """The statement writes the columns 0, 2 and 4 of six; one of its rows is summed where it may be."""

    def function(A: Any, P: Any) -> Any:
        i, j, k = TensorIndexes(3)
        last = i if aggregation == "assign" else k
        made = Contraction().outShape(3, 6).outAccess(i, 2 * j)
        made = getattr(made, aggregation)(A[last, j]).add_constraint(j < 3)
        return getattr(made, how)(P).build()

    expected = np.empty((3, 6))
    for i, j in np.ndindex(3, 6):
        values = [] if j % 2 else [A[i, j // 2]] if aggregation == "assign" else list(A[:, j // 2])
        if how == "init" or not values:
            expected[i, j] = aggregated(aggregation, P[i, j], values)
        else:
            expected[i, j] = aggregated(aggregation, values[0], values[1:])
    agreed(function, {"A": A, "P": P}, [expected], units=3 if aggregation == "product" else 0.5)


def test_numbers_and_rows_broadcast() -> None:
    def function(A: Any, V: Any) -> Any:
        i, j = TensorIndexes(2)
        O, Q = TensorOutput(3, 6), TensorOutput(3)
        O[i, j + 1] = A[i, j]
        O.use_default(V)
        Q[i] >= A[i, j]
        Q.init(0.25)
        return O, Q

    expected = np.tile(V, (3, 1))
    expected[:, 1:5] = A
    agreed(function, {"A": A, "V": V}, [expected, np.maximum(A.max(1), 0.25)])


def test_what_init_refuses() -> None:
    def function(V: Any, case: str) -> Any:
        i = TensorIndex()
        O = TensorOutput(6)
        O[i] += V[i]
        if case == "shape":
            O.init(np.ones(4))
        elif case == "late":
            T = O + 1
            O.init(T)
        elif case == "twice":
            O.init(1).use_default(2)
        else:
            V.init(1)
        return O

    for case, message in {
        "shape": r"values of shape \(4,\) for an output of shape \(6,\)",
        "late": "'O' was used already",
        "twice": "'O' has values to start from already",
        "input": "init: 'V' is not an output",
    }.items():
        with pytest.raises(TablaError, match=message) as caught:
            trace(function, {"V": (6,)}, {"case": case})
        assert caught.value.hint and caught.value.file == __file__
