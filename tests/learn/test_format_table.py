"""The table of compared formats: which cells are close to float64, which one is named, and what is printed."""

from __future__ import annotations

import math

import pytest

from tabla.graph.format import Format
from tabla.learn.format_table import Cell, FormatTable
from tabla.learn.measure import Score
from tabla.learn.metrics import PLAIN


def cell(width: int, guard: int, metric: float | None, refused: str = "") -> Cell:
    score = None if metric is None else Score(loss=0.1, metric=metric)
    return Cell(width=width, guard=guard, format=Format(integer=4, fraction=width - 4), score=score, refused=refused)


def table(float64: float, *cells: Cell) -> FormatTable:
    return FormatTable(
        name="model",
        metric=PLAIN["r2"],
        samples=30,
        validation_samples=10,
        epochs=1,
        patience=None,
        float64=Score(loss=0.1, metric=float64),
        cells=cells,
    )


@pytest.mark.parametrize(
    ("metric", "close"),
    [(0.955, True), (0.9501, True), (0.95, True), (0.9499, False), (0.99, True), (-3.0, False), (math.nan, False)],
)
def test_half_a_point_is_close(metric: float, close: bool) -> None:
    """0.955 - 0.95 is not exactly half a point in float64, and counts as that."""
    made = cell(8, 0, metric)
    assert table(0.955, made).close(made) is close
    assert (table(0.955, made).narrowest is made) is close


def test_the_fewest_bits_and_then_the_fewest_guard_bits() -> None:
    narrow = (cell(8, 0, 0.5), cell(8, 4, None, "why"), cell(9, 0, 0.1), cell(9, 4, 0.9))
    cells = (*narrow, cell(10, 0, 0.95), cell(10, 4, 0.9))
    made = table(0.9, *cells)
    assert made.narrowest is cells[3]
    assert made.as_json()["narrowest"] == {"bits": 9, "model_guard": 4, "format": "q4.5"}
    assert made.text().splitlines() == [
        "model: 30 samples to learn from, 10 to choose by, 1 epoch",
        "validation r2 in points, of 100 at the most",
        "",
        "float64            90.00",
        "",
        "bits  format       G = 0           G = 4",
        "   8  q4.4         50.00         refused [1]",
        "   9  q4.5         10.00           90.00 *",
        "  10  q4.6         95.00 *         90.00 *",
        "",
        "  *  at most half a point below float64",
        "[1]  why",
        "",
        "narrowest    9 bits: --format q4.5 --model-guard 4",
    ]


def test_a_table_without_a_close_format() -> None:
    made = table(0.9, cell(8, 0, 0.5), cell(9, 0, math.inf * 0))
    lines = made.text().splitlines()
    assert lines[-1] == "narrowest    none of these formats is within half a point of float64"
    assert lines[-3].split() == ["9", "q4.5", "no", "number"] and "*" not in made.text()
    assert made.as_json()["narrowest"] is None and made.as_json()["cells"][1]["metric"] is None
