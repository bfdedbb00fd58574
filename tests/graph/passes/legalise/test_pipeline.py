"""The legalising passes: in their order, each verified and named, and no word changed by all of them together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabla.graph.evaluate import evaluate_fixed
from tabla.graph.format import Format
from tabla.graph.graph import Constant, Graph, Linear, Read
from tabla.graph.passes import pipeline
from tabla.graph.passes.framework import Pass, Setting
from tabla.graph.passes.pipeline import LEGALISE, legalise, pass_runs
from tabla.graph.verify import GraphFault
from tests.graph.examples import logistic
from tests.graph.graph_strategy import graphs, words
from tests.schedule.agreement import Q6_10

FORMATS = [Format.parse(text) for text in ("q2.6", "q6.10", "q16.16")]


def test_the_order() -> None:
    names = [
        "index-set-splitting",
        "static-gathers",
        "flat-gathers",
        "snapshot",
        "precompute",
        "common-shifts",
        "materialise",
        "common-sums",
    ]
    assert [each.name for each in LEGALISE.passes] == names


@settings(max_examples=150)
@given(graphs(), st.sampled_from(FORMATS), st.integers(0, 2**20))
def test_no_word_changes(graph: Graph, format: Format, seed: int) -> None:
    """The legal graph, fed with the words of its constants, gives every result and model of the graph."""
    legal = legalise(graph, format)
    inputs, models = words(graph, format, seed)
    before = evaluate_fixed(graph, format, inputs, models)
    after = evaluate_fixed(legal, format, inputs, models)
    for (shown, tensor), (same, other) in zip(graph.results, legal.results, strict=True):
        assert shown == same
        np.testing.assert_array_equal(before.values[tensor], after.values[other], err_msg=shown)
    for model, array in before.models.items():
        np.testing.assert_array_equal(array, after.models[model], err_msg=model)


@settings(max_examples=150)
@given(graphs(), st.sampled_from(FORMATS))
def test_what_is_left_is_what_the_machine_runs(graph: Graph, format: Format) -> None:
    """Operands are reads, but for a factor 1 beside one; constants have the words of their shape, in the format."""
    legal = legalise(graph, format)
    for statement in legal.statements:
        for operand in statement.operands:
            if not isinstance(operand, Read):
                assert isinstance(statement.operation, Linear)
                assert isinstance(operand, Constant) and operand.value == 1
    constants = {t.name: t.shape for t in legal.tensors.values() if t.role == "constant"}
    assert {name: array.shape for name, array in legal.words.items()} == constants
    for array in legal.words.values():
        assert format.lowest <= array.min() and array.max() <= format.highest


@pytest.mark.parametrize("planted", range(len(LEGALISE.passes) + 1))
def test_a_pass_that_breaks_a_graph_is_named(planted: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever it stands: the rules are checked after each pass, not only after the last."""

    def forget(graph: Graph) -> Graph:
        return replace(graph, statements=graph.statements[1:])

    bad = Pass(name="forget", description="forget a statement", function=forget)
    passes = (*LEGALISE.passes[:planted], bad, *LEGALISE.passes[planted:])
    monkeypatch.setattr(pipeline, "LEGALISE", replace(LEGALISE, passes=passes))
    with pytest.raises(GraphFault, match=r"^after forget: statement 1 "):
        legalise(logistic(3), Q6_10)


def test_every_pass_runs_once_and_in_order() -> None:
    runs = list(pass_runs(logistic(3), Setting(fmt=Q6_10), LEGALISE))
    assert [each.which for each in runs] == list(LEGALISE.passes)
    assert {each.round for each in runs} == {1}
    assert runs[-1].after == legalise(logistic(3), Q6_10)
