"""Gather, scatter, order and random numbers against numpy, and on the machine."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import Any

import numpy as np
import pytest

from tabla.base.source import TablaError
from tabla.languages.tile import trace
from tabla.languages.tile.prng import splitmix
from tabla.tile import argsort, cast, gather, prng, scatter, topk
from tests.languages.tile.lower.witnesses import agreed, evaluated, in_words

CHANCE = np.random.default_rng(11)
TABLE = CHANCE.integers(-64, 64, (3, 4)) / 16
ROWS = np.array([[2.0, 0.0], [1.0, 2.0]])


def test_gather_along_an_axis() -> None:
    def function(T: Any, W: Any) -> Any:
        where = cast(W, "int32")
        return gather(T, where), gather(T, where).axis(1), gather(T, where).axis(-1).build()

    where = ROWS.astype(int)
    by_column = np.take(TABLE, where, axis=1)
    agreed(function, {"T": TABLE, "W": ROWS}, [TABLE[where], by_column, by_column])


def scattered(values: Any, where: Any, shape: tuple[int, ...]) -> Any:
    """One after the other, along the first axis."""
    out = np.zeros(shape)
    for place, row in np.ndenumerate(where):
        if 0 <= row < shape[0]:
            out[int(row)] += values[place]
    return out


def test_scatter_adds() -> None:
    values = CHANCE.integers(-64, 64, (4, 3)) / 16
    where = np.array([2.0, 0.0, 2.0, 7.0])

    def function(V: Any, W: Any, T: Any) -> Any:
        rows = cast(W, "uint8")
        return scatter(V, rows, 5), scatter(V, rows, T), scatter(T, rows, 3, axis=-1)

    expected = [
        scattered(values, where, (5, 3)),
        scattered(values, where, (3, 3)),
        scattered(TABLE.T, where, (3, 3)).T,
    ]
    agreed(function, {"V": values, "W": where, "T": TABLE}, expected)


def test_scatter_over_two_axes_of_positions() -> None:
    values = CHANCE.integers(-64, 64, (2, 2, 3)) / 16

    def function(V: Any) -> Any:
        return scatter(V, np.array([[2, 0], [1, 2]]), 3)

    agreed(function, {"V": values}, [scattered(values, ROWS, (3, 3))])


TIES = np.array([[1.0, -2.0, 1.0, 0.5], [3.0, 3.0, -1.0, 3.0], [0.0, 0.25, 0.5, 0.75]])


def test_argsort() -> None:
    def function(X: Any) -> Any:
        return argsort(X), argsort(X, axis=0), argsort(X, descending=True)

    expected = [np.argsort(axis, axis=number, kind="stable") for axis, number in ((TIES, 1), (TIES, 0), (-TIES, 1))]
    agreed(function, {"X": TIES}, expected)


def test_argsort_is_stable_on_words_of_all_kinds() -> None:
    def function(X: Any) -> Any:
        return argsort(X), argsort(X, descending=True)

    given = np.array([-32.0, 31.9990234375, 0.0, -0.0009765625, 31.9990234375, -32.0, 0.0009765625, 0.0])
    for found in (evaluated(function, {"X": given}), in_words(function, {"X": given})):
        assert np.array_equal(found[0], np.argsort(given, kind="stable"))
        assert np.array_equal(found[1], np.argsort(-given, kind="stable"))


def test_topk() -> None:
    def function(X: Any) -> Any:
        return (*topk(X, 2), *topk(X, 3, axis=0))

    order, down = np.argsort(-TIES, axis=1, kind="stable")[:, :2], np.argsort(-TIES, axis=0, kind="stable")
    expected = [np.take_along_axis(TIES, order, 1), order, np.take_along_axis(TIES, down, 0), down]
    agreed(function, {"X": TIES}, expected)


def test_random_numbers() -> None:
    # The first numbers that the authors' C program gives for this seed.
    assert list(islice(splitmix(1234567), 3)) == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
    ]

    def function(X: Any) -> Any:
        return X + prng(5, [2, 3]), prng(5, 6), prng(6, [6])

    drawn = np.array([each >> 48 for each in islice(splitmix(5), 6)]) / 2**16
    other = np.array([each >> 48 for each in islice(splitmix(6), 6)]) / 2**16
    agreed(function, {"X": np.zeros((2, 3))}, [drawn.reshape(2, 3), drawn, other])


def test_random_numbers_are_even() -> None:
    def function() -> Any:
        return prng(99, [4, 4096])

    found = evaluated(function, {})[0]
    counts = Counter((found * 16).astype(int).ravel().tolist())
    assert found.min() >= 0 and found.max() < 1
    # Four deviations of a sixteenth of 16384 numbers.
    assert all(abs(counts[part] - 1024) < 4 * 31 for part in range(16))


@pytest.mark.parametrize(
    ("case", "message"),
    [
        ("axis", "axis 2 of a tensor of 2 dimensions"),
        ("count", "the 5 largest of 4 elements"),
        ("scatter", r"values of shape \(3, 4\) at positions of shape \(4,\)"),
        ("seed", "the seed 1.5 is not an integer"),
        ("single", "gather from a single value"),
    ],
)
def test_faults(case: str, message: str) -> None:
    def function(T: Any, W: Any) -> Any:
        match case:
            case "axis":
                return gather(T, W).axis(2)
            case "count":
                return topk(T, 5)
            case "scatter":
                return scatter(T, W, 3)
            case "seed":
                return prng(1.5, 3)  # type: ignore[arg-type]
            case _:
                return gather(2, W)

    with pytest.raises(TablaError, match=message) as caught:
        trace(function, {"T": (3, 4), "W": (4,)})
    assert caught.value.hint and caught.value.file == __file__
