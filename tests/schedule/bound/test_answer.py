"""The plain path: no schedule of any mapping answers sooner, some answer as soon, and two paths are counted by hand."""

from __future__ import annotations

from math import inf

from hypothesis import given, settings
from hypothesis import strategies as st

import tabla
from benchmarks.kernels.problems import kernels
from tabla.graph.graph import Graph
from tabla.schedule.bound.answer import plain_path
from tabla.schedule.compile import legal_graph
from tabla.schedule.mapping.effort import effort_of
from tabla.schedule.mapping.judge import Figures
from tabla.schedule.mapping.mapping import Mapping
from tabla.schedule.mapping.stage import map_graph
from tabla.schedule.placing.build import judge_of
from tabla.templates.template import Template, template_for, timing
from tests.languages.tabla.random_programs import programs
from tests.schedule.agreement import Q6_10, shaped_graph
from tests.schedule.bound.test_choices import BODIES, program

Judged = tuple[int, int | None]
"""The latency of a mapping, and the plain path on its array."""


def hold(graph: Graph, template: Template, level: int) -> tuple[int, int | None]:
    """Hold the plain path against the latency of every mapping that a search judges, each on its own array.

    Return the least latency, and the path on the array of that mapping.
    """
    judge, paths, least = judge_of(graph, Q6_10, objective="latency"), dict[Template, int | None](), list[Judged]()

    def held(mapping: Mapping, _: float) -> Figures | None:
        figures = judge(mapping, inf)
        if figures is not None:
            array = mapping.template
            if array not in paths:
                paths[array] = plain_path(graph, array, Q6_10)
            path = paths[array]
            assert path is None or path <= figures.latency, mapping.text()
            least.append((figures.latency, path))
        return figures

    legal, effort = legal_graph(graph, template, Q6_10), effort_of(level, "latency")
    map_graph(graph, legal, template, Q6_10, judge=held, effort=effort)
    return min(least, key=lambda each: each[0])


@settings(max_examples=40, deadline=None)
@given(st.booleans().flatmap(lambda learns: programs(learns=learns)), st.sampled_from([1, 2, 3, 4, 8, 16]))
def test_random_programs(text: str, pes: int) -> None:
    hold(shaped_graph(text), template_for(pes), 1)


@settings(max_examples=6, deadline=None)
@given(
    st.integers(0, len(BODIES) - 1),
    st.sampled_from([1, 2, 3, 5, 8, 13, 16, 24]),
    st.sampled_from([1, 2, 3, 6, 12]),
    st.sampled_from([1, 2, 4, 8, 16, 32]),
)
def test_programs_with_three_models(body: int, n: int, m: int, pes: int) -> None:
    hold(program(body, n, m), template_for(pes), 1)


def path(text: str, pes: int) -> int:
    """Return the plain path on an array with one root, without the beats in and the sequencer's front."""
    found = plain_path(shaped_graph(text), template_for(pes).with_roots(1), Q6_10)
    assert found is not None
    return found - timing().ready - timing().front


def test_one_product_is_counted_by_hand() -> None:
    """Two words come in one beat. An operation takes seven cycles to its result, and 3 more to the port."""
    assert path("model_input a, b; y = a * b;", 8) == 7 + timing().broadcast + 1


def test_a_sum_and_its_functions_are_counted_by_hand() -> None:
    """16 words come in four beats of four; the root takes their exponentials one by one, and adds them as they come.

    A function takes the result of an operation. Four words come in one beat, and their sum waits for four
    exponentials. The last of 16 comes 12 cycles after the fourth.
    """
    text = "model_input x[16]; iterator i[0:16]; e[i] = exp(x[i]); y = sum[i](e[i]);"
    four = text.replace("16", "4")
    assert path(text, 4) == path(four, 4) + 3 + 12


def test_an_update_of_each_word_takes_the_plain_path() -> None:
    text = "model_input x[64]; model w[64]; gradient g[64] -> w; iterator i[0:64]; g[i] = x[i];"
    latency, least = hold(shaped_graph(text), template_for(4), 1)
    assert latency == least == 56


def test_a_product_of_matrices_takes_the_plain_path() -> None:
    kernel = next(kernel for kernel in kernels() if kernel.name == "matmul 16, B on chip")
    made = tabla.compile(kernel.path, sizes=kernel.sizes, keep=kernel.keep, objective="latency")
    assert made.schedule.latency == plain_path(made.graph, made.schedule.template, made.format) == 304


def test_programs_with_constraints_have_none() -> None:
    kernel = next(kernel for kernel in kernels() if kernel.file == "cumsum.tc")
    made = tabla.compile(kernel.path, sizes={"N": 8}, pes=4, effort=0)
    assert plain_path(made.graph, made.schedule.template, made.format) is None
