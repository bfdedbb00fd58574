"""The term of functions: a root takes one operand of all its functions in a cycle. Tables cost nothing."""

from __future__ import annotations

from tabla.base.source import Source
from tabla.graph.format import Format
from tabla.graph.passes.pipeline import run_passes
from tabla.languages.tc import parse
from tabla.languages.tc.bind import bind_sizes
from tabla.languages.tc.lower import lower
from tabla.schedule.bound import full, quick
from tabla.schedule.compile import schedule_graph
from tabla.templates.template import template_for

Q6_10 = Format(integer=6, fraction=10)


def test_all_functions_share_the_roots() -> None:
    function = parse(Source.from_text("def f(float(N) x) -> (o) { o +=! exp(x(i)) * tanh(x(i)) }")).function()
    graph = run_passes(lower(function, bind_sizes(function, {"x": (24,)}), number_format=Q6_10), Q6_10)
    for roots, cycles in ((1, 48), (2, 24), (4, 12)):
        schedule = schedule_graph(graph, template_for(16).with_roots(roots), Q6_10)
        assert quick(schedule.graph, schedule.template, Q6_10).terms["functions"] == cycles <= schedule.cycles


def test_products_that_indices_decide_are_no_work() -> None:
    """The conditions are tables, loaded with the models, also where one is the product of others."""
    value = "i / 2 > 0 && i / 2 > 0 && i + j > 0 ? A(i / 2) : 0.0"
    text = f"def f(float(N) A) -> (B) {{ B +=! {value} where i in 0:2*N, j in 0:2 }}"
    graph = run_passes(lower(parse(Source.from_text(text)).function(), {"N": 2}, number_format=Q6_10), Q6_10)
    schedule = schedule_graph(graph, template_for(3), Q6_10)
    assert full(schedule.graph, schedule.template, Q6_10).cycles <= schedule.cycles
