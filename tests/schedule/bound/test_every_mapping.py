"""The bound is at most the cycles of every mapping that the search judges, not only of the one that it chooses."""

from __future__ import annotations

from math import inf

from hypothesis import given
from hypothesis import strategies as st

from tabla.graph.graph import Graph
from tabla.schedule import bound
from tabla.schedule.compile import legal_graph
from tabla.schedule.mapping.effort import DEFAULT_EFFORT, EFFORTS
from tabla.schedule.mapping.judge import Figures
from tabla.schedule.mapping.mapping import Mapping
from tabla.schedule.mapping.search import Search
from tabla.schedule.mapping.stage import map_graph
from tabla.schedule.placing.build import judge_of
from tabla.templates.template import Template, template_for
from tests.draws import draws
from tests.languages.tabla.random_programs import programs
from tests.schedule.agreement import Q6_10, shaped_graph
from tests.schedule.bound.cases import case
from tests.schedule.bound.test_choices import BODIES, program

EFFORT = EFFORTS[DEFAULT_EFFORT]
MOST = 24
"""Mappings of one root that are proposed besides those that the search judges."""


def hold(graph: Graph, template: Template) -> int:
    """Hold both bounds against all mappings, each on its own array; return how many mappings there were."""
    legal, judge = legal_graph(graph, template, Q6_10), judge_of(graph, Q6_10)
    bounds: dict[Template, bound.Bound] = {}
    judged = 0

    def held(mapping: Mapping, _: float) -> Figures | None:
        nonlocal judged
        figures = judge(mapping, inf)
        if figures is not None:
            array = mapping.template
            if array not in bounds:
                bounds[array] = bound.full(graph, array, Q6_10)
                assert bound.quick(graph, array, Q6_10).cycles <= bounds[array].cycles
            assert bounds[array].cycles <= figures.cycles, mapping
            judged += 1
        return figures

    map_graph(graph, legal, template, Q6_10, judge=held, effort=EFFORT)
    one = template.with_roots(1).with_sequencers(max(1, template.sequencers))
    search = Search(legal, one)
    for mapping in (search.at_root(), *search.candidates(MOST)):
        held(mapping, inf)
    return judged


@draws(12, 25)
@given(programs(), st.sampled_from([1, 2, 3, 4, 8]))
def test_random_programs(text: str, pes: int) -> None:
    hold(shaped_graph(text), template_for(pes))


@draws(2, 10)
@given(
    st.integers(0, len(BODIES) - 1),
    st.sampled_from([1, 2, 3, 5, 8]),
    st.sampled_from([1, 2, 3, 6]),
    st.sampled_from([2, 4, 8]),
    st.sampled_from([0, 1, 2]),
)
def test_learning_programs_on_one_root_and_several(body: int, n: int, m: int, pes: int, roots: int) -> None:
    hold(program(body, n, m), template_for(pes).with_roots(roots))


@draws(10, 20)
@given(st.integers(0, 10_000))
def test_programs_that_the_solver_knows(seed: int) -> None:
    text, pes = case(seed)
    assert hold(shaped_graph(text), template_for(pes)) > 1
