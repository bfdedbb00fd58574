"""Cuts between tap groups: which axes go together, what cannot be cut, and that the parts make the whole."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tabla.base.source import Source
from tabla.graph.format import Format
from tabla.graph.graph import Graph
from tabla.graph.passes.minibatch import minibatched
from tabla.languages.tabla import parse
from tabla.languages.tabla.lower import lower
from tabla.languages.tc import parse as parse_kernel
from tabla.languages.tc.lower import lower as lower_kernel
from tabla.schedule.compile import schedule_graph
from tabla.schedule.mapping.partition import cuts, partition
from tabla.templates.template import template_for
from tests.schedule.agreement import MANY_ROOTS, agree
from tests.schedule.bank import bank

Q6_10 = Format(integer=6, fraction=10)
TWO_LAYERS = """
mu = 0.3;
model_input x[6]; model_output y[4]; model w1[16][6], w2[4][16], v[16];
gradient g1[16][6] -> w1, g2[4][16] -> w2, gv[16] -> v;
iterator i[0:6]; iterator j[0:16]; iterator k[0:4];
h[j] = sigmoid(sum[i](w1[j][i] * x[i]) + v[j]);
o[k] = sigmoid(sum[j](w2[k][j] * h[j]) - 0.25);
d[k] = (o[k] - y[k]) * o[k] * (1 - o[k]);
b[j] = sum[k](w2[k][j] * d[k]) * h[j] * (1 - h[j]) * (j * 0.01);
g2[k][j] = d[k] * h[j];
g1[j][i] = b[j] * x[i];
gv[j] = b[j];
"""
NEURON = """
mu = 0.1;
model_input x[48]; model_output y; model w[48];
gradient g[48] -> w;
iterator i[0:48];
h = sum[i](w[i] * x[i]);
e = sigmoid(h) - y;
g[i] = e * x[i];
"""


def graph_of(text: str, *results: str) -> Graph:
    return lower(parse(Source.from_text(text)), number_format=Q6_10, results=results)


def named(graph: Graph, groups: int) -> list[set[str]]:
    """The tensors of each cut that have an axis cut."""
    return [{tensor for tensor, _ in cut.axes} for cut in cuts(graph, groups)]


def test_axes_that_an_index_joins_are_cut_together() -> None:
    graph = graph_of(TWO_LAYERS)
    cut = cuts(graph, 4)[0]
    assert {("w1", 0), ("w2", 1), ("h", 0), ("b", 0), ("v", 0), ("w1.next", 0), ("w2.next", 1)} <= cut.axes
    assert not {tensor for tensor, _ in cut.axes} & {"x", "y", "o", "d"}
    part = partition(graph, cut, 4)
    assert part.tensors["w1"].shape == (4, 6) and part.tensors["w1"].split == 0
    assert part.tensors["w2"].shape == (4, 4) and part.tensors["w2"].split == 1
    assert part.tensors["x"].shape == (6,) and part.tensors["x"].split == -1
    crossing = [s.target for s in part.statements if s.crosses]
    assert crossing == ["o.t1"], "only the sum over hidden units has terms in every group"


def test_what_does_not_divide_stays_whole() -> None:
    assert all("x" not in tensors for tensors in named(graph_of(TWO_LAYERS), 4)), "6 inputs in 4 groups"
    assert any("x" in tensors for tensors in named(graph_of(TWO_LAYERS), 2))
    assert any("h" in tensors for tensors in named(graph_of(TWO_LAYERS, "h"), 4)), "parts of results leave one by one"


CONVOLUTION = "def f(float(C,H) I, float(O,C,K) F) -> (Y) { Y(o,h) +=! I(c,h+k) * F(o,c,k) }"
SOFTMAX = """def f(float(N,D) x) -> (y, total, all) {
  top(n) max=! x(n,d)  e(n,d) = exp(x(n,d) - top(n))  total(n) +=! e(n,d)  y(n,d) = e(n,d) / total(n)
  all +=! total(n)
}"""
TWICE = "def f(float(N,D) x, float(D) w) -> (y, z) { y(n,d) = x(n,d) * w(d)  z(n) +=! y(n,d) * x(n,d) }"
ROWS = "def f(float(V,D) t, int32(N) at) -> (y) { y(n,d) = t(at(n), d) }"
PARTS = "def f(float(N,M) x) -> (y) { y(n,m) = x(n,m) * x(n,m) where m in 0:3  y(n,m) = x(n,m) where m in 3:M }"


@pytest.mark.parametrize("roots", [2, 4])
@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        (CONVOLUTION, {"C": 8, "H": 9, "O": 16, "K": 3}),
        (SOFTMAX, {"N": 8, "D": 6}),
        (TWICE, {"N": 12, "D": 5}),
        (ROWS, {"V": 6, "D": 5, "N": 8}),
        (PARTS, {"N": 8, "M": 7}),
    ],
    ids=["convolution", "softmax", "two results", "rows by number", "a result of two statements"],
)
def test_results_of_groups_leave_one_after_the_other(text: str, sizes: dict[str, int], roots: int) -> None:
    """Also beside results that all groups have, and such as are made faster than they can leave."""
    graph = lower_kernel(parse_kernel(Source.from_text(text)).function(), sizes, number_format=Q6_10)
    positions = {"at": np.arange(4 * 8).reshape(4, 8) % 6} if "at" in graph.tensors else None
    schedule = agree(graph, template_for(16).with_roots(roots), Q6_10, given=positions, effort=MANY_ROOTS)
    assert schedule.template.roots == roots and schedule.split_results


def test_shifted_and_diagonal_reads_are_not_cut() -> None:
    shifted = "mu=1; model_input x[9]; model w[8]; gradient g[8] -> w; iterator i[0:8]; g[i] = w[i] * x[i+1];"
    assert named(graph_of(shifted), 2) == []
    diagonal = "mu=1; model_input x[8][8]; model w[8]; gradient g[8] -> w; iterator i[0:8]; g[i] = w[i] * x[i][i];"
    assert named(graph_of(diagonal), 2) == []


@pytest.mark.parametrize(
    ("pes", "roots"),
    [(8, 2), (12, 4), *(pytest.param(*each, marks=pytest.mark.slow) for each in ((16, 4), (16, 2), (64, 16)))],
)
@pytest.mark.parametrize("text", [TWO_LAYERS, NEURON], ids=["two layers", "neuron"])
def test_groups_compute_what_one_array_does(text: str, pes: int, roots: int) -> None:
    schedule = agree(graph_of(text), template_for(pes).with_roots(roots), Q6_10, seed=pes, effort=MANY_ROOTS)
    assert schedule.template.roots == roots


def test_minibatches_in_groups() -> None:
    graph, template = minibatched(graph_of(TWO_LAYERS, "o"), 3), template_for(16).with_roots(2)
    schedule = agree(graph, template, Q6_10, effort=MANY_ROOTS)
    assert schedule.template.roots == 2


@pytest.mark.parametrize("stream_words", [1, *(pytest.param(words, marks=pytest.mark.slow) for words in (2, 8)), 64])
def test_words_find_their_group_at_any_width_of_the_stream(stream_words: int) -> None:
    template = replace(template_for(16), stream_words=stream_words).with_roots(4)
    assert agree(graph_of(TWO_LAYERS), template, Q6_10, effort=MANY_ROOTS).template.roots == 4


def test_a_second_root_must_pay() -> None:
    assert schedule_graph(graph_of(NEURON), template_for(64), Q6_10).template.roots == 1


def test_many_independent_parts_are_cut_in_no_time() -> None:
    """Sets of classes are not tried one by one: 2 to the power of 40 of them would not end."""
    graph = graph_of(bank(40))
    widest = cuts(graph, 4)[0]
    assert len(widest.axes) == sum(1 for tensor in graph.tensors.values() if tensor.shape)
