"""No pass changes a word of a result or a model, on random graphs in four formats; the pipeline comes to rest."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabla.graph.evaluate import evaluate_fixed
from tabla.graph.format import Format
from tabla.graph.graph import Graph
from tabla.graph.passes.framework import Pass, Setting
from tabla.graph.passes.pipeline import SHAPE, SIMPLIFY, run_passes, shaped
from tabla.graph.verify import GraphFault, verify
from tests.draws import draws
from tests.graph.examples import backpropagation, logistic
from tests.graph.graph_strategy import graphs, words
from tests.graph.scalars import count

formats = st.sampled_from(["q2.6", "q6.10", "q16.16", "q2.30"]).map(Format.parse)
seeds = st.integers(0, 1 << 30)


def same_words(before: Graph, after: Graph, fmt: Format, seed: int) -> None:
    """Results and models agree after one sample of corner words."""
    inputs, models = words(before, fmt, seed)
    old = evaluate_fixed(before, fmt, inputs, models)
    new = evaluate_fixed(after, fmt, inputs, models)
    assert before.updates == after.updates
    for (shown, name), (same, elsewhere) in zip(before.results, after.results, strict=True):
        assert shown == same and np.array_equal(old.values[name], new.values[elsewhere]), shown
    for name, array in old.models.items():
        assert np.array_equal(array, new.models[name]), name


@pytest.mark.parametrize("each", (*SIMPLIFY.passes, *SHAPE.passes[:-1]), ids=lambda each: each.name)
def test_a_pass_changes_no_word(each: Pass[...]) -> None:
    @settings(max_examples=150, deadline=None)
    @given(graph=graphs(), fmt=formats, seed=seeds)
    def check(graph: Graph, fmt: Format, seed: int) -> None:
        after = each.run(graph, Setting(fmt=fmt))
        verify(after)
        same_words(graph, after, fmt, seed)

    check()


@draws(120, 250)
@given(graph=graphs(most_values=8), fmt=formats, seed=seeds)
def test_the_pipeline_changes_no_word_and_makes_no_work(graph: Graph, fmt: Format, seed: int) -> None:
    after = run_passes(graph, fmt)
    same_words(graph, after, fmt, seed)
    assert run_passes(after, fmt) == after, "it has come to rest"
    old, new = count(graph), count(after)
    # A division by a constant may have become a multiply.
    assert new.multiplies <= old.multiplies + old.functions.get("divide", 0)
    assert new.comparisons <= old.comparisons and sum(new.functions.values()) <= sum(old.functions.values())
    assert len(after.statements) <= len(graph.statements)
    same_words(graph, shaped(graph, fmt), fmt, seed)


@settings(max_examples=100, deadline=None)
@given(graph=graphs(), fmt=formats, seed=seeds)
def test_a_doubled_graph_shrinks_to_its_half(graph: Graph, fmt: Format, seed: int) -> None:
    """Every value computed twice, under other names: nothing of the second copy is left but its results."""
    values = {name for name, tensor in graph.tensors.items() if tensor.role == "value"}
    twin = {name: f"{name}.twin" for name in values}
    copies = tuple(
        replace(s, target=twin[s.target], id=len(graph.statements) + n)
        for n, s in enumerate(s for s in graph.statements if s.target in values)
    )
    tensors = {**graph.tensors, **{twin[n]: replace(graph.tensors[n], name=twin[n]) for n in sorted(values)}}
    doubled = replace(graph, tensors=tensors, statements=(*graph.statements, *copies))
    alone, both = run_passes(graph, fmt), run_passes(doubled, fmt)
    assert count(both) == count(alone)
    same_words(doubled, both, fmt, seed)


def test_examples_have_nothing_to_drop() -> None:
    fmt = Format.parse("q6.10")
    for graph in (logistic(5), backpropagation(4, 3, 2)):
        assert run_passes(graph, fmt) == graph


def test_a_pass_that_breaks_a_graph_is_named() -> None:
    def forget(graph: Graph, fmt: Format) -> Graph:
        return replace(graph, statements=graph.statements[1:])

    bad = Pass(name="forget", description="forget a statement", function=forget)
    with pytest.raises(GraphFault, match=r"after forget: statement 1 \(p\): its id is not its position 0"):
        run_passes(logistic(3), Format.parse("q6.10"), (bad,))


def test_a_broken_graph_is_not_begun() -> None:
    with pytest.raises(GraphFault, match="not one to one"):
        run_passes(replace(logistic(3), updates={}), Format.parse("q6.10"))
