"""Constraints on statements and tensors filled with 0: meaning, rules, counts."""

from __future__ import annotations

import time
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from tabla.graph.constraints import ends
from tabla.graph.evaluate import evaluate_fixed
from tabla.graph.format import Format
from tabla.graph.graph import Affine, Constant, Extreme, Graph, Index, Linear, Operation, Product, Read, Statement, Term
from tabla.graph.text import graph_text, statement_text
from tabla.graph.verify import GraphFault, verify
from tests.graph.examples import Builder, at, product, word
from tests.graph.runs import evaluate_float
from tests.graph.scalars import count, expand

Q8_8 = Format.parse("q8.8")
TAP = Read(tensor="x", subscripts=(Affine.of(-1, i=1, k=1),))
PADDED = (Affine.of(-1, i=1, k=1), Affine.of(8, i=-1, k=-1))


def over_taps(operation: Operation, constraints: tuple[Affine, ...] = PADDED) -> Graph:
    """y[i] from x[i+k-1], i over 8 and k over 3: the taps at both ends lie outside x."""
    b = Builder()
    b.tensor("x", "input", 8)
    b.tensor("w", "model", 3)
    b.tensor("y", "value", 8)
    b.let("y", "i", operation, "k", i=8, k=3)
    statements = tuple(replace(s, constraints=constraints) for s in b.statements)
    return replace(b.graph("taps", {}, (("y", "y"),)), statements=statements)


X, W = np.arange(8) - 3, np.array([2, -1, 3])


def outcome(graph: Graph) -> list[int]:
    """y for whole numbers, in words and in float64 the same."""
    verify(graph)
    given = {"x": X, "w": W}
    fixed = evaluate_fixed(graph, Q8_8, *[{n: a * Q8_8.one for n, a in given.items()}] * 2).values["y"]
    reals = evaluate_float(graph, *[{n: a.astype(np.float64) for n, a in given.items()}] * 2).values["y"]
    assert np.array_equal(fixed / Q8_8.one, reals)
    return [int(value) for value in reals]


def test_padded_convolution() -> None:
    padded = np.pad(X, 1)
    expected = [int(padded[i : i + 3] @ W) for i in range(8)]
    assert outcome(over_taps(Linear(terms=(product(TAP, at("w", "k"), "k"),)))) == expected


def test_padded_extremes_and_products_leave_points_out() -> None:
    windows = [X[max(0, i - 1) : i + 2] for i in range(8)]
    assert outcome(over_taps(Extreme(op="max", operands=(TAP,), reduce=("k",)))) == [int(w.max()) for w in windows]
    assert outcome(over_taps(Extreme(op="min", operands=(TAP,), reduce=("k",)))) == [int(w.min()) for w in windows]
    assert outcome(over_taps(Product(operand=TAP, reduce=("k",)))) == [int(w.prod()) for w in windows]


def test_what_does_not_sum_over_the_tied_index_is_added_all_the_same() -> None:
    never = (Affine.of(-9, k=1),)
    with_word = Linear(terms=(product(TAP, at("w", "k"), "k"), word(at("x", "i"))))
    assert outcome(over_taps(with_word, never)) == X.tolist()
    first = Extreme(op="max", operands=(TAP,), reduce=("k",), initial=at("x", "i"))
    assert outcome(over_taps(first, never)) == X.tolist()
    empty = over_taps(Extreme(op="max", operands=(TAP,), reduce=("k",)), never)
    assert set(evaluate_fixed(empty, Q8_8, {"x": X}, {"w": W}).values["y"].tolist()) == {Q8_8.lowest}


def test_constants_count_the_points() -> None:
    ones = Linear(terms=(Term(factors=(Constant(value=Fraction(1)),), reduce=("k",)),))
    assert outcome(over_taps(ones)) == [2, 3, 3, 3, 3, 3, 3, 2]


def triangle(filled: bool) -> Graph:
    """t[i][j] = x[i] for j <= i only."""
    indices = (Index(name="i", low=0, high=4), Index(name="j", low=0, high=4))
    b = Builder()
    b.tensor("x", "input", 4)
    b.tensor("t", "value", 4, 4)
    b.let("t", "ij", Linear(terms=(word(at("x", "i")),)), i=4, j=4)
    lower = replace(b.statements[0], indices=indices, constraints=(Affine.of(0, i=1, j=-1),))
    tensors = {**b.tensors, "t": replace(b.tensors["t"], filled=filled)}
    return Graph(name="triangle", tensors=tensors, statements=(lower,), results=(("t", "t"),))


def test_elements_outside_are_not_written() -> None:
    with pytest.raises(GraphFault, match="elements that nothing writes"):
        verify(triangle(filled=False))
    graph = triangle(filled=True)
    verify(graph)
    found = evaluate_fixed(graph, Q8_8, {"x": np.arange(1, 5)}).values["t"]
    assert np.array_equal(found, np.tril(np.tile(np.arange(1, 5)[:, None], 4)))
    assert "value t[4][4] filled with 0" in graph_text(graph)
    assert statement_text(graph.statements[0]).endswith("for i in [0, 4), j in [0, 4) where i-j >= 0")
    assert len(expand(graph).graph["elements"]) == 10


def also(graph: Graph, **changes: object) -> Graph:
    """The graph with one more statement: the last one, changed."""
    last = replace(graph.statements[-1], id=len(graph.statements), **changes)  # type: ignore[arg-type]
    return replace(graph, statements=(*graph.statements, last))


def test_rules() -> None:
    graph = triangle(filled=True)
    verify(also(graph, constraints=(Affine.of(-1, i=-1, j=1),)))
    with pytest.raises(GraphFault, match="written already"):
        verify(also(graph, constraints=(Affine.of(0, i=-1, j=1),)))
    with pytest.raises(GraphFault, match=r"takes -1\.\.2 of 4"):
        verify(also(graph, write=(Affine.of(-1, i=1), Affine.of(j=1)), constraints=(Affine.of(-1, i=1, j=1),)))
    with pytest.raises(GraphFault, match="which do not run there"):
        verify(also(graph, constraints=(Affine.of(z=1),)))
    b = Builder()
    b.tensors.update(graph.tensors)
    b.tensor("s", "value")
    b.statements.extend(graph.statements)
    b.let("s", "", Linear(terms=(Term(factors=(at("t", "i", "j"),), reduce=("i", "j")),)), "ij", i=4, j=4)
    read = b.graph("read", {})
    verify(read)
    upper = replace(graph.statements[0], id=2, constraints=(Affine.of(-1, i=-1, j=1),))
    with pytest.raises(GraphFault, match="written after it was read"):
        verify(replace(read, statements=(*read.statements, upper)))
    unfilled = replace(read, tensors={**read.tensors, "t": triangle(filled=False).tensors["t"]})
    with pytest.raises(GraphFault, match="which nothing has written"):
        verify(unfilled)
    inside = replace(read.statements[1], constraints=(Affine.of(0, i=1, j=-1),))
    verify(replace(unfilled, statements=(read.statements[0], inside)))


def test_a_term_must_sum_over_all_that_a_constraint_ties() -> None:
    terms = (Term(factors=(at("x", "i"),), reduce=("i", "j")), Term(factors=(at("x", "i"),), reduce=("i",)))
    b = Builder()
    b.tensor("x", "input", 3)
    b.tensor("s", "value")
    b.let("s", "", Linear(terms=terms), "ij", i=3, j=3)
    verify(b.graph("sums", {}))
    tied = replace(b.statements[0], constraints=(Affine.of(i=1, j=-1),))
    with pytest.raises(GraphFault, match="a part of what i-j >= 0 ties"):
        verify(replace(b.graph("sums", {}), statements=(tied,)))


def test_counts_grow_with_the_constraints_not_with_the_box() -> None:
    names, constraints = {}, []
    for axis in "ab":
        names |= {axis: Index(name=axis, low=0, high=500), f"k{axis}": Index(name=f"k{axis}", low=0, high=3)}
        constraints += [Affine.make(-1, {axis: 1, f"k{axis}": 1}), Affine.make(500, {axis: -1, f"k{axis}": -1})]
    names |= {"c": Index(name="c", low=0, high=512), "d": Index(name="d", low=0, high=512)}
    image = tuple(Affine.make(-1, {axis: 1, f"k{axis}": 1}) for axis in "ab")
    read = Read(tensor="x", subscripts=(Affine.of(c=1), *image))
    weight = Read(tensor="w", subscripts=tuple(Affine.index(name) for name in ("d", "c", "ka", "kb")))
    b = Builder()
    b.tensor("x", "input", 512, 500, 500)
    b.tensor("w", "input", 512, 512, 3, 3)
    b.tensor("y", "value", 512, 500, 500)
    statement = Statement(
        id=0,
        target="y",
        write=tuple(Affine.index(name) for name in "dab"),
        indices=tuple(names[name] for name in "dab"),
        reduced=tuple(names[name] for name in ("c", "ka", "kb")),
        operation=Linear(terms=(Term(factors=(read, weight), reduce=("c", "ka", "kb")),)),
        constraints=tuple(constraints),
    )
    graph = replace(b.graph("convolution", {}), statements=(statement,))
    begin = time.perf_counter()
    verify(graph)
    assert count(graph).multiplies == 512 * 512 * 1498**2
    assert time.perf_counter() - begin < 2


def test_ends_are_those_of_all_points() -> None:
    indices = [Index(name="i", low=-1, high=5), Index(name="j", low=0, high=4), Index(name="k", low=2, high=5)]
    band = (Affine.of(0, i=1, j=-1), Affine.of(1, i=-1, j=1), Affine.of(-3, k=1))
    forms = (Affine.of(3), Affine.of(0, j=1), Affine.of(-2, i=2, j=-3), Affine.of(0, i=-1, k=4), Affine.of(1, k=-2))
    for constraints in ((), band, band[:1], band[2:], (*band, Affine.of(-9, i=1)), (Affine.of(-1),)):
        points = [{"i": i, "j": j, "k": k} for i in range(-1, 5) for j in range(4) for k in range(2, 5)]
        inside = [p for p in points if all(c.at(p) >= 0 for c in constraints)]
        for form in forms:
            taken = [form.at(point) for point in inside]
            assert ends(form, constraints, indices) == ((min(taken), max(taken)) if taken else None)
