"""Positions beyond the real words of the format are integers of the machine: against numpy, and on the cycle model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

import tabla
from tabla.base.source import TablaError
from tabla.graph.format import Format
from tabla.languages.tile import trace
from tabla.languages.tile.lower import lower
from tabla.languages.tile.positions import positions_of
from tabla.tile import TensorIndexes, TensorOutput, argsort, cast, gather, index, scatter, select, topk

CHANCE = np.random.default_rng(12)
N = 40
X = CHANCE.permutation(N) / 4
ROWS = CHANCE.integers(0, N, 7).astype(float)
Arrays = Mapping[str, np.ndarray[Any, Any]]


def agreed(function: Callable[..., Any], arrays: Arrays, expected: list[Any]) -> tabla.Build:
    """The evaluation and the machine give what numpy does."""
    build = tabla.compile(function, shapes={name: array.shape for name, array in arrays.items()}, pes=4)
    simulated, evaluated = build.simulate(arrays), build.evaluate(arrays)
    for number, wanted in enumerate(expected):
        np.testing.assert_array_equal(evaluated[f"out{number}"], wanted)
        np.testing.assert_array_equal(simulated.arrays[f"out{number}"], wanted)
    return build


def test_coordinates_are_results() -> None:
    def function(X: Any) -> Any:
        at = index(X, 0)
        return at, at * 2 - 100, select(at < N // 2, at, -at), at % 7, at / 3

    at = np.arange(N)
    build = agreed(function, {"X": X}, [at, 2 * at - 100, np.where(at < N // 2, at, -at), at % 7, at // 3])
    assert build.integers >= {f"out{number}" for number in range(5)} and "X" not in build.integers


def test_powers_and_remainders_of_coordinates() -> None:
    """A parameter that a position is divided by is a position, too, and the least word divided by -1 leaves 0."""
    divisors = np.array([-1.0, 0, 1, 7, -7] * 8)

    def function(X: Any, D: Any) -> Any:
        at = index(X, 0)
        far = select(at == 0, at - 32767 - 1, at)
        return far % select(at < N // 2, -1, 3), at**2, cast(D, "integer") + at

    at = np.arange(N)
    far = np.where(at == 0, -32768, at)
    expected = [np.fmod(far, np.where(at < N // 2, -1, 3)), at**2, divisors + at]
    agreed(function, {"X": X, "D": divisors}, expected)


def test_coordinates_in_real_sums() -> None:
    def function(X: Any) -> Any:
        at = index(X, 0)
        return X + at * 0.25, select(at > 35, X, 0.0), X * (at / 2)

    at = np.arange(N)
    agreed(function, {"X": X}, [X + at / 4, np.where(at > 35, X, 0), np.minimum(X * (at // 2), 32767 / 1024)])


def test_order() -> None:
    def function(X: Any) -> Any:
        return argsort(X), *topk(X, 3)

    agreed(function, {"X": X}, [np.argsort(X), np.sort(X)[:-4:-1], np.argsort(X)[:-4:-1]])


def test_the_place_of_the_largest() -> None:
    def function(X: Any) -> Any:
        (i,) = TensorIndexes(1)
        largest, place = TensorOutput(1), TensorOutput(1)
        largest[0] >= X[i]
        place[0] >= select(X == largest, index(X, 0), -1)[i]
        return place

    agreed(function, {"X": X}, [[np.argmax(X)]])


@pytest.mark.parametrize("kind", [None, "int32"])
def test_gather(kind: str | None) -> None:
    def function(T: Any, W: Any) -> Any:
        return gather(T, W if kind is None else cast(W, kind))

    build = agreed(function, {"T": X, "W": ROWS}, [X[ROWS.astype(int)]])
    assert "W" in build.integers and not build.integers & {"T", "out0"}


def test_positions_of_the_program() -> None:
    def function(T: Any, V: Any) -> Any:
        return gather(T, np.array([39, 0, 7])), scatter(V, np.array([1, 38]), N)

    scattered = np.zeros(N)
    scattered[[1, 38]] = [0.5, -2]
    agreed(function, {"T": X, "V": np.array([0.5, -2])}, [X[[39, 0, 7]], scattered])


def test_positions_that_the_format_holds_stay_real_words() -> None:
    def function(X: Any) -> Any:
        return argsort(X), index(X, 0)

    for size, count in ((32, 0), (33, 2)):
        program = trace(function, {"X": (size,)}, {})
        found = positions_of(program, Format(integer=6, fraction=10))
        assert len(found.intersection(program.outputs)) == count


def test_refused() -> None:
    program = trace(lambda X: index(X, 0) & 3, {"X": (N,)}, {})
    with pytest.raises(TablaError, match=r"bit_and of positions that q6\.10 cannot hold"):
        lower(program, number_format=Format(integer=6, fraction=10))
