"""Old words as products: only of updates that cross groups, and only where the format holds the factor."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tabla.graph.format import Format
from tabla.graph.graph import Graph, Linear
from tabla.graph.passes.minibatch import minibatched
from tabla.graph.passes.pipeline import legalise
from tabla.schedule.compile import schedule_graph
from tabla.schedule.mapping.addends import with_products
from tabla.schedule.mapping.partition import cuts, partition
from tabla.templates.template import template_for
from tests.schedule.agreement import MANY_ROOTS, Q6_10, agree_on, shaped_graph

NEURON = """mu = {mu}; model_input x[5]; model_output y; model w[5], v[5]; gradient g[5] -> w, k[5] -> v;
iterator i[0:5]; h = sum[i](w[i] * x[i]); e = h - y; g[i] = e * x[i]; k[i] = 1;"""


def part(mu: str, format: Format = Q6_10) -> Graph:
    """The graph of one of two groups that share four samples."""
    legal = legalise(minibatched(shaped_graph(NEURON.format(mu=mu), format), 4), format)
    (cut,) = (cut for cut in cuts(legal, 2) if ("x", 0) in cut.axes)
    return partition(legal, cut, 2)


@pytest.mark.parametrize(("mu", "sign", "word"), [("0.5", 1, 2048), ("0.0625", 1, 16384), ("0.03125", -1, -32768)])
def test_the_factor_is_a_power_of_two_that_the_format_holds(mu: str, sign: int, word: int) -> None:
    legal = part(mu)
    changed = with_products(legal, Q6_10)
    (name,) = changed.words.keys() - legal.words.keys()
    assert changed.words[name] == word
    (update,) = changed.writers("w.next")
    assert isinstance(update.operation, Linear)
    (old,) = (term for term in update.operation.terms if not term.reduce)
    assert (old.sign, len(old.factors)) == (sign, 2)


@pytest.mark.parametrize("mu", ["1", "0.015625"])
def test_an_update_without_a_shift_or_with_too_large_a_factor_stays(mu: str) -> None:
    legal = part(mu)
    assert with_products(legal, Q6_10) is legal


def test_an_update_that_crosses_nothing_stays() -> None:
    legal = legalise(minibatched(shaped_graph(NEURON.format(mu="0.5")), 4), Q6_10)
    assert with_products(legal, Q6_10) is legal


FEW_CHANGES = replace(MANY_ROOTS, starts=0, roots=(4,))


@pytest.mark.parametrize("mu", ["0.25", "0.03125"])
def test_the_words_are_those_of_the_evaluation(mu: str) -> None:
    graph = minibatched(shaped_graph(NEURON.format(mu=mu)), 16)
    schedule = schedule_graph(graph, template_for(16), Q6_10, FEW_CHANGES)
    agree_on(schedule)
    assert any(name.startswith("scale.") for name in schedule.mapped.tensors)
