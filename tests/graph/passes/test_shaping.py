"""Chains made shorter: comparisons where the sum is made, choices after what is early; every word over all corners."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from tabla.base.source import Source
from tabla.graph.format import Format
from tabla.graph.graph import Compare, Graph, Linear
from tabla.graph.passes.pipeline import run_passes, shaped
from tabla.graph.text import graph_text
from tabla.languages.tabla import parse
from tabla.languages.tabla.lower import lower
from tabla.templates.template import template_for
from tests.graph.runs import run_fixed
from tests.schedule.agreement import agree

Q2_6 = Format(integer=2, fraction=6)
Q6_10 = Format(integer=6, fraction=10)
MARGIN = """
mu = 0.1;
model_input x[54]; model_output y; model w[54]; gradient g[54] -> w; iterator i[0:54];
h = sum[i](w[i] * x[i]);
e = (y*h < 1) * (0 - y);
g[i] = e * x[i];
"""


def graph_of(text: str, format: Format = Q6_10) -> Graph:
    return lower(parse(Source.from_text(text)), number_format=format)


def fused_tests(graph: Graph) -> list[str]:
    return [s.operation.test for s in graph.statements if isinstance(s.operation, Linear) and s.operation.test]


def comparisons(graph: Graph) -> int:
    return sum(isinstance(s.operation, Compare) for s in graph.statements)


def test_a_support_vector_machine_waits_for_one_product_and_one_choice() -> None:
    lines = [line.strip() for line in graph_text(shaped(graph_of(MARGIN), Q6_10)).splitlines()]
    assert [line for line in lines if " = " in line] == [
        "h = sum[i](w[i]*x[i])   for i in [0, 54)",
        "e.t2 = (y*h + (-1)) < 0",
        "w.next.t1.early1 = -y",
        "w.next.t1.early2 = 0.8*w.next.t1.early1",
        "w.next.t1 = e.t2*w.next.t1.early2",
        "w.next[i] = w[i] - w.next.t1*x[i]*2^-3   for i in [0, 54)",
    ]


@pytest.mark.parametrize("pes", [1, 2, 4, 64])
def test_on_the_machine(pes: int) -> None:
    """On one PE, both take 109 cycles, which is what the stream takes."""
    graph = graph_of(MARGIN)
    faster = agree(shaped(graph, Q6_10), template_for(pes), Q6_10, samples=8)
    slower = agree(run_passes(graph, Q6_10), template_for(pes), Q6_10)
    assert (faster.cycles, faster.latency) < (slower.cycles, slower.latency)
    assert faster.cycles < slower.cycles or pes == 1


@pytest.mark.parametrize("op", ["<", "<=", ">", ">="])
def test_a_test_is_the_comparison_for_all_words(op: str) -> None:
    """Products of all pairs of words of eight bits against corner constants; where no sum can tell, it stays."""
    words = np.arange(-128, 128)
    a, b = (m.ravel() for m in np.meshgrid(words, words))
    for constant in (-2.0, -127 / 64, -1.0, -1 / 64, 0.0, 1 / 64, 0.5, 126 / 64, 127 / 64):
        text = f"model_input a[65536], b[65536]; iterator i[0:65536]; c[i] = a[i]*b[i] {op} {constant:.6f};"
        graph = run_passes(graph_of(text, Q2_6), Q2_6)
        fused = shaped(graph, Q2_6)
        outside = (constant == -2 and op in ("<", ">=")) or (constant == 127 / 64 and op in ("<=", ">"))
        assert len(fused_tests(fused)) == (not outside) and comparisons(fused) == outside
        inputs = {"a": a[None], "b": b[None]}
        before, after = (run_fixed(g, Q2_6, inputs, {}, keep=["c"], count=1).kept["c"] for g in (graph, fused))
        assert np.array_equal(before, after)
        assert 0 < np.count_nonzero(after) < 65536 or constant in (-2, 127 / 64)


def test_a_choice_is_the_same_before_and_after_a_product() -> None:
    """All words z, halves and saturation among the products, chosen and not."""
    for rate, minus in product((-1.984375, -0.5, 0.25, 0.796875, 1.5), ("", "0 -")):
        text = f"model_input s, z; h = s*s; c = h*h > 0.25; e = c * ({minus} z); p = {rate} * e;"
        graph = run_passes(graph_of(text, Q2_6), Q2_6)
        late = shaped(graph, Q2_6)
        assert any(".early" in name for name in late.tensors)
        s, z = (m.ravel() for m in np.meshgrid([0, 64], np.arange(-128, 128)))
        inputs = {"s": s, "z": z}
        before, after = (run_fixed(g, Q2_6, inputs, {}, keep=["p"], count=512).kept["p"] for g in (graph, late))
        assert np.array_equal(before, after)
        assert np.count_nonzero(after) > 100


@pytest.mark.parametrize(
    ("text", "count"),
    [
        # In lanes, over a sum of rows, and through the tree.
        ("model_input a[40], b[40]; iterator i[0:40]; c[i] = a[i]*b[i] - b[i] >= 0.25;", 1),
        ("model_input a[8][20]; model w[20]; iterator i[0:8]; iterator j[0:20]; c[i] = sum[j](a[i][j]*w[j]) > 0;", 1),
        ("model_input a[64]; model w[64]; iterator i[0:64]; c = 0.5 < sum[i](a[i]*w[i]);", 1),
        # Others read the sum, it is a result, or it is compared with a word.
        ("model_input a, b; t = a*b; c = t < 1; d = t + c;", 0),
        ("model_input a, b; c = a*b < b;", 0),
        ("model_input a, b; c = a*b == 1;", 0),
        # A part of the elements, and each element twice.
        ("model_input a[8], b[8]; iterator i[0:8]; iterator j[2:6]; t[i] = a[i]*b[i]; c[j] = t[j] < 1;", 1),
        ("model_input a[8]; iterator i[0:8]; iterator j[0:3]; t[i] = a[i]*a[i]; c[i][j] = t[i] < 1;", 0),
    ],
)
def test_where_comparisons_are_fused(text: str, count: int) -> None:
    graph = shaped(graph_of(text), Q6_10)
    assert len(fused_tests(graph)) == count
    for pes in (1, 4, 16):
        agree(graph, template_for(pes), Q6_10)


@pytest.mark.parametrize("function", ["sigmoid", "tanh", "gaussian"])
def test_a_complement_multiplied_out_is_the_same_for_all_words(function: str) -> None:
    """Products of all words of eight bits with 1 minus a bounded value; where 3 is no word, the complement stays."""
    words = np.arange(-128, 128)
    x, s = (m.ravel() for m in np.meshgrid(words, words))
    text = (
        "model_input x[65536], s[65536]; iterator i[0:65536];"
        f"o[i] = {function if function != 'tanh' else 'sig_sym'}(s[i]); p[i] = x[i] * (1 - o[i]);"
    )
    for format, count in ((Format(integer=4, fraction=4), 2), (Q2_6, 3)):
        graph = run_passes(graph_of(text, format), format)
        out = shaped(graph, format)
        assert (len(graph.statements), len(out.statements)) == (3, count)
        inputs = {"x": x[None], "s": s[None]}
        before, after = (run_fixed(g, format, inputs, {}, keep=["p"], count=1).kept["p"] for g in (graph, out))
        assert np.array_equal(before, after) and np.count_nonzero(after) > 10_000
