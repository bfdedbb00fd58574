"""The words that must pass the borders: those that statements read, whatever the mapping."""

from __future__ import annotations

from dataclasses import replace
from inspect import signature

import pytest

from tabla.build.options import Options
from tabla.driver import Build, build
from tabla.graph.graph import Graph
from tabla.schedule import bound
from tabla.schedule.bound import stream
from tabla.templates.template import Template, template_for
from tests.schedule.agreement import Q6_10, shaped_graph

QUADRATIC = "def f(float(N,N) A, float(N) x) -> (o) { t(i) +=! A(i,j)*x(j)  o +=! t(i)*x(i) }"
BOTH_ENDS = "def f(float(N) x, float(N) y) -> (o,p) { o +=! x(i)*y(i)  p +=! x(i)*y(N-1-i) }"
CHOSEN = "def f(float(N) x, int32(M) at) -> (o) { o(i) = x(at(i)) where i in 0:M }"


def kernel(tmp_path_factory: pytest.TempPathFactory, text: str, **sizes: int) -> Build:
    """A kernel at some sizes on 16 PEs."""
    file = tmp_path_factory.mktemp("kernel") / "f.tc"
    file.write_text(text, encoding="utf-8")
    return build(file, Options(pes=16, sizes=sizes))


def of_inputs(text: str) -> int:
    """The words that a sample of a program needs."""
    return stream.words_in(shaped_graph(text), Q6_10)


@pytest.mark.parametrize(("text", "size", "most"), [(QUADRATIC, 16, 17), (BOTH_ENDS, 64, 8)])
def test_the_widest_beat_counts_and_not_the_layout(
    tmp_path_factory: pytest.TempPathFactory, text: str, size: int, most: int
) -> None:
    """Both kernels were once said to need the beats of the mapping that was chosen: 33, and 128."""
    made = kernel(tmp_path_factory, text, N=size)
    assert made.bound.terms["stream"] == most <= made.schedule.cycles
    full = bound.full(made.graph, made.schedule.template, made.format)
    assert full.terms["stream"] == most


def test_a_narrow_stream_and_few_lanes() -> None:
    graph = shaped_graph("model_input x[60]; model w; gradient g -> w; iterator i[0:60]; g = sum[i](x[i]);")

    def beats(template: Template) -> int:
        return stream.beats(graph, template, Q6_10)

    assert beats(template_for(16)) == 4
    assert beats(template_for(12)) == 5  # a beat of 16 words brings 12 lanes 12 of them
    assert beats(replace(template_for(16), stream_words=4)) == 15
    assert beats(replace(template_for(4), stream_words=16)) == 15


HEAD = "model_input x[8]; model_input z[4][4]; model_output y[3]; model w[8]; gradient g[8] -> w; iterator i[0:8];"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("g[i] = x[i]*w[i];", 8),
        ("g[i] = x[i]*w[i] + y[1];", 8 + 1),
        ("iterator j[0:5]; g[j] = x[j]*w[j];", 5),
        ("iterator j[0:5]; iterator k[3:8]; g[j] = x[j]*w[j]; h = sum[k](x[k]); g[7] = h;", 8),
        ("iterator j[0:4]; g[j] = z[j][j]*w[j];", 4),
        ("iterator j[0:4]; iterator k[0:2]; g[j] = sum[k](z[j][k])*w[j];", 8),
        ("iterator j[0:2]; iterator k[0:3]; g[j] = sum[k](x[2*j+k]);", 5),
        ("g[i] = w[i];", 0),
    ],
)
def test_elements_that_are_read(text: str, words: int) -> None:
    assert of_inputs(HEAD + text) == words


def test_data_may_choose_any_word(tmp_path_factory: pytest.TempPathFactory) -> None:
    made = kernel(tmp_path_factory, CHOSEN, N=20, M=3)
    assert stream.words_in(made.graph, made.format) == 20 + 3


def test_words_out_count_once() -> None:
    graph = shaped_graph(HEAD + "g[i] = x[i]*w[i];")
    both = replace(graph, results=(("a", "x"), ("b", "x"), ("c", "y")))
    assert stream.words_out(both) == 8 + 3


@pytest.mark.parametrize("law", [bound.quick, bound.full])
def test_nothing_but_graph_template_and_format(law: object) -> None:
    assert callable(law)
    assert list(signature(law).parameters) == ["graph", "template", "format"]


def test_the_same_graph_gives_the_same_bound() -> None:
    """A schedule has no say: the bound of a graph is there before any mapping is."""
    graph: Graph = shaped_graph(HEAD + "g[i] = (x[i]*w[i] - y[0])*x[i];")
    first = bound.full(graph, template_for(4), Q6_10)
    assert bound.full(graph, template_for(4), Q6_10) == first
    assert first.cycles >= bound.quick(graph, template_for(4), Q6_10).cycles
