"""Ranges of integers whose positions lie in their tensors: proven, wide, and nearest where nothing is proven."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabla.build.options import Options
from tabla.driver import build
from tabla.graph.evaluate import evaluate_fixed
from tabla.graph.format import Format
from tabla.graph.graph import Affine, Gather, Gathered, Graph
from tabla.graph.positions import valid_positions
from tests.graph.examples import Builder, at

Q6_10 = Format.parse("q6.10")


def looked_up(extent: int, offset: Affine, count: int = 3) -> Graph:
    """y[i] = x[p[i] + offset]."""
    b = Builder()
    b.tensor("p", "input", count)
    b.tensor("x", "input", extent)
    b.tensor("y", "value", count)
    b.let("y", "i", Gather(tensor="x", subscripts=(Gathered(table=at("p", "i"), offset=offset),)), i=count)
    return b.graph("looked_up", {}, (("y", "y"),))


@given(st.integers(1, 300), st.integers(-5000, 5000), st.integers(0, 3), st.integers(1, 4))
def test_the_widest_range_is_found(extent: int, constant: int, stride: int, count: int) -> None:
    graph = looked_up(extent, Affine.of(constant, i=stride), count)
    low, high = -constant, extent - 1 - constant - stride * (count - 1)
    if low <= high:
        assert valid_positions(graph, {"p"}, Q6_10) == {"p": (low, high)}
    else:
        # No integer is valid for all elements. The nearest ones miss by the same sum.
        [(found, same)] = valid_positions(graph, {"p"}, Q6_10).values()
        assert found == same and high <= found <= low


def test_integers_that_no_position_depends_on_are_zero() -> None:
    graph = looked_up(5, Affine.of(-1))
    assert valid_positions(graph, {"p", "x"}, Q6_10) == {"p": (1, 5), "x": (0, 0)}


def test_positions_that_no_word_gives() -> None:
    assert valid_positions(looked_up(4, Affine.of(-40_000)), {"p"}, Q6_10) == {"p": (32767, 32767)}


def test_two_tables_share_the_room(tmp_path: Path) -> None:
    text = "def f(float(E,F) T, int32(N) I, int32(N) J) -> (O) { O(i) = T(2 * I(i) - J(i), J(i) + 3) where i in 0:N }"
    path = tmp_path / "f.tc"
    path.write_text(text)
    made = build(path, Options(sizes={"E": 5, "F": 4, "N": 3}))
    ranges = valid_positions(made.lowered, made.reading.integers, made.format)
    assert all(low <= high for low, high in ranges.values())
    for i, j in itertools.product(ranges["I"], ranges["J"]):
        assert 0 <= 2 * i - j < 5 and 0 <= j + 3 < 4
        words = {"T": np.zeros((5, 4), int), "I": np.full(3, i), "J": np.full(3, j)}
        evaluate_fixed(made.lowered, made.format, words, {})


@pytest.mark.parametrize("offset", [Affine.of(4), Affine.of(-7), Affine.of(2, i=5), Affine.of(0, i=-3)])
def test_the_search_ends_for_every_offset(offset: Affine) -> None:
    graph = looked_up(4, offset)
    assert valid_positions(graph, {"p"}, replace(Q6_10, integer=2, fraction=6))
