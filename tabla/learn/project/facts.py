"""What a table is good for: the columns that a model may read, those that are left out, and what the label is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tabla.base.cells import is_gap, is_number, meaning_of
from tabla.base.source import TablaError
from tabla.base.table import SUFFIXES, Table, read_table
from tabla.learn.data.categories import MOST, fitted_categories
from tabla.learn.data.classes import class_name, sorted_names

_MOST_CLASSES = 20
"""Whole numbers of so many values are classes."""
_EACH = 5
"""Whole numbers are classes only if there are so many rows for each of them."""
_LEAST_ROWS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A column that no input takes, and the reason."""

    column: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What was found in a table.

    `inputs` are the columns that a model reads. `label` is the column that it predicts, or empty. `classes` are the
    values of the label, if they name classes. `gaps` says whether a value is missing in one of these columns, and
    `header` whether the table has one.
    """

    table: Table
    inputs: tuple[str, ...]
    left_out: tuple[LeftOut, ...]
    label: str
    classes: tuple[str, ...]
    gaps: bool
    header: bool

    @property
    def named(self) -> tuple[str, ...]:
        """The names that the columns of a table without a header got."""
        return () if self.header else self.table.header


def facts_of(path: Path, label: str | None) -> Facts:
    """Look at a table, and at the column of its label, if it has one.

    A file that is no table, a table with too few rows, a label that it does not have, and columns of numbers that are
    written in another way are a `TablaError`.
    """
    if path.suffix not in SUFFIXES:
        raise TablaError(f"'{path}' is no table", hint=f"give a file that ends in {', '.join(SUFFIXES)}")
    table, header = read_table(path), True
    if table.headless:
        table, header = read_table(path, header=False), False
    if len(table) < _LEAST_ROWS:
        raise TablaError(
            f"'{path}' has {len(table)} rows, and a model learns nothing from so few", hint="give a larger table"
        )
    if label is not None and label not in table.header:
        raise table.no_column(label)
    inputs: list[str] = []
    left_out: list[LeftOut] = []
    for column, name in enumerate(table.header):
        if name != label:
            reason = _reason(table, column)
            left_out += [LeftOut(column=name, reason=reason)] if reason else []
            inputs += [] if reason else [name]
    if not inputs:
        listed = "; ".join(f"{each.column}: {each.reason}" for each in left_out) or "there is no other"
        raise TablaError(f"'{path}' has no column that a model could read ({listed})", hint="add columns of numbers")
    used = [table.header.index(name) for name in (*inputs, *([label] if label else []))]
    return Facts(
        table=table,
        inputs=tuple(inputs),
        left_out=tuple(left_out),
        label=label or "",
        classes=() if label is None else _classes(table, table.header.index(label)),
        gaps=any(table.gaps(column).any() for column in used),
        header=header,
    )


def _reason(table: Table, column: int) -> str:
    """Return why no model reads a column; the text is empty if one can.

    A column of numbers with separators of thousands, with units or with a slip among its cells is a `TablaError`,
    because it would be missed.
    """
    missing = table.gaps(column)
    rows = np.flatnonzero(~missing)
    cells = table.cells[column][rows]
    if not len(rows):
        return "all its values are missing"
    if len({str(cell) for cell in cells}) == 1:
        return f"it is '{cells[0]}' in all rows"
    numbers = [is_number(cell, comma=table.comma) for cell in cells]
    if all(numbers):
        values = table.numbers(column, gaps=True)
        return "it counts the rows" if not missing.any() and _counts(values) else ""
    if 2 * sum(numbers) >= len(cells):
        table.numbers(column, gaps=True)  # this says which cell is no number
    if any(numbers):
        return f"it has texts among its numbers, such as '{cells[numbers.index(False)]}'"
    meanings = [meaning_of(cell) for cell in cells]
    if (first := meanings[0]) is not None and all(meanings):
        if "date" in first.what or "time" in first.what:
            return f"'{cells[0]}' {first.what}"
        fitted_categories(table, column, rows, missing, asked=False)  # this says what to write
    names = {class_name(cell) for cell in cells}
    if len(names) > MOST or 2 * len(names) > len(cells):
        return f"it has {len(names)} different texts in {len(cells)} rows"
    return ""


def _counts(values: NDArray[np.float64]) -> bool:
    """Return whether numbers count the rows, from any number."""
    return bool(np.array_equal(values, values[0] + np.arange(len(values))) and values[0] == np.round(values[0]))


def _classes(table: Table, column: int) -> tuple[str, ...]:
    """Return the classes that a label names, in order; none if it is a number to predict."""
    cells = [cell for cell in table.cells[column] if not is_gap(cell)]
    if not cells:
        raise TablaError(f"column '{table.header[column]}' has no value", hint="name another column with --label")
    names = sorted_names({class_name(cell) for cell in cells})
    numbers = all(is_number(cell, comma=table.comma) for cell in cells)
    if len(names) == 1:
        raise TablaError(
            f"column '{table.header[column]}' is '{names[0]}' in all rows, so there is nothing to predict",
            hint="name another column with --label",
        )
    if numbers and len(names) > 2 and not _few(cells, names):
        return ()
    if not numbers:
        _refuse_disguised(table, column, cells, names)
    return names


def _few(cells: Sequence[object], names: Sequence[str]) -> bool:
    """Return whether numbers have so few values, all of them whole, that these are classes."""
    whole = all(name.lstrip("+-").isdigit() for name in names)
    return whole and len(names) <= _MOST_CLASSES and _EACH * len(names) <= len(cells)


def _refuse_disguised(table: Table, column: int, cells: Sequence[object], names: Sequence[str]) -> None:
    """Raise `TablaError` for a label that is a number in disguise, or whose texts name the rows."""
    rows = np.flatnonzero(~table.gaps(column))
    plain = [is_number(cell, comma=table.comma) for cell in cells]
    if any(plain) and 2 * len(names) > len(cells):
        table.numbers(column, gaps=True)  # this says which cell is no number
    for row, cell, number in zip(rows.tolist(), cells, plain, strict=True):
        meaning = None if number else meaning_of(cell)
        if meaning is None and not number:
            break
        if meaning is not None:
            raise TablaError(f"{table.place(row, column)}: '{cell}' {meaning.what}", hint=meaning.cure)
    if 2 * len(names) > len(cells):
        raise TablaError(
            f"column '{table.header[column]}' has {len(names)} different texts in {len(cells)} rows, which are no"
            " classes",
            hint="name the column that is to be predicted with --label",
        )
