"""Corners of the kernels of Tile functions: names, depths, constants, and results that nothing computes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tabla import tile
from tabla.languages.kernel.text import kernel_text
from tabla.languages.tile import trace
from tabla.languages.tile.kernel import translated
from tabla.tile import TensorIndexes, TensorOutput
from tests.languages.tile.meaning import evaluate

X = np.array([0.5, -1.25, 2.0, 3.0])


def results(function: Any, **arrays: Any) -> list[Any]:
    shapes = {name: np.shape(array) for name, array in arrays.items()}
    return list(evaluate(trace(function, shapes), arrays).values())


def test_an_index_with_the_name_of_a_tensor() -> None:
    """In a text of a kernel a name is one of both, so the index has another name there."""

    def clash(x: Any, i0: Any) -> Any:
        (i,) = TensorIndexes(1)
        T = TensorOutput(4)
        T[i] += x[i] * i0[()]
        total = TensorOutput()
        total[()] += T[i]
        return T + i0, total

    one, two = results(clash, x=X, i0=np.array(2.0))
    np.testing.assert_array_equal(one, 2 * X + 2)
    assert two == 2 * X.sum()
    program = trace(clash, {"x": (4,), "i0": ()})
    assert "i0' in 0:4" in kernel_text(translated(program, name="k").kernel)


def test_a_parameter_and_a_number_as_results() -> None:
    def returned(x: Any) -> Any:
        return x, tile.ident(2.5), x

    one, two, three = results(returned, x=X)
    np.testing.assert_array_equal(one, X)
    np.testing.assert_array_equal(three, X)
    assert two == 2.5


@pytest.mark.parametrize("right", [False, True])
def test_a_deep_expression(right: bool) -> None:
    def deep(x: Any) -> Any:
        value = x
        for _ in range(1500):
            value = 1.0 - value if right else value * 0.5 + 1.0
        return value

    np.testing.assert_allclose(results(deep, x=X)[0], X if right else np.full(4, 2.0), rtol=1e-12)


def test_constants_that_are_used_twice() -> None:
    """Each is computed once: without that this would be 2^200 products."""

    def doubled(x: Any) -> Any:
        half = tile.ident(0.5)
        for _ in range(200):
            half = half + half - half
        return x * half

    np.testing.assert_array_equal(results(doubled, x=X)[0], X / 2)


def test_elements_around_what_a_statement_writes_are_0() -> None:
    """The kernel writes them, because another statement reads them."""

    def apart(x: Any) -> Any:
        (i,) = TensorIndexes(1)
        T, U = TensorOutput(10), TensorOutput(10)
        T[2 * i + 2] = x[i]
        U[i + 3] = x[i]
        return T + U + 1.0

    expected = np.ones(10)
    expected[2:9:2] += X
    expected[3:7] += X
    np.testing.assert_array_equal(results(apart, x=X)[0], expected)
