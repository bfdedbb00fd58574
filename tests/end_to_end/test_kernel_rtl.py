"""What kernels add to the machine, through the Verilog in Icarus: every word, result and cycle."""

from __future__ import annotations

import pytest

from tabla.ir.format import Format
from tabla.ir.graph import ExtremeOp
from tests.end_to_end.algorithms import hold_against_evaluation, need
from tests.schedule.kernels import padded
from tests.schedule.test_extremes import columns, elementwise, rows
from tests.schedule.test_gathers import agree, embedding

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
