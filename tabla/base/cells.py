"""What a cell of a table is: a number, a missing value, or a text; and what a text that is no number probably means."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

GAPS = ("", "na", "n/a", "#n/a", "nan", "-nan", "null", "<na>", "?")
"""The texts of a cell whose value is missing, in lower case."""
GAP_CURE = (
    "--missing drop leaves such rows out, --missing mean puts the mean of the training part there; or write a number"
)
"""What to do about a missing value of data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """What a text that is no number probably means, as the end of a sentence, and what to do about it."""

    what: str
    cure: str


_DATE = Meaning(
    what="is a date, and no number",
    cure="write a number for it, such as the days since the first date, or its month and its weekday in columns of"
    " their own; or leave the column out",
)
_TIME = Meaning(what="is a time, and no number", cure="write the hours or the seconds as a number")
_COMMA = Meaning(
    what="has a decimal comma",
    cure="write a decimal point; where semicolons separate the columns, a decimal comma is read, too",
)
_UNIT = Meaning(what="has a unit", cure="write the number alone, and the unit into the name of the column")
_NOTHING = Meaning(
    what="is not a number, but may stand for a missing value",
    cure="leave the cell empty, and choose with --missing what is done then; or write the number",
)
_GARBLED = Meaning(
    what="is not a number",
    cure="write numbers such as -1.5e3; if these are codes, --categories takes the column for categories",
)
_KINDS = (
    (re.compile(r"\d{4}[-./]\d{1,2}[-./]\d{1,2}([T ]\d{1,2}:.*)?", re.ASCII), _DATE),
    (re.compile(r"\d{1,2}([-./])\d{1,2}\1(\d{4}|\d{2})( \d{1,2}:.*)?", re.ASCII), _DATE),
    (re.compile(r"\d{1,2}[- .]{1,2}[A-Za-z]{3,9}[- .]{1,2}(\d{4}|\d{2})", re.ASCII), _DATE),
    (re.compile(r"\d{1,3}:\d{2}(:\d{2}(\.\d+)?)?( ?[AaPp][Mm])?", re.ASCII), _TIME),
    (re.compile(r"[+-]?\d+,(\d{1,2}|\d{4,})", re.ASCII), _COMMA),
    (re.compile(r"[+-]?[$€£] ?\d[\d.,]*|[+-]?\d[\d.,]* ?([$€£%‰°]|k|[kmcµ]?[gmlsVAW]|km/h|°C|°F)"), _UNIT),
    (re.compile(r"-+|\.+|none|missing|unknown|not available", re.IGNORECASE), _NOTHING),
    (re.compile(r"[+-]?[.,]?\d[\d.,:/'’ ()+-]*"), _GARBLED),
)
_THOUSANDS = re.compile(
    r"[+-]?\d{1,3}(,\d{3})+(\.\d*)?|[+-]?\d{1,3}(\.\d{3}){2,}(,\d*)?"
    r"|[+-]?\d{1,3}(\.\d{3})+,\d*|[+-]?\d{1,3}(['’ \u00a0\u202f]\d{3})+([.,]\d*)?",
    re.ASCII,
)
_POINT_GROUP = re.compile(r"[+-]?[1-9]\d{0,2}\.\d{3}", re.ASCII)


def is_gap(cell: object) -> bool:
    """Return whether the value of a cell is missing: a text of `GAPS`, None, or the missing value of a data frame."""
    if isinstance(cell, str):
        return cell.strip().lower() in GAPS
    # A comparison with the missing value of pandas has no truth value.
    return cell is None or type(cell).__name__ in ("NAType", "NaTType") or bool(cell != cell)


def gaps(cells: NDArray[Any]) -> NDArray[np.bool_]:
    """Return for each cell whether its value is missing."""
    return np.fromiter((is_gap(cell) for cell in cells), np.bool_, len(cells))


def is_number(cell: object, *, comma: bool = False) -> bool:
    """Return whether a cell is a number, an infinite one among them. With `comma` it may have a decimal comma."""
    try:
        float(cell.replace(",", ".") if comma and isinstance(cell, str) else cell)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False
    return not is_gap(cell)


def meaning_of(cell: object) -> Meaning | None:
    """Return what a cell that is no number probably means; None for a number, and for a text that is only a text."""
    if is_number(cell):
        return None
    if type(cell).__name__ in ("datetime64", "datetime", "date", "Timestamp", "Timedelta", "timedelta64"):
        return _DATE
    text = str(cell).strip()
    if _THOUSANDS.fullmatch(text):
        digits = re.sub(r"['’ \u00a0\u202f]", "", text)
        last = max(digits.rfind("."), digits.rfind(","))
        # The sign that comes once, and last, is the decimal sign if the other one stands before it.
        decimal = last if {".", ","} <= set(digits) or len(digits) - last != 4 else -1
        plain = "".join(
            "." if k == decimal else sign for k, sign in enumerate(digits) if k == decimal or sign not in ".,"
        )
        return Meaning(what="has a thousands separator", cure=f"write {plain}")
    return next((meaning for pattern, meaning in _KINDS if pattern.fullmatch(text)), None)


def point_groups(cells: NDArray[Any]) -> tuple[int, int] | None:
    """Return the place of a cell such as ``1.234``, and that of one with a decimal comma, in a column with commas.

    In such a column the point may separate thousands, so nobody can tell the number. None if there are no two such
    cells.
    """
    point = next((k for k, cell in enumerate(cells) if isinstance(cell, str) and _POINT_GROUP.fullmatch(cell)), None)
    if point is None:
        return None
    comma = next(
        (k for k, cell in enumerate(cells) if isinstance(cell, str) and re.fullmatch(r"[+-]?\d+,\d+", cell)), None
    )
    return None if comma is None else (point, comma)


def is_finite(cell: object) -> bool:
    """Return whether a cell, which is a number, is finite."""
    return math.isfinite(float(cell))  # type: ignore[arg-type]
