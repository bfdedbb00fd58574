"""Arrays of numpy inside programs, and what a program may ask about a tensor."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tabla.base.source import TablaError
from tabla.graph.format import Format
from tabla.languages.tile import trace
from tabla.languages.tile.lower import lower
from tabla.languages.tile.text import program_text
from tabla.tile import Contraction, TensorDim, TensorDims, TensorIndexes, TensorOutput, ident, select, shape
from tests.languages.tile.lower.witnesses import agreed, evaluated, graph_of

WEIGHTS = np.array([[0.5, -1.25, 2.0], [0.0, 3.0, -0.75]])
GIVEN = np.array([[1.0, -2.0, 0.25], [0.5, 4.0, 1.5]])


def test_arrays_and_scalars_stand_in_expressions() -> None:
    def mixed(X: Any) -> Any:
        return WEIGHTS * X + np.float32(0.5), X - np.arange(3), select(X > 0, np.ones(3), np.bool_(False))

    expected = [WEIGHTS * GIVEN + 0.5, GIVEN - np.arange(3), (GIVEN > 0).astype(float)]
    agreed(mixed, {"X": GIVEN}, expected)


def test_an_array_is_contracted() -> None:
    def product(X: Any) -> Any:
        i, j, k = TensorIndexes("i", "j", "k")
        O = TensorOutput(2, 2)
        O[i, j] += X[i, k] * ident(WEIGHTS)[j, k]
        return O, ident(X) + 1

    agreed(product, {"X": GIVEN}, [GIVEN @ WEIGHTS.T, GIVEN + 1])


def test_equal_numbers_are_one_statement() -> None:
    def filled(X: Any) -> Any:
        return X + np.full((2, 3), 0.5)

    assert len(graph_of(filled, {"X": GIVEN}).statements) == 2


def test_the_text_reads_as_the_same_function() -> None:
    def mixed(X: Any) -> Any:
        return X + WEIGHTS, X * np.array([[True], [False]]), shape(X)

    program = trace(mixed, {"X": (2, 3)})
    space: dict[str, Any] = {}
    exec("from tabla.tile import *\n" + program_text(program).replace("T.", "T_"), space)
    again = evaluated(space["mixed"], {"X": GIVEN})
    for one, two in zip(again, evaluated(mixed, {"X": GIVEN}), strict=True):
        assert np.array_equal(one, two) and one.dtype == two.dtype


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.array([1.0, np.nan]), "one that is no number"),
        (np.array([1j]), "an array of type complex128 is not a tensor"),
        (np.zeros((0, 3)), "has no elements"),
    ],
)
def test_arrays_that_are_no_tensors(array: Any, message: str) -> None:
    def added(X: Any) -> Any:
        return X + array

    with pytest.raises(TablaError, match=message) as caught:
        trace(added, {"X": (1,)})
    assert caught.value.hint and caught.value.file == __file__


def test_a_large_array_is_a_parameter() -> None:
    def added(X: Any) -> Any:
        return X + np.arange(1025) / 64

    with pytest.raises(TablaError, match="an array of 1025 numbers in a program") as caught:
        lower(trace(added, {"X": (1025,)}), number_format=Format.parse("q6.10"))
    assert "--keep" in str(caught.value.hint)


def test_questions() -> None:
    seen: list[Any] = []

    def asks(X: Any) -> Any:
        seen[:] = [X.rank, X.shape.ndims, X.dtype, (X > 0).dtype, X.shape, X[()] if X.rank == 0 else None]
        return shape(X)

    agreed(asks, {"X": GIVEN}, [np.array([2, 3])])
    assert seen == [2, 2, "float", "boolean", (2, 3), None]


def test_names_are_in_messages_and_in_the_text() -> None:
    def named(X: Any, Y: Any) -> Any:
        sizes = TensorDims("rows, columns")
        X.bind_dims(*sizes)
        Y.bind_dims(sizes[0], TensorDim("depth"))
        return X

    with pytest.raises(TablaError, match="dimension 0 of 'Y' is 4, but 'rows' is 2 already"):
        trace(named, {"X": (2, 3), "Y": (4, 3)})

    def built(X: Any) -> Any:
        i, j = TensorIndexes("row column")
        return Contraction(name="Sums").outShape(2).outAccess(i).sum(X[i, j]).build()

    assert "Sums[row] += X[row, column]" in program_text(trace(built, {"X": (2, 3)}))
