"""Cells of tables: numbers, gaps, and texts that were meant as numbers."""

from __future__ import annotations

import datetime

import numpy as np
import pytest

from tabla.base.cells import gaps, is_gap, is_number, meaning_of, point_groups


@pytest.mark.parametrize(
    "cell", ["", "  ", "NA", "n/a", "#N/A", "NaN", "nan", "-nan", "null", "NULL", "<NA>", "?", None]
)
def test_gaps(cell: object) -> None:
    assert is_gap(cell)
    assert not is_number(cell)


@pytest.mark.parametrize("cell", ["0", "none", "-", "unknown", "inf", 0, False, "NAN1"])
def test_no_gaps(cell: object) -> None:
    assert not is_gap(cell)


def test_missing_values_of_frames() -> None:
    assert is_gap(float("nan")) and is_gap(np.datetime64("NaT")) and is_gap(np.float32("nan"))
    assert gaps(np.array([1.5, None, "?", "a"], dtype=object)).tolist() == [False, True, True, False]


def test_numbers() -> None:
    assert all(is_number(cell) for cell in ("1", "-1.5e3", ".5", "inf", 3, np.float64(2), True))
    assert not any(is_number(cell) for cell in ("1,5", "a", "1 000", "1.2.3"))
    assert is_number("1,5", comma=True) and not is_number("1,5,0", comma=True)


@pytest.mark.parametrize(
    ("cell", "what"),
    [
        ("2024-03-01", "date"),
        ("2024-03-01T12:30:00Z", "date"),
        ("1.3.2024", "date"),
        ("3/14/24", "date"),
        ("14-Mar-2024", "date"),
        (datetime.date(2024, 3, 1), "date"),
        (np.datetime64("2024-03-01"), "date"),
        ("12:30", "time"),
        ("1:02:03.5", "time"),
        ("9:15 pm", "time"),
        ("1,234", "thousands"),
        ("-12,345,678.9", "thousands"),
        ("1.234.567", "thousands"),
        ("1.234,5", "thousands"),
        ("12 345", "thousands"),
        ("1'234'567", "thousands"),
        ("1,5", "decimal comma"),
        ("$1,200.50", "unit"),
        ("12%", "unit"),
        ("5 kg", "unit"),
        ("1.2.3", "not a number"),
        ("555-1234", "not a number"),
    ],
)
def test_what_a_text_probably_means(cell: object, what: str) -> None:
    found = meaning_of(cell)
    assert found is not None
    assert what in found.what
    assert found.cure


@pytest.mark.parametrize("cell", ["male", "C", "3rd class", "x1", "setosa", "a-b", "B5", "m/f"])
def test_plain_texts(cell: str) -> None:
    assert meaning_of(cell) is None


@pytest.mark.parametrize(
    ("cell", "cure"),
    [
        ("1,234", "write 1234"),
        ("-12,345,678.9", "write -12345678.9"),
        ("1.234.567", "write 1234567"),
        ("1.234,5", "write 1234.5"),
        ("12 345,25", "write 12345.25"),
        ("1'234.5", "write 1234.5"),
    ],
)
def test_thousands_are_written_plainly(cell: str, cure: str) -> None:
    found = meaning_of(cell)
    assert found is not None and found.cure == cure


def test_points_among_commas() -> None:
    assert point_groups(np.array(["1,5", "1.234"], dtype=object)) == (1, 0)
    assert point_groups(np.array(["1,5", "2.5"], dtype=object)) is None
    assert point_groups(np.array(["1.234", "2.345"], dtype=object)) is None
