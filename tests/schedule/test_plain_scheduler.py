"""The plain scheduler: its schedules pass the checker and compute the right words, whatever the mapping."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabla.build.options import Options
from tabla.driver import build
from tabla.examples.catalogue import EXAMPLES
from tabla.graph.graph import Graph
from tabla.schedule.bound import full
from tabla.schedule.check import ScheduleFault, check
from tabla.schedule.compile import best_mapping, checked_schedule, legal_graph, schedule_graph
from tabla.schedule.mapping.changes import at_hand, in_waves
from tabla.schedule.mapping.effort import EFFORTS
from tabla.schedule.mapping.mapping import Mapping
from tabla.schedule.mapping.search import Search
from tabla.schedule.placing.build import schedule_mapping
from tabla.schedule.placing.placed import Placed
from tabla.schedule.placing.plain_scheduler import plain_schedule
from tabla.schedule.strands.tasks import MemoryKey, Task
from tabla.templates.template import Template, template_for
from tests.languages.tabla.random_programs import programs
from tests.schedule.agreement import Q6_10, agree_on, shaped_graph

QUICK = EFFORTS[0]
NETWORK = """
model_input x[5]; model_output y[4]; model w[8][5]; model v[4][8]; gradient g[8][5] -> w; gradient f[4][8] -> v;
iterator i[0:5]; iterator j[0:8]; iterator k[0:4];
h[j] = sigmoid(sum[i](w[j][i]*x[i])); o[k] = sum[j](v[k][j]*h[j]) - y[k];
f[k][j] = o[k]*h[j]; g[j][i] = h[j]*x[i];
"""
RECOMMENDER = """
model_input x[10]; model_input r[12]; model_output y[12]; model w[12][10]; gradient g[12][10] -> w;
iterator i[0:12]; iterator l[0:10];
e[i] = sum[l](w[i][l] * x[l]) * r[i] - y[i];
g[i][l] = e[i] * x[l];
"""


def array(pes: int, sequencers: int = 1) -> Template:
    return template_for(pes).with_roots(1).with_sequencers(sequencers)


def mapped(graph: Graph, template: Template) -> Mapping:
    return best_mapping(graph, legal_graph(graph, template, Q6_10), template, Q6_10, QUICK)


@settings(max_examples=80)
@given(
    st.booleans().flatmap(lambda learns: programs(learns=learns)),
    st.sampled_from([(1, 1), (2, 1), (4, 1), (5, 1), (4, 2)]),
    st.integers(0, 2**20),
)
def test_random_programs(text: str, size: tuple[int, int], seed: int) -> None:
    graph, template = shaped_graph(text), array(*size)
    schedule = checked_schedule(graph, mapped(graph, template), template, Q6_10, scheduler=plain_schedule)
    agree_on(schedule, seed=seed)
    assert schedule.cycles >= full(graph, schedule.template, Q6_10).cycles


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_list_scheduler_is_faster_on_the_examples(name: str) -> None:
    graph = build(EXAMPLES[name].program, Options(pes=4)).graph
    mapping = mapped(graph, array(4))
    plain = checked_schedule(graph, mapping, array(4), Q6_10, scheduler=plain_schedule)
    agree_on(plain, samples=2)
    assert plain.cycles >= checked_schedule(graph, mapping, array(4), Q6_10).cycles


def test_the_list_scheduler_is_not_always_faster() -> None:
    """The longest path first is a good rule and no law: here it ends a sample one cycle later."""
    graph = shaped_graph(
        "iterator i[0:3]; model_input x; model w; model v[3][1]; gradient g -> w; gradient f -> v;"
        "g = x * 2; f[i][0] = w;"
    )
    at_root = Search(legal_graph(graph, array(1), Q6_10), array(1)).at_root()
    plain = checked_schedule(graph, at_root, array(1), Q6_10, scheduler=plain_schedule)
    agree_on(plain)
    assert plain.cycles == checked_schedule(graph, at_root, array(1), Q6_10).cycles - 1


def test_parts_of_statements_in_waves() -> None:
    """Parts that the list scheduler would take in turns are tasks like any other, in the order of the program."""
    graph, template = shaped_graph(RECOMMENDER), array(4)
    candidates = Search(legal_graph(graph, template, Q6_10), template).candidates(8)
    start = at_hand(next(m for m in candidates if all(fit.way == "lane" for fit in m.fits)))
    waves = list(in_waves(start, EFFORTS[2]))
    assert waves
    for mapping in waves:
        schedule = schedule_mapping(graph, mapping, Q6_10, scheduler=plain_schedule)
        assert schedule is not None
        check(schedule)
        agree_on(schedule, samples=2)


def test_the_search_judges_by_the_scheduler_that_it_is_given() -> None:
    graph, seen = shaped_graph(NETWORK), list[int]()

    def counted(
        tasks: Sequence[Task], models: frozenset[MemoryKey], *, sequencers: int, waves: bool = False
    ) -> list[Placed] | None:
        seen.append(len(tasks))
        return plain_schedule(tasks, models, sequencers=sequencers, waves=waves)

    found = schedule_graph(graph, array(4), Q6_10, QUICK, scheduler=counted)
    agree_on(found, samples=2)
    # Three candidates at most, and the one that is returned once more.
    assert 2 <= len(seen) <= 1 + QUICK.candidates + QUICK.fused


def test_a_scheduler_that_finds_nothing_is_at_fault() -> None:
    graph = shaped_graph(NETWORK)

    def idle(
        tasks: Sequence[Task], models: frozenset[MemoryKey], *, sequencers: int, waves: bool = False
    ) -> list[Placed] | None:
        return None

    with pytest.raises(ScheduleFault, match="found no schedule"):
        checked_schedule(graph, mapped(graph, array(4)), array(4), Q6_10, scheduler=idle)
