"""Splitting constraints into boxes changes no word, leaves no constraint, and stops where boxes are too many."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabla.base.source import TablaError
from tabla.graph.evaluate import evaluate_fixed
from tabla.graph.format import Format
from tabla.graph.graph import Affine, Extreme, Graph, Index, Linear, Product, Read, Tensor
from tabla.graph.passes.legalise.index_set_splitting import MOST_BOXES, in_boxes, split_index_sets
from tabla.graph.verify import verify
from tests.graph.examples import Builder, at, product, word
from tests.graph.graph_strategy import graphs, words

Q6_10 = Format(integer=6, fraction=10)
BAND = (Affine.of(1, i=1, j=-1), Affine.of(1, i=-1, j=1))


@settings(max_examples=250)
@given(graph=graphs(), seed=st.integers(0, 1 << 30))
def test_words_stay_the_same(graph: Graph, seed: int) -> None:
    split = in_boxes(graph, Q6_10)
    verify(split)
    assert not any(statement.constraints for statement in split.statements)
    inputs, models = words(graph, Q6_10, seed)
    before, after = (evaluate_fixed(g, Q6_10, inputs, models) for g in (graph, split))
    for name in graph.tensors:
        np.testing.assert_array_equal(after.values[name], before.values[name], err_msg=name)
    assert (after.counts.overflows, after.counts.domain_errors) == (
        before.counts.overflows,
        before.counts.domain_errors,
    )


def banded(extent: int, op: str = "sum") -> Graph:
    """A banded matrix times a vector, or the largest product or the running product in the band."""
    b = Builder()
    b.tensor("w", "model", extent, extent)
    b.tensor("x", "input", extent)
    b.tensor("y", "value", extent)
    reads = at("w", "i", "j"), at("x", "j")
    operations = {
        "sum": Linear(terms=(product(*reads, "j"), word(at("x", "i")))),
        "max": Extreme(op="max", operands=reads, reduce=("j",)),
        "product": Product(operand=reads[1], reduce=("j",), initial=at("x", "i")),
    }
    b.let("y", "i", operations[op], "j", i=extent, j=extent)
    return replace(b.graph("band", {}, (("y", "y"),)), statements=(replace(b.statements[0], constraints=BAND),))


@pytest.mark.parametrize("op", ["sum", "max", "product"])
def test_a_band_is_a_box_a_row(op: str) -> None:
    split = in_boxes(banded(9, op), Q6_10)
    assert [s.reduced[0].extent for s in split.statements] == [2, 3, 3, 3, 3, 3, 3, 3, 2]


def test_padding_splits_off_the_edges_alone() -> None:
    tap = Read(tensor="x", subscripts=(Affine.of(-1, i=1, k=1),))
    b = Builder()
    b.tensor("x", "input", 100)
    b.tensor("w", "model", 3)
    b.tensor("y", "value", 100)
    b.let("y", "i", Linear(terms=(product(tap, at("w", "k"), "k"),)), "k", i=100, k=3)
    padded = replace(b.statements[0], constraints=(Affine.of(-1, i=1, k=1), Affine.of(100, i=-1, k=-1)))
    split = in_boxes(replace(b.graph("padded", {}), statements=(padded,)), Q6_10)
    assert [(s.indices[0].extent, s.reduced[0].extent) for s in split.statements] == [(1, 2), (98, 3), (1, 2)]


def test_regions_that_are_no_boxes_keep_the_order_of_products() -> None:
    """p = pi over k and i + j <= 2: the points come in lexicographic order, whatever the boxes."""
    b = Builder()
    b.tensor("x", "input", 2, 3, 3)
    b.tensor("p", "value")
    b.let("p", "", Product(operand=at("x", "k", "i", "j"), reduce=("k", "i", "j")), "kij", i=3, j=3, k=2)
    corner = replace(b.statements[0], constraints=(Affine.of(2, i=-1, j=-1),))
    graph = replace(b.graph("corner", {}, (("p", "p"),)), statements=(corner,))
    split = in_boxes(graph, Q6_10)
    verify(split)
    assert len(split.statements) == 6
    for seed in range(20):
        inputs, models = words(graph, Q6_10, seed)
        assert (
            evaluate_fixed(split, Q6_10, inputs, models).values["p"]
            == (evaluate_fixed(graph, Q6_10, inputs, models).values["p"])
        )


def test_too_many_boxes_are_refused() -> None:
    assert len(in_boxes(banded(MOST_BOXES), Q6_10).statements) == MOST_BOXES
    with pytest.raises(TablaError, match=rf"consists of {MOST_BOXES + 1} boxes, and the machine takes {MOST_BOXES}"):
        in_boxes(banded(MOST_BOXES + 1), Q6_10)


def test_graphs_without_constraints_stay_as_they_are() -> None:
    index = Index(name="i", low=0, high=3)
    b = Builder()
    b.tensors["x"] = Tensor(name="x", shape=(3,), role="input")
    b.tensor("y", "value", 3)
    b.let("y", "i", Linear(terms=(word(at("x", "i")),)), i=index.extent)
    graph = b.graph("plain", {})
    assert split_index_sets(graph, Q6_10) is graph
