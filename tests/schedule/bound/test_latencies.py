"""Shortest latencies of statements, by hand."""

from __future__ import annotations

from tabla.schedule.bound.dependents import dependent
from tabla.schedule.bound.distances import Distances
from tabla.schedule.bound.latencies import Latencies
from tabla.templates.template import template_for, timing
from tests.schedule.agreement import Q6_10, shaped_graph

TEXT = """
model_input x[3]; model_input v[64]; model_output y; model w[64][3]; gradient g[64][3] -> w;
iterator i[0:3]; iterator j[0:64];
h[j] = sum[i](w[j][i] * x[i]);
o = sum[j](h[j] * v[j]);
g[j][i] = (o - y) * x[i];
"""


def test_a_sum_waits_for_the_terms_that_are_asked_for() -> None:
    graph = shaped_graph(TEXT)
    laws = timing()
    base = laws.multiply + laws.accumulate + laws.round
    latencies = Latencies(template_for(64), Q6_10)
    total = next(s for s in graph.statements if s.target == "o")
    # 64 terms in 64 lanes, six levels of the tree; of the first word of h alone, the last product that joins.
    every = latencies.after(total)
    assert every["h"] == every["v"] == base + 6 * laws.tree_level + laws.accumulate
    assert latencies.after(total, frozenset({"j"}))["h"] == base
    assert dependent(graph, "h", Distances.anyhow(latencies, graph)).own["o"].times.root == base
    # One lane: 63 further cycles. Indices that are not summed change nothing.
    alone = Latencies(template_for(1), Q6_10)
    assert alone.after(total)["h"] == alone.after(total, frozenset({"i"}))["h"] == base + 63
