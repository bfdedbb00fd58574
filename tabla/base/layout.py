"""Text that fits the width of a terminal: lines are folded, and the texts of tables wrap. Numbers never change.

A width of None is that of a pipe or a file. There a line is as long as it must be, so that ``grep`` finds a fact in one
line and the text does not depend on who reads it.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Collection, Iterator, Sequence
from unicodedata import combining, east_asian_width

GAP = "  "
LEAST = 24
"""The fewest columns that a text of a table is wrapped into. With less room it stands on lines of its own."""
_INDENT = "      "
_LABEL = re.compile(r"(\s*\S(?:(?!  ).){0,24}\s{2,})\S|(\s+)\S|")
"""What a folded line begins with: a label and two blanks at least, or blanks."""


def columns_of(text: str) -> int:
    """Return the columns that a terminal takes for a text: two for a wide character, and none for an accent."""
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def padded(text: str, width: int, *, right: bool = False) -> str:
    """Return a text with blanks up to a width, behind it or, with `right`, before it."""
    blanks = " " * (width - columns_of(text))
    return blanks + text if right else text + blanks


def folded(text: str, width: int | None) -> str:
    """Return a text whose lines are at most `width` columns, where words allow that.

    What follows a label goes on below its first word. An indented line keeps its indent, and any other gets a small
    one.
    """
    return "\n".join(line for each in text.split("\n") for line in _fold(each, width))


def _fold(line: str, width: int | None) -> list[str]:
    if width is None or columns_of(line) <= width:
        return [line]
    begin = _LABEL.match(line)
    assert begin is not None, "the pattern matches everywhere"
    indent = len(begin[1] or begin[2] or GAP)
    indent = indent if 2 * indent <= width else 2
    return _wrapped(line, width, " " * indent)


def _wrapped(text: str, width: int, indent: str = "") -> list[str]:
    """Return a text in lines of at most `width` characters. A word that is longer is never cut."""
    return textwrap.wrap(
        text,
        max(width, len(indent) + 1),
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
        replace_whitespace=False,
        drop_whitespace=True,
    ) or [""]


def laid_out(rows: Sequence[Sequence[str]], width: int | None, *, texts: Collection[int] = ()) -> list[str]:
    """Return the lines of a table, whose first row is its head. All rows have the same number of columns.

    The columns `texts` begin at the left, and all others, numbers, end at the right. If the table is wider than
    `width`, the text of its last column wraps. Where that leaves less than `LEAST` columns for it, the last columns of
    each row go on in lines of their own.
    """
    if not rows:
        return []
    count = len(rows[0])
    widths = [max(columns_of(row[column]) for row in rows) for column in range(count)]
    bands = [range(count)] if width is None else list(_bands(widths, width, last_wraps=count - 1 in texts))
    lines: list[str] = []
    for row in rows:
        for number, band in enumerate(bands):
            lines += _lines(row, band, widths, width, texts, _INDENT if number else "")
    return lines


def _bands(widths: Sequence[int], width: int, *, last_wraps: bool) -> Iterator[range]:
    """Yield the columns that stand in a line together."""
    first, taken, last = 0, 0, len(widths) - 1
    for column, own in enumerate(widths):
        needed = min(own, LEAST) if column == last and last_wraps else own
        if column > first and taken + len(GAP) + needed > width:
            yield range(first, column)
            first, taken = column, len(_INDENT) + needed
        else:
            taken += (len(GAP) if column > first else 0) + needed
    yield range(first, last + 1)


def _lines(
    row: Sequence[str], band: range, widths: Sequence[int], width: int | None, texts: Collection[int], indent: str
) -> Iterator[str]:
    """Yield the lines of a row for some of its columns. Only the last column of a table goes on in several lines."""
    *front, last = band
    head = indent + "".join(padded(row[c], widths[c], right=c not in texts) + GAP for c in front)
    if last not in texts:
        yield (head + padded(row[last], widths[last], right=True)).rstrip()
        return
    room = None if width is None or last != len(widths) - 1 else width - columns_of(head)
    pieces = [row[last]] if room is None or columns_of(row[last]) <= room else _wrapped(row[last], max(room, 1))
    for number, piece in enumerate(pieces):
        yield ((" " * columns_of(head) if number else head) + piece).rstrip()
