"""Positions that indices alone decide are read where they lie: no word changes, and no gather is left."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabla.base.source import Source
from tabla.graph.evaluate import evaluate_fixed
from tabla.graph.format import Format
from tabla.graph.graph import Gather, Graph, Linear
from tabla.graph.passes.legalise.static_gathers import MOST_RANGES, static_gathers
from tabla.graph.passes.pipeline import run_passes
from tabla.graph.verify import verify
from tabla.languages.tc import parse
from tabla.languages.tc.bind import bind_sizes
from tabla.languages.tc.lower import lower
from tests.schedule.agreement import draw_words

Q6_10 = Format(integer=6, fraction=10)


def graph_of(text: str, **shapes: tuple[int, ...]) -> Graph:
    """Return the graph of a statement of Tensor Comprehensions on the tensors `shapes`, as it is before this pass."""
    inputs = ", ".join(f"float({','.join(map(str, shape))}) {name}" for name, shape in shapes.items())
    function = parse(Source.from_text(f"def f({inputs}) -> (y) {{ {text} }}", "f.tc")).function()
    return run_passes(lower(function, bind_sizes(function, shapes), number_format=Q6_10), Q6_10)


def gathers(graph: Graph) -> int:
    return sum(isinstance(statement.operation, Gather) for statement in graph.statements)


def rewritten(text: str, shapes: Mapping[str, tuple[int, ...]], seed: int = 1) -> Graph:
    """Return the graph after the pass, after comparing the words of its results with those of the graph before."""
    graph = graph_of(text, **shapes)
    assert gathers(graph)
    found = static_gathers(graph, Q6_10)
    verify(found)
    inputs, models = draw_words(graph, Q6_10, 2, seed)
    before, after = (evaluate_fixed(g, Q6_10, {n: w[0] for n, w in inputs.items()} | models) for g in (graph, found))
    for _, name in graph.results:
        np.testing.assert_array_equal(before.values[name], after.values[name])
    assert before.counts.overflows == after.counts.overflows
    return found


SPARSE = "y(o, h) +=! x(k % c, h + j) * w(o, k, j) where c in 1:{channels}"
RING = "y(o, i) +=! x(c, (i + k + {turn}) % {size}) * w(o, c, k) where i in 0:{size}"
EDGES = "y(o, i) +=! x(c, min(max(i + k - {turn}, 0), {size} - 1)) * w(o, c, k) where i in 0:{size}"


@settings(max_examples=25)
@given(st.integers(2, 6), st.integers(1, 8), st.integers(1, 3), st.integers(0, 99))
def test_channels_by_a_remainder(channels: int, kernels: int, taps: int, seed: int) -> None:
    shapes = {"x": (channels, 5), "w": (3, kernels, taps)}
    graph = graph_of(SPARSE.format(channels=channels), **shapes)
    if gathers(graph):  # else the remainder is affine for these sizes
        assert not gathers(rewritten(SPARSE.format(channels=channels), shapes, seed))


@settings(max_examples=25)
@given(st.sampled_from([RING, EDGES]), st.integers(4, 9), st.integers(2, 4), st.integers(1, 3), st.integers(0, 99))
def test_windows_that_go_round_or_stop_at_an_edge(text: str, size: int, taps: int, turn: int, seed: int) -> None:
    shapes = {"x": (2, size), "w": (3, 2, taps)}
    assert not gathers(rewritten(text.format(size=size, turn=turn), shapes, seed))


def test_the_points_of_a_sum_are_blocks_of_one_shape() -> None:
    """For each c in [1, 4) a block has two of the four kernels, because ``k % c`` is affine on two."""
    (statement,) = rewritten(SPARSE.format(channels=4), {"x": (4, 5), "w": (3, 4, 2)}).statements
    assert isinstance(statement.operation, Linear) and len(statement.operation.terms) == 6
    assert {index.name: index.extent for index in statement.reduced} == {"k": 2, "j": 2}
    assert {term.reduce for term in statement.operation.terms} == {("k", "j")}


def test_a_result_is_copied_in_ranges() -> None:
    graph = rewritten("y(i) = x((i + 2) % 6) where i in 0:6", {"x": (6,)})
    assert [[(i.low, i.high) for i in s.indices] for s in graph.statements] == [[(0, 4)], [(4, 6)]]


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        # A sum that no index can spread over lanes runs at the root, where the gather is faster.
        ("y(i) +=! x((i + k) % 6) * w(k) where i in 0:6", {"x": (6,), "w": (3,)}),
        # Each position is a range of its own.
        (f"y(i) = x(i * i % 97) where i in 0:{2 * MOST_RANGES + 4}", {"x": (97,)}),
    ],
)
def test_what_stays_a_gather(text: str, shapes: dict[str, tuple[int, ...]]) -> None:
    assert gathers(rewritten(text, shapes)) == 1
