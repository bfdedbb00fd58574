"""What kernels add to the machine, through the Verilog in Icarus: every word, result and cycle."""

from __future__ import annotations

import pytest

from tabla.graph.format import Format
from tabla.graph.graph import ExtremeOp
from tabla.graph.passes.legalise.materialise import materialise
from tabla.schedule.check import check
from tabla.schedule.mapping.search import Search
from tabla.schedule.placing.build import schedule_mapping
from tabla.templates.template import template_for
from tests.end_to_end.algorithms import hold_against_evaluation, hold_schedule, need
from tests.schedule.kernels import padded
from tests.schedule.strands.scans import Shape, scan_graph
from tests.schedule.strands.test_extremes import columns, elementwise, rows
from tests.schedule.strands.test_gathers import agree, embedding, rows_of

Q6_10 = Format(integer=6, fraction=10)


@pytest.mark.parametrize(("made", "op"), [(rows, "max"), (elementwise, "min"), (columns, "min")])
def test_extremes(made: object, op: ExtremeOp) -> None:
    need("icarus")
    hold_against_evaluation(made(op), "icarus", 4, Q6_10, samples=2)  # type: ignore[operator]


def test_padding() -> None:
    need("icarus")
    hold_against_evaluation(padded(size=3, channels=1, filters=2), "icarus", 4, Q6_10, samples=2)


def test_gathers() -> None:
    need("icarus")
    agree(embedding(4, 9), 2, samples=3, engine="icarus")
    # Fetches far ahead of their words; rows that are no single loop.
    agree(rows_of((6,), 2), 1, samples=3, engine="icarus")
    agree(rows_of((2, 5), 3, turned=True), 2, samples=3, engine="icarus")


@pytest.mark.parametrize(
    "shape",
    [
        Shape(kind="products", rows=2, outputs=6, points=5, sign=-1, offset=1),
        Shape(kind="scaled", rows=2, outputs=4, points=3, offset=-1),
        Shape(kind="both", rows=6, outputs=5, points=3, offset=-1, last=True),
    ],
)
def test_running(shape: Shape) -> None:
    need("icarus")
    hold_against_evaluation(scan_graph(shape), "icarus", 2, Q6_10, samples=2)


def test_running_in_lanes() -> None:
    """Rows over the lanes, which the search does not choose here: their words must go up afterwards."""
    need("icarus")
    for kind in ("products", "min"):
        graph = scan_graph(Shape(kind=kind, rows=5, points=4, offset=-1))
        whole = materialise(graph, Q6_10)
        mappings = Search(whole, template_for(4).with_roots(1).with_sequencers(1)).candidates(8)
        mapping = next(m for m in mappings if m.fits[0].way == "lane")
        made = schedule_mapping(whole, mapping, Q6_10)
        assert made is not None
        check(made)
        hold_schedule(made, "icarus", samples=2)
