"""Issue slots: one for each point and each product; in the lanes, one for each row of lanes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabla.graph.graph import Compare, Extreme, Function, Linear, Operation
from tabla.schedule.mapping.fit import Fit
from tabla.schedule.mapping.slots import issue_slots, lane_slots
from tabla.schedule.placing.build import schedule_mapping
from tabla.templates.template import timing
from tests.graph.examples import Builder, at, product, word
from tests.schedule.agreement import Q6_10, shaped_graph
from tests.schedule.mapping.single import array, legal_of, one_in_its_way
from tests.schedule.strands.scans import Shape, scan_graph

EXTENTS = {"i": 3, "j": 5}


@pytest.mark.parametrize(
    ("operation", "reduced", "slots"),
    [
        (Linear(terms=(product(at("w", "i"), at("x", "i")),)), "", 3),
        (Linear(terms=(product(at("w", "i"), at("x", "i")), word(at("x", "i")))), "", 3),
        (Linear(terms=(product(at("w", "i"), at("x", "i")), product(at("w", "i"), at("w", "i")))), "", 6),
        (Linear(terms=(product(at("w", "i"), at("z", "j"), "j"),)), "j", 15),
        (Compare(op="<", left=at("w", "i"), right=at("x", "i")), "", 3),
        (Function(name="exp", operand=at("x", "i")), "", 3),
        (Extreme(op="max", operands=(at("w", "i"), at("x", "i"))), "", 6),
        (Extreme(op="max", operands=(at("z", "j"),), reduce=("j",)), "j", 15),
    ],
)
def test_slots_of_one_statement(operation: Operation, reduced: str, slots: int) -> None:
    builder = Builder()
    builder.let("y", "i", operation, reduced, **EXTENTS)
    assert issue_slots(builder.statements[0]) == slots


@pytest.mark.parametrize(
    ("shape", "slots"),
    [
        (Shape(rows=2, outputs=3, points=5), 2 * 3),
        # Two products for each output; the start value is no further one.
        (Shape(kind="products", rows=2, outputs=3, points=5), 2 * 3 * 2),
        (Shape(kind="max", rows=2, outputs=3, points=5), 2 * 3),
        (Shape(kind="product", rows=2, outputs=3, points=5), None),
    ],
)
def test_slots_of_what_runs_on(shape: Shape, slots: int | None) -> None:
    statement = scan_graph(shape).statements[0]
    if slots is None:
        # A product waits for its own result at each point, and shows each output once.
        slots = max(2, timing().result) * 5 + 2 * 3
    assert issue_slots(statement) == slots


def test_products_at_the_root_take_the_slots_that_are_estimated() -> None:
    """The schedule's own count: turns of the root's strands times their operations."""
    graph = shaped_graph(
        "model_input x[6]; model w[4][6]; model v[6]; iterator i[0:4]; iterator j[0:6];"
        "y[i] = sum[j](w[i][j] * x[j]); z[j] = v[j] * x[j];"
    )
    legal = legal_of(graph, Q6_10)
    _, _, mapping = next(each for each in one_in_its_way(legal, 1) if each[1].way == "root")
    schedule = schedule_mapping(graph, mapping, Q6_10)
    assert schedule is not None
    for statement in legal.statements:
        strands = [s for s in schedule.units["root_issue"] if s.comment.split()[-1] == statement.target]
        assert sum(s.iterations * len(s.body) for s in strands) == issue_slots(statement)


@given(st.integers(1, 40), st.integers(0, 20), st.integers(1, 9))
def test_a_row_of_lanes_is_a_slot(extent: int, offset: int, lanes: int) -> None:
    """Element e lies in row e div P; every row that has a word of the statement is a slot, full or not."""
    builder = Builder()
    builder.let("y", "ij", Linear(terms=(product(at("w", "i", "j"), at("x", "i")),)), i=extent, j=2)
    fit = Fit(way="lane", index="i", offset=offset)
    rows = {(number + offset) // lanes for number in range(extent)}
    assert lane_slots(builder.statements[0], fit, lanes) == pytest.approx(2 * len(rows))


def test_more_lanes_take_no_more_slots() -> None:
    builder = Builder()
    builder.let("y", "i", Linear(terms=(product(at("w", "i"), at("x", "i")),)), i=37)
    fit = Fit(way="lane", index="i")
    slots = [lane_slots(builder.statements[0], fit, lanes) for lanes in range(1, 64)]
    assert slots == sorted(slots, reverse=True) and slots[0] == 37 and slots[-1] == 1
    assert lane_slots(builder.statements[0], replace(fit, offset=array(4).lanes), 4) == slots[3]
