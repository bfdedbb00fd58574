"""Gathers: elements at positions that data give, against numpy; what `verify` and the evaluation refuse."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tabla.base.source import TablaError
from tabla.graph.evaluate import evaluate_fixed
from tabla.graph.format import Format
from tabla.graph.graph import Affine, Gather, Gathered, Graph, Linear, Term
from tabla.graph.passes.pipeline import run_passes
from tabla.graph.text import statement_text
from tabla.graph.verify import GraphFault, verify
from tests.graph.examples import Builder, at
from tests.graph.runs import evaluate_float

Q6_10 = Format.parse("q6.10")
TABLE = np.arange(20).reshape(5, 4) * 3 - 7


def rows() -> Graph:
    """e[i][d] = table[ids[i]][d], and v[i] = table[ids[i]-1][jds[i]+1]."""
    b = Builder()
    b.tensor("ids", "input", 3)
    b.tensor("jds", "input", 3)
    b.tensor("table", "model", 5, 4)
    b.tensor("e", "value", 3, 4)
    b.tensor("v", "value", 3)
    whole = (Gathered(table=at("ids", "i")), Affine.of(d=1))
    b.let("e", "id", Gather(tensor="table", subscripts=whole), i=3, d=4)
    both = (Gathered(table=at("ids", "i"), offset=Affine.of(-1)), Gathered(table=at("jds", "i"), offset=Affine.of(1)))
    b.let("v", "i", Gather(tensor="table", subscripts=both), i=3)
    return b.graph("rows", {}, (("e", "e"), ("v", "v")))


def test_words_and_reals() -> None:
    graph = rows()
    verify(graph)
    ids, jds = np.array([4, 1, 1]), np.array([2, -1, 0])
    words = evaluate_fixed(graph, Q6_10, {"ids": ids, "jds": jds}, {"table": TABLE}).values
    reals = evaluate_float(graph, {"ids": ids * 1.0, "jds": jds * 1.0}, {"table": TABLE * 1.0}).values
    for found in (words, reals):
        assert np.array_equal(found["e"], TABLE[ids])
        assert np.array_equal(found["v"], TABLE[ids - 1, jds + 1])
    assert [statement_text(s) for s in graph.statements] == [
        "e[i][d] = table[ids[i]][d]   for i in [0, 3), d in [0, 4)",
        "v[i] = table[ids[i]-1][jds[i]+1]   for i in [0, 3)",
    ]


def test_a_position_outside_is_refused() -> None:
    given = {"ids": np.array([4, 5, 1]), "jds": np.zeros(3, dtype=np.int64)}
    with pytest.raises(TablaError, match="'ids' gives position 5 on axis 0 of 'table', which has 5"):
        evaluate_fixed(rows(), Q6_10, given, {"table": TABLE})


def test_passes_keep_gathers_and_what_they_read() -> None:
    b = Builder()
    b.tensor("ids", "input", 3)
    b.tensor("x", "input", 5)
    b.tensor("copy", "value", 3)
    b.tensor("twice", "value", 5)
    b.tensor("e", "value", 3)
    b.let("copy", "i", Linear(terms=(Term(factors=(at("ids", "i"),)),)), i=3)
    b.let("twice", "k", Linear(terms=(Term(factors=(at("x", "k"),)),) * 2), k=5)
    b.let("e", "i", Gather(tensor="twice", subscripts=(Gathered(table=at("copy", "i")),)), i=3)
    graph = b.graph("passes", {}, (("e", "e"),))
    made = run_passes(graph, Q6_10)
    shown = [statement_text(s).split("   ")[0] for s in made.statements]
    assert shown == ["twice[k] = x[k] + x[k]", "e[i] = twice[ids[i]]"]
    found = evaluate_fixed(made, Q6_10, {"ids": np.array([1, 0, 4]), "x": np.arange(5)}).values["e"]
    assert found.tolist() == [2, 0, 8]


def test_rules() -> None:
    graph = rows()

    def first(**changes: object) -> Graph:
        return replace(graph, statements=(replace(graph.statements[0], **changes), graph.statements[1]))  # type: ignore[arg-type]

    gathered = Gathered(table=at("ids", "i"))
    with pytest.raises(GraphFault, match="unknown tensor nothing"):
        verify(first(operation=Gather(tensor="nothing", subscripts=(gathered,))))
    with pytest.raises(GraphFault, match="2 axes and 1 subscripts"):
        verify(first(operation=Gather(tensor="table", subscripts=(gathered,))))
    with pytest.raises(GraphFault, match=r"takes 1\.\.4 of 4"):
        verify(first(operation=Gather(tensor="table", subscripts=(gathered, Affine.of(1, d=1)))))
    with pytest.raises(GraphFault, match="which do not run there"):
        verify(first(operation=Gather(tensor="table", subscripts=(gathered, Affine.of(z=1)))))
    with pytest.raises(GraphFault, match="of which not all is written"):
        verify(first(operation=Gather(tensor="v", subscripts=(gathered,))))
