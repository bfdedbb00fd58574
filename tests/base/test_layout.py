"""Text that fits a width: nothing is lost, no number changes, and a pipe gets each row in one line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabla.base.layout import columns_of, folded, laid_out

WORDS = st.lists(st.text(st.characters(codec="ascii", categories=("L", "N")), min_size=1, max_size=12), max_size=20)
ROWS = st.integers(2, 7).flatmap(
    lambda columns: st.lists(
        st.tuples(st.lists(st.integers(0, 10**9).map(str), min_size=columns, max_size=columns), WORDS.map(" ".join)),
        min_size=1,
        max_size=5,
    )
)
HEAD = ("line", "cycles", "statement")
TABLE = [HEAD, ("7", "128", "h = sum[i](w[i] * x[i]) + b, and what follows it"), ("", "4", "move h to root")]


@given(ROWS, st.integers(30, 120))
def test_every_word_stays_and_the_lines_fit(rows: list[tuple[list[str], str]], width: int) -> None:
    table = [(*numbers, text) for numbers, text in rows]
    lines = laid_out(table, width, texts=(len(table[0]) - 1,))
    assert " ".join(lines).split() == [word for row in table for cell in row for word in cell.split()]
    assert all(columns_of(line) <= width for line in lines)


@given(ROWS)
def test_a_pipe_has_a_line_for_each_row(rows: list[tuple[list[str], str]]) -> None:
    table = [(*numbers, text) for numbers, text in rows]
    lines = laid_out(table, None, texts=(len(table[0]) - 1,))
    assert [line.split() for line in lines] == [" ".join(row).split() for row in table]


def test_the_last_text_wraps_below_itself() -> None:
    assert laid_out(TABLE, 40, texts=(2,)) == [
        "line  cycles  statement",
        "   7     128  h = sum[i](w[i] * x[i]) +",
        "              b, and what follows it",
        "           4  move h to root",
    ]


def test_without_room_the_text_has_lines_of_its_own() -> None:
    assert laid_out(TABLE, 34, texts=(2,)) == [
        "line  cycles",
        "      statement",
        "   7     128",
        "      h = sum[i](w[i] * x[i]) + b,",
        "      and what follows it",
        "           4",
        "      move h to root",
    ]


def test_wide_characters_take_two_columns() -> None:
    rows = [("名前", "1"), ("ab", "2")]
    assert laid_out(rows, None, texts=(0,)) == ["名前  1", "ab    2"]
    assert columns_of("é名") == 3


def test_no_rows_are_no_lines() -> None:
    assert laid_out([], 80) == []


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("bound        33, set by path of some words", "bound        33, set by path of some\n             words"),
        ("one two three four five six seven eight nine", "one two three four five six seven\n  eight nine"),
        ("    an indented line goes on where it began", "    an indented line goes on where\n    it began"),
        ("a short line", "a short line"),
    ],
)
def test_lines_are_folded(line: str, shown: str) -> None:
    assert folded(line, 36) == shown
    assert folded(line, None) == line
