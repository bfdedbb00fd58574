"""From which schedules changes go on, and what words on their way up the tree are spared."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.learning.problems import Problem
from tabla.driver import build
from tabla.schedule.compile import schedule_graph
from tabla.schedule.mapping.effort import DEFAULT_EFFORT, EFFORTS, Effort
from tabla.schedule.placing.schedule import Schedule
from tabla.templates.template import template_for
from tests.schedule.agreement import Q6_10, agree, shaped_graph

NETWORK = """
mu = 0.25;
model_input x[{n}]; model_output y[{m}]; model w[{h}][{n}]; model v[{m}][{h}];
gradient g[{h}][{n}] -> w; gradient p[{m}][{h}] -> v; iterator i[0:{n}]; iterator j[0:{h}]; iterator k[0:{m}];
h[j] = sigmoid(sum[i](w[j][i]*x[i]));
o[k] = sigmoid(sum[j](v[k][j]*h[j]));
e[k] = o[k] - y[k];
d[j] = sum[k](v[k][j]*e[k]);
p[k][j] = e[k]*h[j];
g[j][i] = d[j]*x[i];
"""


DEFAULT = EFFORTS[DEFAULT_EFFORT]


def cycles(sizes: tuple[int, int, int], pes: int, effort: Effort = DEFAULT) -> int:
    problem = Problem(kind="backprop", sizes=sizes)
    made = build(problem.file, problem.options(pes))
    return schedule_graph(made.graph, made.template, made.format, effort).cycles


@pytest.mark.slow
def test_changes_go_on_from_others_than_the_fastest() -> None:
    """A mapping that begins as the third or fourth may end as the first."""
    assert cycles((16, 16, 8), 4) < cycles((16, 16, 8), 4, replace(DEFAULT, starts=3))


@pytest.mark.slow
def test_starts_are_chosen_by_what_they_promise() -> None:
    """Features and classes cut, hidden words whole: slower than others until lanes take words as they are made."""
    assert cycles((16, 32, 16), 16) < cycles((16, 32, 16), 16, replace(DEFAULT, hastened=0))


@pytest.mark.parametrize("sizes", [pytest.param((8, 16, 3), marks=pytest.mark.slow), (5, 7, 4)])
def test_more_effort_is_never_slower_here(sizes: tuple[int, int, int]) -> None:
    """Each level looks at more mappings; all of them give schedules of the same words."""
    found = [cycles(sizes, 8, effort) for effort in EFFORTS[:3]]
    assert found == sorted(found, reverse=True)
    assert found[0] > found[-1]


def rising(schedule: Schedule) -> bool:
    """Whether a root takes a word from the tree and evaluates a function of it in one operation."""
    return any(
        s.unit == "root_issue" and s.body[0].field("base") == "tree" and s.body[0].field("function") and not s.reduce
        for s in schedule.strands
        if any(
            o.unit == "lane_issue" and o.comment == s.comment and o.body[0].field("up") and not o.reduce
            for o in schedule.strands
        )
    )


@pytest.mark.parametrize(("n", "h", "m", "whole"), [(4, 12, 8, True), (3, 8, 5, True), (4, 7, 5, False)])
def test_functions_of_words_as_they_come_up_the_tree(n: int, h: int, m: int, whole: bool) -> None:
    """No operation of its own, and no word on the way, where one strand of the lanes sends all words."""
    schedule = agree(shaped_graph(NETWORK.format(n=n, h=h, m=m)), template_for(4).with_roots(1), Q6_10)
    assert rising(schedule) == whole
