"""How lanes and roots may share multiplies: by hand, against every choice, and never above what schedules take."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabla.graph.graph import Graph
from tabla.graph.operations import zero_or_one
from tabla.graph.work import multiplies
from tabla.schedule.bound import full, quick
from tabla.schedule.bound.shares import issue_cycles
from tabla.schedule.compile import schedule_graph
from tabla.templates.template import template_for
from tests.draws import draws
from tests.schedule.agreement import Q6_10, shaped_graph

LAYER = """
model_input x[{n}]; model_output y[{m}]; model w[{m}][{n}]; gradient g[{m}][{n}] -> w;
iterator i[0:{n}]; iterator j[0:{m}];
h[j] = sum[i](w[j][i] * x[i]);
e[j] = h[j] - y[j];
g[j][i] = e[j] * x[i];
"""
NETWORK = """
model_input x[{n}]; model_output y[{k}]; model w1[{m}][{n}]; model w2[{k}][{m}];
gradient g1[{m}][{n}] -> w1; gradient g2[{k}][{m}] -> w2;
iterator a[0:{n}]; iterator b[0:{m}]; iterator c[0:{k}];
h[b] = sum[a](w1[b][a] * x[a]);
o[c] = sum[b](w2[c][b] * h[b]);
e[c] = o[c] - y[c];
d[b] = sum[c](w2[c][b] * e[c]);
g1[b][a] = d[b] * x[a];
g2[c][b] = e[c] * h[b];
"""


def layer(n: int, m: int) -> Graph:
    return shaped_graph(LAYER.format(n=n, m=m))


def network(n: int, m: int, k: int) -> Graph:
    return shaped_graph(NETWORK.format(n=n, m=m, k=k))


def work(graph: Graph, pes: int, roots: int, *, sequencers: int = 1) -> int:
    template = template_for(pes).with_roots(roots).with_sequencers(sequencers)
    return quick(graph, template, Q6_10).terms["multiplies"]


@pytest.mark.parametrize(
    "terms, cycles",
    [
        ([], 0),
        ([1], 1),
        ([17], 2),  # all in lanes: one root would take 17
        ([16, 1], 1),
        ([160, 10], 10),
        ([160, 11], 11),  # 171 / 17 is 10.06
        ([161, 10], 11),
        ([160, 160], 20),  # no part of either is the root's
    ],
)
def test_by_hand(terms: list[int], cycles: int) -> None:
    assert issue_cycles(terms, 16, 1) == cycles


def test_idle_units_need_longer() -> None:
    assert issue_cycles([160], 16, 1, lanes_idle=5) == 15
    assert issue_cycles([16, 8], 16, 1, roots_idle=8) == 2
    assert issue_cycles([16, 8], 16, 1, lanes_idle=8) == 9


@settings(max_examples=200)
@given(
    st.lists(st.integers(1, 400), max_size=7),
    st.sampled_from([1, 2, 4, 16]),
    st.sampled_from([1, 2, 4]),
    st.integers(0, 9),
    st.integers(0, 9),
)
def test_no_choice_takes_fewer(terms: list[int], lanes: int, roots: int, lanes_idle: int, roots_idle: int) -> None:
    found = issue_cycles(terms, lanes, roots, lanes_idle=lanes_idle, roots_idle=roots_idle)
    fewest = min(
        max(
            lanes_idle + -(-sum(n for n, root in zip(terms, choice, strict=True) if not root) // lanes),
            roots_idle + -(-sum(n for n, root in zip(terms, choice, strict=True) if root) // roots),
        )
        for choice in product([False, True], repeat=len(terms))
    )
    least = -(-(sum(terms) + lanes * lanes_idle + roots * roots_idle) // (lanes + roots))
    assert least <= found <= max(fewest, least)


def test_a_layer_has_no_work_for_the_root() -> None:
    """The products of sum and update are as many: in the cycles that lanes need for both, a root makes few of them."""
    assert issue_cycles([4096, 4096], 16, 1) == 2 * 4096 // 16
    assert work(layer(64, 64), 16, 1) == 2 * 4096 // 16


def test_words_that_would_have_to_move() -> None:
    """Two layers on 16 PEs. Roots could take a product of the second, of 160 or 240, were it not for its words.

    Sums at the root: the second layer's models go up, a slot of all lanes each. Updates at the root: they come down;
    320 cycles leave the lanes 170 in which they write no update of the first layer, enough for 160 words, not for 240.
    """
    small, large = network(60, 40, 4), network(60, 40, 6)
    assert multiplies(small, Q6_10) == 2 * 2400 + 3 * 160 == 5280
    assert issue_cycles([2400, 2400, 160, 160, 160], 16, 1) == -(-5280 // 17) == 311
    assert work(small, 16, 1) == (5280 - 160) // 16 == 320
    assert multiplies(large, Q6_10) == 5520
    assert issue_cycles([2400, 2400, 240, 240, 240], 16, 1) == -(-5520 // 17) == 325
    assert work(large, 16, 1) == 5520 // 16 == 345


def test_moves_are_cheaper_with_several_sequencers() -> None:
    """Any of them may take the bus, so updates come down at no cost: all 345 cycles are there for 240 products."""
    assert work(network(60, 40, 6), 16, 1, sequencers=2) == (5520 - 240) // 16 == 330


@draws(2, 12)
@given(
    st.integers(1, 24),
    st.integers(1, 12),
    st.integers(1, 6),
    st.sampled_from([1, 2, 4, 8, 16]),
    st.sampled_from([1, 2, 4]),
)
def test_no_schedule_is_below(n: int, m: int, k: int, pes: int, roots: int) -> None:
    graph = network(n, m, k)
    schedule = schedule_graph(graph, template_for(pes).with_roots(min(roots, pes)), Q6_10)
    template = schedule.template
    assert full(graph, template, Q6_10).cycles <= schedule.cycles
    count = multiplies(graph, Q6_10)
    multiplied = quick(graph, template, Q6_10).terms["multiplies"]
    assert -(-count // (pes + max(1, template.roots))) <= multiplied <= max(1, -(-count // pes))


def test_a_product_of_tests_is_no_multiply() -> None:
    """Two comparisons and their product: whoever multiplies by the product chooses, as whoever multiplies by one."""
    text = """
    model_input x[16]; model w[16]; gradient g[16] -> w; iterator i[0:16];
    a[i] = x[i] < 0.5; b[i] = w[i] > x[i]; c[i] = a[i]*b[i]; g[i] = c[i]*x[i] + w[i]*x[i];
    """
    graph = shaped_graph(text)
    assert zero_or_one(graph) >= {"a", "b", "c"}
    assert multiplies(graph, Q6_10) == 16
