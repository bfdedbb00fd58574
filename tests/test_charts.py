"""The charts of the measurements: each is drawn from the table of its page, which stands folded below it."""

from __future__ import annotations

import re

import pytest

from manual.charts import CHARTS, LEFT, RIGHT, WIDTH, Chart, number, picture, rows
from tests.pages import DOCS


@pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: chart.name)
def test_a_chart_is_the_one_that_its_table_gives(chart: Chart) -> None:
    assert (DOCS / f"{chart.name}.svg").read_text(encoding="utf-8") == picture(chart), "run python -m manual.charts"
    page = (DOCS / chart.page).read_text(encoding="utf-8")
    assert re.search(rf'!\[[^\]]+\]\({chart.name}\.svg\)\n\n<details markdown="1"><summary>', page)


@pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: chart.name)
def test_bars_are_as_long_as_their_figures(chart: Chart) -> None:
    """Bars are in the order of the rows, and a larger figure has a longer bar."""
    text = picture(chart)
    drawn = re.findall(
        r'<rect class="c\d" x="226" [^>]*width="([\d.]+)"[^>]*/>\n<text class="value"[^>]*>([^<]*)<', text
    )
    table = rows(chart)
    shown = [row[column].strip("*") for row in table for column in chart.columns if number(row[column]) is not None]
    assert [figure for _, figure in drawn] == [f"{figure}{chart.unit}" for figure in shown]
    lengths = sorted((number(figure), float(length)) for length, figure in drawn)
    assert [length for _, length in lengths] == sorted(length for _, length in lengths)
    assert max(length for _, length in lengths) == WIDTH - LEFT - RIGHT


def test_every_row_of_the_table_of_the_processor_is_drawn() -> None:
    (chart,) = (chart for chart in CHARTS if chart.name == "chart-processor")
    assert [row["program"] for row in rows(chart)] == [
        *("linear 55", "logistic 54", "svm 54", "reco 138x130x10", "backprop 8-16-3")
    ]


@pytest.mark.parametrize(
    ("cell", "value"), [("5,523,153", 5523153), ("48.4 ± 1.5", 48.4), ("**5.83 of 2.36**", 5.83), ("162.3 (1)", 162.3)]
)
def test_numbers_of_cells(cell: str, value: float) -> None:
    assert number(cell) == value and number("none") is None
