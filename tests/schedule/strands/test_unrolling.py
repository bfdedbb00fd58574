"""Sums written out in the body of a strand: the same sum, and the start value once for many turns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabla.graph.body import MOST_SLOTS
from tabla.graph.graph import Affine, Index, Linear, Read, Statement, Term
from tabla.schedule.check import check
from tabla.schedule.compile import schedule_graph
from tabla.schedule.mapping.effort import EFFORTS
from tabla.schedule.strands.strand import Strand
from tabla.schedule.strands.unrolling import written_out
from tests.draws import draws
from tests.languages.onnx.models import Case, drawn, node, read


def summed(ranges: tuple[tuple[int, int], ...]) -> Statement:
    """Return ``y[o] = sum(a[o][...] * b[...]) + c[o]`` over indices with these ranges."""
    reduced = tuple(Index(name=f"k{n}", low=low, high=high) for n, (low, high) in enumerate(ranges))
    names = tuple(index.name for index in reduced)
    inner = tuple(Affine.of(**{name: 1}) for name in names)
    here = Affine.of(o=1)
    terms = (
        Term(factors=(Read(tensor="a", subscripts=(here, *inner)), Read(tensor="b", subscripts=inner)), reduce=names),
        Term(factors=(Read(tensor="c", subscripts=(here,)),)),
    )
    return Statement(
        id=0, target="y", write=(here,), indices=(Index(name="o", low=0, high=2),), operation=Linear(terms=terms),
        reduced=reduced,
    )  # fmt: skip


def products(statement: Statement) -> Iterator[tuple[tuple[int, ...], ...]]:
    """Yield the places that each product of a sum reads, for output 1, in no particular order."""
    assert isinstance(statement.operation, Linear)
    for term in statement.operation.terms:
        box = [statement.box[name] for name in term.reduce]
        for point in product(*(range(index.low, index.high) for index in box)):
            values = {"o": 1, **dict(zip(term.reduce, point, strict=True))}
            reads = [factor for factor in term.factors if isinstance(factor, Read)]
            yield tuple(tuple(s.at(values) for s in read.subscripts) for read in reads)


RANGES = st.lists(st.tuples(st.integers(0, 3), st.integers(1, 40)), min_size=1, max_size=3)


@draws(40, 200)
@given(RANGES)
def test_the_same_products(drawn_ranges: list[tuple[int, int]]) -> None:
    before = summed(tuple((low, low + extent) for low, extent in drawn_ranges[:3]))
    after = written_out(before)
    assert isinstance(after.operation, Linear)
    assert len(after.operation.terms) <= MOST_SLOTS
    assert sorted(products(after)) == sorted(products(before))
    for term in after.operation.terms[:-1]:
        assert term.reduce == tuple(index.name for index in after.reduced)


def test_as_many_turns_as_a_body_holds() -> None:
    """9 turns fit as a whole. Of 48 turns, beside 3, 16 fit, and of 67 turns, a prime number, none does."""
    counts = []
    for ranges in (((0, 3), (0, 3)), ((2, 50), (0, 3)), ((0, 67),)):
        after = written_out(summed(ranges))
        assert isinstance(after.operation, Linear)
        counts.append((len(after.operation.terms), tuple(index.extent for index in after.reduced)))
    assert counts == [(10, ()), (49, (3,)), (2, (67,))]


def lane_strands(case: Case, pes: int) -> list[Strand]:
    """Return the strands that the lanes issue for the first result of a model."""
    schedule = read(case.proto(), pes=pes, effort=0).schedule
    return [strand for strand in schedule.units["lane_issue"] if strand.comment.endswith(" y")]


def test_a_window_of_each_channel_starts_once() -> None:
    """Map, weights and bias lie spread over the lanes alike, and two of them in one memory."""
    arrays = {"w": drawn(8, 1, 3, 3), "b": drawn(8), "v": drawn(8, 1, 3, 3), "c": drawn(8)}
    nodes = [node("Conv", "x w b", "t", group=8), node("Conv", "t v c", "y", group=8)]
    case = Case(nodes=nodes, arrays=arrays, shapes={"x": (8, 6, 6)})
    (strand,) = lane_strands(case, 8)
    assert (len(strand.body), strand.reduce, strand.counts) == (10, 0, (2, 2, 1))


@pytest.mark.parametrize(("most", "body"), [(0, 10), (9, 4), (4, 4), (3, 2), (2, 2)])
def test_no_more_is_written_out_than_an_array_has_room_for(most: int, body: int) -> None:
    """An overlay has strands of a few operations. A third of nine products and the bias are four."""
    arrays = {"w": drawn(8, 1, 3, 3), "b": drawn(8), "v": drawn(8, 1, 3, 3), "c": drawn(8)}
    nodes = [node("Conv", "x w b", "t", group=8), node("Conv", "t v c", "y", group=8)]
    made = read(Case(nodes=nodes, arrays=arrays, shapes={"x": (8, 6, 6)}).proto(), pes=8, effort=0)
    schedule = schedule_graph(made.graph, replace(made.template, body=most), made.format, EFFORTS[0])
    check(schedule)
    assert max(len(strand.body) for strand in schedule.units["lane_issue"]) == body


def test_a_bias_that_lies_beside_the_weights_gets_a_second_bank() -> None:
    """The map comes over the bus, so each turn has the weights of one memory, and the bias of another."""
    case = Case(
        nodes=[node("Conv", "x w b", "y")], arrays={"w": drawn(8, 2, 3, 3), "b": drawn(8)}, shapes={"x": (2, 5, 5)}
    )
    (strand,) = lane_strands(case, 8)
    assert (len(strand.body), strand.reduce) == (1, 3)
    assert strand.body[0].field("c") == "interim"


@pytest.mark.parametrize("pes", [4, 8])
def test_the_words_are_right(pes: int) -> None:
    arrays = {"w": drawn(8, 1, 3, 3), "b": drawn(8), "v": drawn(8, 8, 1, 1), "c": drawn(8)}
    nodes = [node("Conv", "x w b", "t", group=8), node("Conv", "t v c", "y")]
    case = Case(nodes=nodes, arrays=arrays, shapes={"x": (8, 4, 4)}, count=2)
    done = read(case.proto(), pes=pes, effort=0).simulate(case.samples())
    assert np.abs(done.arrays["y"]).max() > 1
