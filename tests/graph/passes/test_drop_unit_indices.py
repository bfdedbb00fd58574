"""Indices of a single value go: no word changes, whatever constraints say, and a depthwise layer leaves the root."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabla.base.source import Source
from tabla.graph.evaluate import evaluate_fixed
from tabla.graph.format import Format
from tabla.graph.graph import Affine, Graph, Index, Linear, Read, Statement, Tensor, Term
from tabla.graph.passes.drop_unit_indices import drop_unit_indices
from tabla.graph.passes.pipeline import shaped
from tabla.graph.verify import verify
from tabla.languages.tc import parse
from tabla.languages.tc.lower import lower
from tabla.schedule.compile import schedule_graph
from tabla.schedule.mapping.effort import EFFORTS
from tabla.templates.template import template_for
from tests.schedule.agreement import agree

Q6_10 = Format(integer=6, fraction=10)
EXTENTS = st.integers(1, 3)
DEPTHWISE = "def f(float(C, H) x, float(C, G, K) w) -> (y) { y(c, h) +=! x(c + g, h + k) * w(c, g, k) }"


def indices_of(graph: Graph) -> set[int]:
    return {index.extent for statement in graph.statements for index in statement.box.values()}


def graph_of(text: str, **sizes: int) -> Graph:
    return lower(parse(Source.from_text(text)).function(), sizes, number_format=Q6_10)


def words_of(graph: Graph, seed: int) -> dict[str, Any]:
    random = np.random.default_rng(seed)
    given_names = [tensor for tensor in graph.tensors.values() if tensor.role in ("input", "model")]
    return {tensor.name: random.integers(-900, 900, tensor.shape) for tensor in given_names}


def same_words(before: Graph, after: Graph, seed: int = 0) -> None:
    verify(after)
    words = words_of(before, seed)
    for _, name in before.results:
        values = (evaluate_fixed(graph, Q6_10, words).values[name] for graph in (before, after))
        np.testing.assert_array_equal(*values)


@settings(max_examples=40)
@given(EXTENTS, EXTENTS, EXTENTS, EXTENTS, st.integers(0, 99))
def test_no_word_changes(rows: int, columns: int, taps: int, low: int, seed: int) -> None:
    texts = (
        "y(i, j) +=! x(i, j + k) * w(k) where i in 0:I, j in 0:J, k in 0:K",
        "y(i) min=! x(i, j) where i in 0:I, j in 0:J",
        "y(i, j) = x(i, j) * w(0) + j where i in 0:I, j in 0:J",
        "y(i) +=! x(i, j) where i in 0:I, j in 0:i + 1",
        "y(i, j) = x(i, j) + w(i % K) where i in 0:I, j in 0:J",
        "y(i) *=! x(i, j) where i in 0:I, j in 0:J",
    )
    sizes = {"I": rows, "J": columns, "K": taps, "P": max(columns + taps, rows + low)}
    for body in texts:
        graph = graph_of(f"def f(float(I, P) x, float(J, J) z, float(K) w) -> (y) {{ {body} }}", **sizes)
        dropped = drop_unit_indices(graph, Q6_10)
        same_words(graph, dropped, seed)


def test_a_depthwise_convolution_runs_in_the_lanes() -> None:
    graph = graph_of(DEPTHWISE, C=16, H=10, G=1, K=3)
    dropped = drop_unit_indices(graph, Q6_10)
    same_words(graph, dropped)
    assert 1 in indices_of(graph) and 1 not in indices_of(dropped)
    schedule = agree(shaped(graph, Q6_10), template_for(16), Q6_10)
    # 16 channels of 8 words with 3 products each, one lane a channel, and words in and out.
    assert schedule.cycles < 400
    assert schedule_graph(shaped(graph, Q6_10), template_for(1), Q6_10, EFFORTS[0]).cycles > schedule.cycles


def constrained(constraints: tuple[Affine, ...]) -> Graph:
    """Return ``y[i] = sum[k](x[k])`` over a single k and three i, under constraints."""
    sum_ = Linear(terms=(Term(factors=(Read(tensor="x", subscripts=(Affine.of(k=1),)),), reduce=("k",)),))
    statement = Statement(
        id=0,
        target="y",
        write=(Affine.of(i=1),),
        indices=(Index(name="i", low=0, high=3),),
        operation=sum_,
        reduced=(Index(name="k", low=1, high=2),),
        constraints=constraints,
    )
    tensors = {
        "x": Tensor(name="x", shape=(2,), role="input", origin="x"),
        "y": Tensor(name="y", shape=(3,), role="value", origin="y", filled=True),
    }
    return Graph(name="p", tensors=tensors, statements=(statement,), results=(("y", "y"),))


@pytest.mark.parametrize(
    ("constraint", "goes"),
    [
        (Affine.of(0, k=1), True),
        (Affine.of(-2, k=1), False),
        (Affine.of(-2, k=1, i=1), False),
        (Affine.of(-1, i=1), True),
    ],
)
def test_a_constraint_of_a_sum_does_not_become_one_of_the_output(constraint: Affine, goes: bool) -> None:
    """Where a point joins no sum, the sum is 0; where an output is left out, it keeps what it was."""
    graph = constrained((constraint,))
    dropped = drop_unit_indices(graph, Q6_10)
    assert ("k" not in dropped.statements[0].box) == goes
    same_words(graph, dropped)


def test_a_row_goes_on_over_the_bus_as_a_vector_does() -> None:
    """Three layers on a single row take the cycles that they take on a vector: words go to the lanes as they
    are made.
    """
    rows = """def f(float(N, I) x, float(H, I) v, float(O, H) w) -> (y) {
      a(n, j) +=! v(j, i) * x(n, i) h(n, j) = tanh(a(n, j)) y(n, o) +=! w(o, j) * h(n, j) }"""
    vector = """def f(float(I) x, float(H, I) v, float(O, H) w) -> (y) {
      a(j) +=! v(j, i) * x(i) h(j) = tanh(a(j)) y(o) +=! w(o, j) * h(j) }"""
    found = []
    for text, sizes in ((rows, {"N": 1}), (vector, {})):
        function = parse(Source.from_text(text)).function()
        graph = lower(function, {"I": 16, "H": 8, "O": 5, **sizes}, number_format=Q6_10, keep=("v", "w"))
        schedule = agree(shaped(graph, Q6_10), template_for(4), Q6_10)
        found.append((schedule.cycles, schedule.latency, schedule.microcode_words))
    assert found[0] == found[1]
