"""What depends on indices alone is computed once, before any sample comes; no word and no count changes."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from tabla.graph.format import Format
from tabla.graph.graph import Affine, Constant, Divide, Gather, Gathered, Graph, Linear, Ordinal, Term
from tabla.graph.independent import independent, tables
from tabla.graph.passes.legalise.precompute import precompute
from tabla.schedule.bound import quick
from tabla.templates.template import template_for
from tests.graph.examples import Builder, at, product, word
from tests.schedule.agreement import agree

Q6_10 = Format(integer=6, fraction=10)
ORDINAL = Ordinal(value=Affine.of(1, i=1), fraction=10)


def strided(divisor: int = 2) -> Graph:
    """``y[i] = x[(i + 1) / divisor]``, and quotients of data: ``z[i] = x[i] / y[i]``."""
    b = Builder()
    b.tensor("x", "input", 5)
    for name, size in (("p", 5), ("y", 5), ("z", 3)):
        b.tensor(name, "value", size)
    b.let("p", "i", Divide(left=ORDINAL, right=Constant(value=Fraction(divisor, 1024)), fraction=10), i=5)
    gathered = Gathered(table=at("p", "i"), offset=Affine())
    b.let("y", "i", Gather(tensor="x", subscripts=(gathered,)), i=5)
    b.let("z", "i", Divide(left=at("x", "i"), right=at("y", "i")), i=3)
    return b.graph("strided", {}, (("y", "y"), ("z", "z")))


def test_tables_of_indices_are_constants() -> None:
    found = precompute(strided(), Q6_10)
    assert independent(strided()) == {0} and tables(strided()) == {"p"}
    assert [s.target for s in found.statements] == ["y", "z"]
    assert found.tensors["p"].role == "constant"
    np.testing.assert_array_equal(found.words["p"], [0, 1, 1, 2, 2])


def test_words_and_cycles_on_the_machine() -> None:
    schedule = agree(strided(), template_for(4), Q6_10)
    # Five quotients are in the table; three are left.
    assert quick(schedule.graph, schedule.template, Q6_10).terms["functions"] == 3


def test_what_is_counted_stays() -> None:
    """A division by zero is counted in every sample, so it is done in every sample."""
    assert precompute(strided(0), Q6_10).words == {}


def test_results_and_parts_of_them_stay() -> None:
    b = Builder()
    b.tensor("x", "input", 4)
    b.tensor("y", "value", 4)
    b.tensor("t", "value", 4)
    b.tensor("u", "value", 4)
    b.let("y", "i", Linear(terms=(Term(factors=(ORDINAL,)),)), i=4)
    b.let("t", "i", Linear(terms=(Term(factors=(ORDINAL,)),)), i=2)
    b.let("u", "i", Linear(terms=(word(at("t", "i")), product(at("y", "i"), at("y", "i")))), i=2)
    first, second, third = b.statements
    late = (Affine.of(2, i=1),)
    given = replace(second, id=2, write=late, operation=Linear(terms=(word(at("x", "i")),)))
    graph = b.graph("parts", {}, (("y", "y"), ("u", "u")))
    graph = replace(graph, statements=(first, second, given, replace(third, id=3)))
    assert independent(graph) == {0, 1} and tables(graph) == frozenset()
    assert precompute(graph, Q6_10) is graph
