"""What statements read and write, and what is 0 whatever the data are, against the graph read point by point."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tabla.graph.accesses import Access, adds_to, reached, reads_of, write_of
from tabla.graph.evaluate import evaluate_fixed
from tabla.graph.format import Format
from tabla.graph.graph import Affine, Constant, Graph, Index, Linear, Read, Statement, Tensor, Term
from tabla.graph.structural_zeros import changing
from tests.graph.graph_strategy import graphs, words
from tests.graph.naive import inside, points

FORMAT = Format.parse("q6.10")


def point_by_point(tensor: Tensor, accesses: list[Access]) -> Any:
    """Return which elements accesses reach, one point after the other."""
    mask = np.zeros(tensor.shape, dtype=bool)
    for access in accesses:
        for point in inside(access.statement, points(access.indices)):
            mask[tuple(subscript.at(point) for subscript in access.subscripts)] = True
    return mask


@given(graphs())
def test_the_elements_of_accesses_are_those_of_their_points(graph: Graph) -> None:
    reads = [access for statement in graph.statements for access in reads_of(statement, graph)]
    writes = [write_of(statement) for statement in graph.statements]
    for name, tensor in graph.tensors.items():
        for accesses in (reads, writes):
            own = [access for access in accesses if access.tensor == name]
            np.testing.assert_array_equal(reached(tensor, own), point_by_point(tensor, own))


@given(graphs(), st.integers(0, 2**32 - 1))
def test_what_does_not_change_is_zero_or_stays(graph: Graph, seed: int) -> None:
    inputs, models = words(graph, FORMAT, seed)
    values = evaluate_fixed(graph, FORMAT, inputs, models).values
    for name, mask in changing(graph).items():
        tensor = graph.tensors[name]
        still = ~mask
        if tensor.role == "next":
            written = reached(tensor, [write_of(s) for s in graph.statements if s.target == name])
            before = models[graph.owner(name)]
            np.testing.assert_array_equal(values[name][still & written], before[still & written])
        elif tensor.role == "value":
            assert not values[name][still].any()


def sum_of(target: str, write: tuple[Affine, ...], indices: tuple[Index, ...], *terms: Term) -> Statement:
    return Statement(id=0, target=target, write=write, indices=indices, operation=Linear(terms=terms))


AT = Affine.of(0, i=1)
FOUR, TWO = Index(name="i", low=0, high=4), Index(name="i", low=0, high=2)


def learner(gradient: Index, step: tuple[Term, ...]) -> Graph:
    """Return a graph in which ``g`` is an input over a part of its elements, and ``w`` goes on by `step`."""
    tensors = [
        Tensor(name="x", shape=(4,), role="input"),
        Tensor(name="w", shape=(4,), role="model"),
        Tensor(name="g", shape=(4,), role="value", filled=True),
        Tensor(name="w.next", shape=(4,), role="next", origin="w"),
    ]
    one = sum_of("g", (AT,), (gradient,), Term(factors=(Read(tensor="x", subscripts=(AT,)),)))
    return Graph(
        name="learner",
        tensors={tensor.name: tensor for tensor in tensors},
        statements=(one, sum_of("w.next", (AT,), (FOUR,), *step)),
        updates={"w": "w.next"},
    )


W, G, X = (Read(tensor=name, subscripts=(AT,)) for name in ("w", "g", "x"))


def test_a_model_changes_where_its_gradient_may_be_something() -> None:
    found = changing(learner(TWO, (Term(factors=(W,)), Term(factors=(G,), sign=-1))))
    assert found["g"].tolist() == [True, True, False, False]
    assert found["w.next"].tolist() == [True, True, False, False]


def test_a_product_with_nothing_is_nothing() -> None:
    found = changing(learner(TWO, (Term(factors=(W,)), Term(factors=(X, G)))))
    assert found["w.next"].tolist() == [True, True, False, False]
    zero = Constant(value=Fraction(0))
    assert not changing(learner(FOUR, (Term(factors=(W,)), Term(factors=(zero, G)))))["w.next"].any()


def test_a_model_that_is_replaced_changes_everywhere() -> None:
    assert changing(learner(TWO, (Term(factors=(G,)),)))["w.next"].all()
    assert changing(learner(TWO, (Term(factors=(W,), sign=-1), Term(factors=(G,)))))["w.next"].all()


def test_an_update_does_not_read_what_it_adds_to() -> None:
    graph = learner(FOUR, (Term(factors=(W,)), Term(factors=(G,), sign=-1)))
    update = graph.statements[1]
    assert [access.tensor for access in reads_of(update, graph)] == ["g"]
    assert adds_to(update, W, graph) and not adds_to(update, G, graph)
    other = Read(tensor="w", subscripts=(Affine.of(3, i=-1),))
    assert not adds_to(update, other, graph)


def test_constraints_that_nothing_keeps_leave_no_element() -> None:
    statement = Statement(
        id=0,
        target="w.next",
        write=(AT,),
        indices=(FOUR,),
        operation=Linear(terms=(Term(factors=(Read(tensor="x", subscripts=(Affine.of(2),)),)),)),
        constraints=(Affine.of(-5, i=1),),
    )
    graph = learner(FOUR, (Term(factors=(W,)),))
    (access,) = reads_of(statement, graph)
    assert not reached(graph.tensors["x"], [access]).any()
