"""The bound by circuits with work on them: by hand for one neuron, and never above what schedules take."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabla.graph.graph import Graph
from tabla.schedule import bound
from tabla.schedule.compile import schedule_graph
from tabla.templates.template import template_for, timing
from tests.draws import draws
from tests.schedule.agreement import Q6_10, shaped_graph

NEURON = """
mu = {rate}; m = {features};
model_input x[m]; model_output y; model w[m]; gradient g[m] -> w; iterator i[0:m];
h = {head}(sum[i](w[i] * x[i]));
e = h - y;
g[i] = e * x[i];
"""


def neuron(features: int, *, rate: float = 0.1, head: str = "") -> Graph:
    text = NEURON.format(features=features, rate=rate, head=head)
    return shaped_graph(text)


@pytest.mark.parametrize("features", [784, 8000])
@pytest.mark.parametrize("pes", [16, 64, 128])
def test_a_neuron_by_hand(features: int, pes: int) -> None:
    laws = timing()
    step = laws.multiply + laws.accumulate + laws.round
    # From h to mu * (h - y), two operations, of which the difference takes h a cycle late; then the update and the
    # next sum, both all over the lanes.
    levels = (pes - 1).bit_length()
    away = laws.broadcast + 1 + levels * laws.tree_level
    # Each of the two is too much for the root, so all products are the lanes' work, in rows of their own.
    rows = -(-features // pes)
    both = 2 * rows + away
    half = rows + away + laws.result + 1
    issue = max(both, half)
    schedule = schedule_graph(neuron(features), template_for(pes).with_roots(1), Q6_10)
    found = bound.full(schedule.graph, schedule.template, Q6_10)
    assert found.terms["path"] == 2 * step - 1 + issue - 1 + step
    assert found.cycles <= schedule.cycles <= 1.05 * found.cycles


def test_updates_come_before_the_sum_that_reads_them() -> None:
    """55 features on 16 PEs, four rows: the first word takes 8 cycles from its update to the sum, three more follow."""
    schedule = schedule_graph(neuron(55), template_for(16), Q6_10)
    away = 3 + 1 + 4
    # Four updates begin 8 cycles before the four products of the sum, in lanes that hear of the root `away` later.
    path = bound.full(schedule.graph, schedule.template, Q6_10).terms["path"]
    assert path == 5 - 1 + 5 + away + (8 + 4) - 1 + 5 == 33
    assert schedule.cycles == 33


def test_few_features_wait_for_each_other() -> None:
    """55 features on 64 PEs: bus, update, memory, sum, tree, and two operations at the root: nothing can be saved."""
    schedule = schedule_graph(neuron(55), template_for(64).with_roots(1), Q6_10)
    assert schedule.cycles == bound.full(schedule.graph, schedule.template, Q6_10).cycles == 32


@draws(20, 60)
@given(
    st.integers(1, 300),
    st.sampled_from([0.1, 0.5, 1]),
    st.sampled_from(["", "sigmoid", "tanh"]),
    st.sampled_from([1, 2, 3, 4, 8, 16, 64]),
)
def test_no_schedule_is_below(features: int, rate: float, head: str, pes: int) -> None:
    schedule = schedule_graph(neuron(features, rate=rate, head=head), template_for(pes), Q6_10)
    assert bound.full(schedule.graph, schedule.template, Q6_10).cycles <= schedule.cycles


def test_a_model_that_is_updated_in_part_ties_nothing() -> None:
    text = """
    model_input x[64]; model_output y; model w[64]; gradient g[64] -> w; iterator i[0:64]; iterator j[0:32];
    h = sum[i](w[i] * x[i]); e = h - y; g[j] = e * x[j];
    """
    graph = shaped_graph(text)
    schedule = schedule_graph(graph, template_for(4), Q6_10)
    assert bound.full(schedule.graph, schedule.template, Q6_10).cycles < schedule.cycles
