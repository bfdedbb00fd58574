"""Every rule of `verify` refuses the graph that breaks it, and random graphs keep them all."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabla.graph.graph import Affine, Compare, Constant, Graph, Index, Linear, Ordinal, Product, Read, Statement, Term
from tabla.graph.verify import GraphFault, verify
from tests.graph.examples import Builder, at, backpropagation, logistic, word
from tests.graph.examples import product as times
from tests.graph.graph_strategy import graphs, reach

ONE = Constant(value=Fraction(1))
CONSTANT = Linear(terms=(Term(factors=(ONE,)),))
I3 = Index(name="i", low=0, high=3)


@settings(max_examples=150, deadline=None)
@given(graphs())
def test_random_graphs_are_valid(graph: Graph) -> None:
    verify(graph)


@settings(max_examples=150, deadline=None)
@given(graphs(constrained=False), st.data())
def test_a_statement_moved_or_dropped_is_found(graph: Graph, data: st.DataObject) -> None:
    """Whatever a random graph without one of its statements reads in vain, `verify` finds, and nothing else."""
    dropped = data.draw(st.sampled_from(graph.statements))
    rest = [s for s in graph.statements if s is not dropped]
    broken = replace(graph, statements=tuple(replace(s, id=n) for n, s in enumerate(rest)))
    lost = reach(dropped.write, dropped.indices)
    box_of = {id(s): (*s.indices, *s.reduced) for s in rest}
    needed = any(
        read.tensor == dropped.target and reach(read.subscripts, box_of[id(s)]) & lost for s in rest for read in s.reads
    )
    shown = dropped.target in {name for _, name in graph.results}
    if needed or shown:
        with pytest.raises(GraphFault, match=dropped.target):
            verify(broken)
    else:
        verify(broken)


def test_examples_are_valid_and_large_ones_fast() -> None:
    verify(logistic(54))
    start = time.perf_counter()
    verify(backpropagation(7840, 7840, 100))
    assert time.perf_counter() - start < 1


def edited(position: int, **changes: object) -> Callable[[Graph], Graph]:
    """Replace fields of one statement."""

    def edit(graph: Graph) -> Graph:
        statements = list(graph.statements)
        statements[position] = replace(statements[position], **changes)  # type: ignore[arg-type]
        return replace(graph, statements=tuple(statements))

    return edit


def tensor(key: str, **changes: object) -> Callable[[Graph], Graph]:
    """Replace fields of one tensor."""

    def edit(graph: Graph) -> Graph:
        changed = replace(graph.tensors[key], **changes)  # type: ignore[arg-type]
        return replace(graph, tensors={**graph.tensors, key: changed})

    return edit


def over_i(operation: object, **changes: object) -> Callable[[Graph], Graph]:
    """Replace the operation of statement 4, whose box is i in [0, 3)."""
    return edited(4, operation=operation, **changes)


def reading(*subscripts: Affine) -> Linear:
    return Linear(terms=(Term(factors=(Read(tensor="x", subscripts=subscripts),)),))


BROKEN: dict[str, tuple[Callable[[Graph], Graph], str]] = {
    "id": (edited(1, id=7), r"statement 7 \(p\): its id is not its position 1"),
    "key": (tensor("x", name="z"), "tensor z is kept as x"),
    "empty": (tensor("x", shape=(0,)), "tensor x is empty"),
    "shapes": (tensor("w.next", shape=(4,)), "joins the shapes"),
    "roles": (lambda g: replace(g, updates={"x": "w.next"}), "joins input and next"),
    "next without update": (lambda g: replace(g, updates={}), "not one to one"),
    "result": (lambda g: replace(g, results=(("q", "q"),)), "result q is the unknown tensor q"),
    "same index": (edited(4, indices=(I3, I3)), "not distinct"),
    "write of summed": (edited(0, write=(Affine.of(i=1),)), r"it writes at \['i'\]"),
    "no terms": (over_i(Linear(terms=())), "a sum of no terms"),
    "undeclared sum": (edited(0, reduced=()), r"sums over \['i'\] and declares \[\]"),
    "unused sum": (edited(2, reduced=(I3,)), r"sums over \[\] and declares \['i'\]"),
    "sum in comparison": (
        edited(0, operation=Compare(op="<", left=ONE, right=ONE)),
        r"sums over \[\] and declares \['i'\]",
    ),
    "twice": (edited(0, operation=Product(operand=at("x", "i"), reduce=("i", "i"))), "summed over twice"),
    "stranger": (over_i(reading(Affine.of(k=1))), r"mentions \['k'\]"),
    "ordinal stranger": (over_i(Linear(terms=(Term(factors=(Ordinal(value=Affine.of(k=1)),)),))), r"mentions \['k'\]"),
    "not summed by this term": (
        edited(0, operation=Linear(terms=(times(at("w", "i"), at("x", "i"), "i"), word(at("x", "i"))))),
        r"mentions \['i'\]",
    ),
    "unknown read": (over_i(Linear(terms=(word(at("q", "i")),))), "unknown tensor q"),
    "rank": (over_i(reading()), "x has 1 axes and 0 subscripts"),
    "above": (over_i(reading(Affine.of(1, i=1))), r"subscript i\+1 of x takes 1..3 of 3"),
    "below": (over_i(reading(Affine.of(1, i=-1))), r"subscript -i\+1 of x takes -1..1 of 3"),
    "too early": (edited(0, operation=Linear(terms=(word(at("e")),)), reduced=()), "reads e before anything"),
    "itself": (edited(1, operation=Linear(terms=(word(at("p")),))), "reads p before anything"),
    "given": (edited(0, target="y"), "writes a tensor of role label"),
    "unknown target": (edited(0, target="q"), "writes an unknown tensor"),
    "again": (edited(3, target="e"), r"statement 3 \(e\): e is written already"),
    "write above": (edited(4, write=(Affine.of(1, i=1),), operation=CONSTANT), r"takes 1..3 of 3"),
    "write rank": (edited(4, write=()), "1 axes and 0 subscripts"),
    "not injective": (edited(4, write=(Affine(constant=1),), operation=CONSTANT), "writes an element twice"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_rules_are_named(name: str) -> None:
    edit, message = BROKEN[name]
    with pytest.raises(GraphFault, match=message):
        verify(edit(logistic(3)))


def in_parts(*parts: Statement) -> Graph:
    b = Builder()
    b.tensor("a", "value", 4, 4)
    b.statements = list(parts)
    return b.graph("parts", {})


def part(number: int, rows: tuple[int, int], operation: object = CONSTANT) -> Statement:
    indices = (Index(name="i", low=rows[0], high=rows[1]), Index(name="j", low=0, high=4))
    write = (Affine.of(i=1), Affine.of(j=1))
    return Statement(id=number, target="a", write=write, indices=indices, operation=operation)  # type: ignore[arg-type]


def test_parts_may_join_but_not_overlap() -> None:
    verify(in_parts(part(0, (0, 2)), part(1, (2, 4))))
    with pytest.raises(GraphFault, match="elements of a are written already"):
        verify(in_parts(part(0, (0, 2)), part(1, (1, 4))))


def test_parts_may_read_what_earlier_ones_wrote() -> None:
    mirrored = Read(tensor="a", subscripts=(Affine.of(3, i=-1), Affine.of(j=1)))
    verify(in_parts(part(0, (0, 2)), part(1, (2, 4), Linear(terms=(word(mirrored),)))))
    with pytest.raises(GraphFault, match=r"it reads a\[2\]\[0\], which nothing has written"):
        verify(in_parts(part(0, (0, 2)), part(1, (2, 4), Linear(terms=(word(at("a", "i", "j")),)))))


def test_elements_between_strides_are_not_written() -> None:
    """A diagonal read inside a bounding box with holes is judged by its elements."""
    even = Statement(
        id=0,
        target="a",
        write=(Affine.of(i=2), Affine.of(i=2)),
        indices=(Index(name="i", low=0, high=2),),
        operation=CONSTANT,
    )
    b = Builder()
    b.tensor("a", "value", 4, 4)
    b.tensor("d", "value", 2)
    b.statements = [even]
    b.let("d", "i", Linear(terms=(word(Read(tensor="a", subscripts=even.write)),)), i=2)
    verify(b.graph("diagonal", {}))
    b.let("d", "i", Linear(terms=(word(Read(tensor="a", subscripts=(Affine.of(i=2), Affine()))),)), i=2)
    b.statements[1:] = [replace(b.statements[2], id=1)]
    with pytest.raises(GraphFault, match=r"it reads a\[2\]\[0\]"):
        verify(b.graph("diagonal", {}))


def test_results_are_written_whole() -> None:
    verify(replace(in_parts(part(0, (0, 2)), part(1, (2, 4))), results=(("a", "a"),)))
    with pytest.raises(GraphFault, match=r"result a \(a\) has elements that nothing writes"):
        verify(replace(in_parts(part(0, (0, 2))), results=(("a", "a"),)))


@settings(deadline=None)
@given(st.data())
def test_injective_writes_are_told_exactly(data: st.DataObject) -> None:
    """Two-dimensional writes with arbitrary small coefficients: refused just when an element repeats."""
    small = st.integers(-2, 2)
    indices = tuple(
        Index(name=name, low=0, high=data.draw(st.integers(1, 4))) for name in data.draw(st.sampled_from(["i", "ij"]))
    )
    raw = [Affine.make(0, {index.name: data.draw(small) for index in indices}) for _ in range(2)]
    box = {index.name: index for index in indices}
    write = tuple(Affine.make(-affine.bounds(box)[0], dict(affine.coefficients)) for affine in raw)
    shape = [affine.bounds(box)[1] + 1 for affine in write]
    b = Builder()
    b.tensor("a", "value", *shape)
    b.statements = [Statement(id=0, target="a", write=write, indices=indices, operation=CONSTANT)]
    points = int(np.prod([index.extent for index in indices]))
    if len(reach(write, indices)) == points:
        verify(b.graph("injective", {}))
    else:
        with pytest.raises(GraphFault, match="writes an element twice"):
            verify(b.graph("injective", {}))


def with_constant(words: dict[str, np.ndarray[tuple[int, ...], np.dtype[np.int64]]], split: int = -1) -> Graph:
    """A graph that copies the constant c[2][3]."""
    builder = Builder()
    builder.tensor("c", "constant", 2, 3)
    builder.tensor("y", "value", 2, 3)
    builder.let("y", "ij", Linear(terms=(Term(factors=(at("c", "i", "j"),)),)), i=2, j=3)
    graph = builder.graph("g", {}, (("y", "y"),))
    tensors = {**graph.tensors, "c": replace(graph.tensors["c"], split=split)}
    return replace(graph, tensors=tensors, words=words)


def test_constants_have_words_of_their_shape() -> None:
    verify(with_constant({"c": np.zeros((2, 3), np.int64)}))
    verify(with_constant({"c": np.zeros((8, 3), np.int64)}, split=0))  # those of four groups
    with pytest.raises(GraphFault, match=r"its constants are \['c'\], and it has words of \[\]"):
        verify(with_constant({}))
    with pytest.raises(GraphFault, match=r"it has words of \['c', 'y'\]"):
        verify(with_constant({name: np.zeros((2, 3), np.int64) for name in ("c", "y")}))
    for shape, split in (((3, 2), -1), ((8, 3), -1), ((8, 3), 1), ((3, 3), 0), ((6,), -1)):
        with pytest.raises(GraphFault, match="the words of c have the shape"):
            verify(with_constant({"c": np.zeros(shape, np.int64)}, split=split))
