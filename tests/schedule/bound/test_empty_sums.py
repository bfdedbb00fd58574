"""Statements with constraints may sum over nothing: then no circuit goes through them, and none may be in the bound."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tabla.graph.graph import Affine, Graph, Linear, Term
from tabla.schedule import bound
from tabla.schedule.compile import schedule_graph
from tabla.templates.template import template_for
from tests.graph.examples import Builder, at, product
from tests.schedule.agreement import Q6_10, agree_on


def one_word_feeds_another(links: int) -> Graph:
    """Only m[0] is read, and only m[1] is made of what was read: no sample waits for the update of the one before."""
    b = Builder()
    b.tensor("x", "input", 2)
    b.tensor("a", "input", 2, 1)
    b.tensor("m", "model", 2)
    b.tensors["next"] = replace(b.tensors["m"], name="next", role="next")
    source = "m"
    for link in range(links):
        b.tensor(f"t{link}", "value", 1)
        b.let(f"t{link}", "j", Linear(terms=(product(at(source, "j"), at("x", "j")),)), j=1)
        source = f"t{link}"
    terms = (Term(factors=(at("x", "i"),)), product(at("a", "i", "j"), at(source, "j"), "j"))
    b.let("next", "i", Linear(terms=terms), "j", i=2, j=1)
    graph = b.graph("feeds", {"m": "next"})
    last = replace(graph.statements[-1], constraints=(Affine.of(-1, i=1, j=-1),))
    return replace(graph, statements=(*graph.statements[:-1], last))


@pytest.mark.parametrize("pes", [1, 2, 4])
@pytest.mark.parametrize("links", [1, 2, 3])
def test_no_circuit_through_an_empty_sum(links: int, pes: int) -> None:
    graph = one_word_feeds_another(links)
    schedule = schedule_graph(graph, template_for(pes).with_roots(1), Q6_10)
    agree_on(schedule)
    assert bound.quick(graph, schedule.template, Q6_10).cycles <= schedule.cycles
    assert bound.full(graph, schedule.template, Q6_10).cycles <= schedule.cycles
