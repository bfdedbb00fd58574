"""Functions that are made of others: every word of 16-bit formats against numpy, the machine, and derivatives."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tabla
import tabla.tile as tile
from tabla.base.source import TablaError
from tabla.graph.format import Format
from tabla.languages.tile import trace
from tests.graph.error_bounds import error_bound
from tests.graph.runs import evaluate_float
from tests.languages.tile.lower.witnesses import agreed, graph_of, in_words
from tests.languages.tile.meaning import evaluate

Array = np.ndarray[Any, Any]
EXACT: dict[str, Callable[[Array], Array]] = {
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "erf": np.vectorize(math.erf),
    "erfc": np.vectorize(math.erfc),
    "floor": np.floor,
    "ceil": np.ceil,
}


def stated(name: str, fmt: Format) -> float:
    """The stated bounds, in units in the last place."""
    match name:
        case "floor" | "ceil":
            return 0.0
        case "erf" | "erfc":
            return error_bound("erf", fmt)
        case "sinh" | "cosh":
            return 2 * error_bound("exp", fmt) + 1
        case _:
            return 2.0


def called(name: str) -> Callable[[Any], Any]:
    def function(X: Any) -> Any:
        return getattr(tile, name)(X)

    return function


def words(fmt: Format) -> Array:
    if fmt.width <= 16:
        return np.arange(fmt.lowest, fmt.highest + 1) / fmt.one
    chance = np.random.default_rng(4)
    wild = chance.integers(fmt.lowest, fmt.highest + 1, 5000)
    return np.unique(np.append(wild >> chance.integers(0, fmt.width, wild.size), [fmt.lowest, fmt.highest])) / fmt.one


@pytest.mark.parametrize("text", ["q6.10", "q4.12", "q8.8", "q2.14", "q12.4", "q8.2", "q2.6", "q6.12"])
@pytest.mark.parametrize("name", sorted(EXACT))
def test_every_word_within_the_bound(name: str, text: str) -> None:
    fmt = Format.parse(text)
    given = words(fmt)
    if name in ("asin", "acos"):
        given = given[np.abs(given) <= 1]
    with np.errstate(over="ignore"):
        exact = EXACT[name](given)
    wanted = np.clip(exact, fmt.lowest / fmt.one, fmt.highest / fmt.one)
    found = in_words(called(name), {"X": given}, text)[0]
    assert np.abs(found - wanted).max() * fmt.one <= stated(name, fmt)


@pytest.mark.parametrize("text", ["q6.10", "q4.12", "q2.14", "q12.20"])
def test_the_tangent_is_one_of_an_argument_near_by(text: str) -> None:
    """Its error is at most a unit more than that of an argument which is off by 1.5 units, poles included."""
    fmt = Format.parse(text)
    given = words(fmt)
    given = given[np.abs(given) < 30]
    found = in_words(called("tan"), {"X": given}, text)[0]
    low, high = np.tan(given - 1.5 / fmt.one), np.tan(given + 1.5 / fmt.one)
    pole = low > high
    ends = fmt.lowest / fmt.one, fmt.highest / fmt.one
    inside = (np.clip(low, *ends) - 1 / fmt.one <= found) & (found <= np.clip(high, *ends) + 1 / fmt.one)
    assert (inside | pole).all()


def test_on_the_machine() -> None:
    names = [*sorted(EXACT), "tan"]

    def all_of_them(X: Any) -> Any:
        return tuple(getattr(tile, name)(X) for name in names)

    given = np.array([-1.0, -0.75, -0.125, 0.0, 0.5, 0.8125])
    expected = [EXACT[name](given) if name in EXACT else np.tan(given) for name in names]
    agreed(all_of_them, {"X": given}, expected, units=6)


@pytest.mark.slow
def test_in_hardware() -> None:
    """The tables of erf, atan and arc in the pipelines of the function unit, by Amaranth's simulator."""

    def function(X: Any) -> Any:
        bits = tile.cast(8 * X, "int8") & 5
        return tile.asin(X), tile.atan(3 * X), tile.erf(X), tile.sinh(X), tile.floor(2 * X), bits

    built = tabla.compile(function, shapes={"X": (4,)}, pes=2)
    given = {"X": np.array([[-0.75, -0.25, 0.5, 0.875], [0.125, 1.0, -1.0, 0.0]])}
    words = built.evaluate(given)
    simulated = built.simulate(given, engine="amaranth").arrays
    assert len(words) == 6
    for name, array in words.items():
        assert np.array_equal(simulated[name], array)


def test_outside_their_domain_they_saturate() -> None:
    given = np.array([-3.0, 2.0, 31.0])
    assert np.abs(in_words(called("asin"), {"X": given})[0] - [-np.pi / 2, np.pi / 2, np.pi / 2]).max() < 2**-10
    assert np.abs(in_words(called("acos"), {"X": given})[0] - [np.pi, 0, 0]).max() < 2**-10


@pytest.mark.parametrize("name", [*sorted(set(EXACT) - {"floor", "ceil"}), "tan"])
def test_the_graph_has_the_real_function(name: str) -> None:
    given = np.linspace(-0.99, 0.99, 23)
    graph = graph_of(called(name), {"X": given}, "q12.20")
    found = evaluate_float(graph, {"X": given}).values[graph.results[0][1]]
    wanted = EXACT[name](given) if name in EXACT else np.tan(given)
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("name", [*sorted(EXACT), "tan"])
def test_derivatives(name: str) -> None:
    def slope(X: Any) -> Any:
        total = tile.TensorOutput()
        i = tile.TensorIndex()
        total[()] += getattr(tile, name)(X)[i]
        return tile.gradient(total, [X])[0]

    given, step = np.array([-0.8, -0.3, 0.1, 0.55]), 1e-6
    exact = EXACT.get(name, np.tan)
    found = evaluate(trace(slope, {"X": given.shape}), {"X": given})["out0"]
    np.testing.assert_allclose(found, (exact(given + step) - exact(given - step)) / (2 * step), rtol=1e-6, atol=1e-9)


def test_the_derivatives_of_an_angle() -> None:
    """With respect to both coordinates, of which one is broadcast, in the tree and in the graph."""

    def slopes(Y: Any, X: Any) -> Any:
        total = tile.TensorOutput()
        i, j = tile.TensorIndex(), tile.TensorIndex()
        total[()] += tile.atan2(Y, X)[i, j]
        return tile.gradient(total, [Y, X])

    given = {"Y": np.array([[0.5], [-1.25], [2.0]]), "X": np.array([[0.75, -1.5]])}
    square = given["Y"] ** 2 + given["X"] ** 2
    wanted = [(given["X"] / square).sum(1, keepdims=True), (-given["Y"] / square).sum(0, keepdims=True)]
    shapes = {name: array.shape for name, array in given.items()}
    for found, exact in zip(evaluate(trace(slopes, shapes), given).values(), wanted, strict=True):
        np.testing.assert_allclose(found, exact, rtol=1e-12)
    for found, exact in zip(in_words(slopes, given, "q6.12"), wanted, strict=True):
        assert np.abs(found - exact).max() <= 6 / 2**12


def test_numbers_are_folded() -> None:
    def function(X: Any) -> Any:
        return X + tile.atan(1.0) + tile.floor(-0.5)

    assert len(graph_of(function, {"X": np.zeros(3)}).statements) == 1


def test_a_format_without_fraction_has_no_hyperbolic_functions() -> None:
    with pytest.raises(TablaError, match=r"sinh needs fraction bits, q8\.0 has none") as caught:
        graph_of(called("sinh"), {"X": np.zeros(3)}, "q8.0")
    assert caught.value.hint
