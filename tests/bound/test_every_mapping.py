"""The bound is at most the cycles of every candidate mapping, not only of the one that is chosen."""

from __future__ import annotations

from collections.abc import Iterator

from hypothesis import given, settings
from hypothesis import strategies as st
from tabla.templates.template import Template, template_for

from tabla import bound
from tabla.ir.graph import Graph
from tabla.mapping.partition import cuts, partition
from tabla.mapping.search import Search
from tabla.passes.legalise.materialise import Materialised, materialise
from tabla.schedule.build import schedule_mapping
from tabla.schedule.schedule import Schedule
from tests.bound.cases import case
from tests.bound.test_choices import BODIES, program
from tests.lang.tabla.random_programs import programs
from tests.schedule.agreement import Q6_10, shaped_graph

MOST = 24
"""Mappings of a program, the most promising by the search's estimate."""


def of_mappings(graph: Graph, part: Materialised, template: Template) -> Iterator[Schedule]:
    """Schedules of the mappings that the search proposes, and of the one that has everything at the root."""
    search = Search(part.graph, pes=template.lanes, sequencers=max(1, template.sequencers))
    for mapping in (search.at_root(), *search.candidates(MOST)):
        made = schedule_mapping(graph, part, mapping, template, Q6_10)
        if made is not None:
            yield made


def hold(graph: Graph, template: Template) -> int:
    """Hold the bounds of one array against all of its mappings; returns how many there were."""
    whole, found = materialise(graph, Q6_10), 0
    parts = [whole]
    if template.roots > 1:
        parts = [
            Materialised(graph=partition(whole.graph, cut, template.roots), words=whole.words)
            for cut in cuts(whole.graph, template.roots)[:3]
        ]
    quick, full = (law(graph, template, Q6_10) for law in (bound.quick, bound.full))
    assert quick.cycles <= full.cycles
    for part in parts:
        for schedule in of_mappings(graph, part, template):
            assert full.cycles <= schedule.cycles, schedule.mapping_text()
            assert full.terms["stream"] <= max(schedule.beats, schedule.outputs, 1)
            found += 1
    return found


@settings(max_examples=25, deadline=None)
@given(programs(), st.sampled_from([1, 2, 3, 4, 8]))
def test_random_programs(text: str, pes: int) -> None:
    hold(shaped_graph(text), template_for(pes).with_roots(1).with_sequencers(1))


@settings(max_examples=15, deadline=None)
@given(
    st.integers(0, len(BODIES) - 1),
    st.sampled_from([1, 2, 3, 5, 8]),
    st.sampled_from([1, 2, 3, 6]),
    st.sampled_from([2, 4, 8]),
    st.sampled_from([1, 2]),
)
def test_learning_programs_on_one_root_and_several(body: int, n: int, m: int, pes: int, roots: int) -> None:
    hold(program(body, n, m), template_for(pes).with_roots(roots).with_sequencers(1))


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000))
def test_programs_that_the_solver_knows(seed: int) -> None:
    text, pes = case(seed)
    assert hold(shaped_graph(text), template_for(pes).with_roots(1).with_sequencers(1)) > 1
