"""Categories: texts of a column, each of which becomes a column of 0 and 1, or the number of a row of a model."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabla.base.arrays import Reals
from tabla.base.cells import meaning_of
from tabla.base.source import TablaError
from tabla.base.table import Table
from tabla.learn.data.classes import class_name, sorted_names

Categories = Mapping[str, tuple[str, ...]]
"""The categories of the columns of an input, in the order of the columns. A column of numbers has none."""
MOST = 50
"""So many categories of a column are taken unasked."""
_FEW_ROWS = 20
"""In fewer rows, a column may have a text of its own in each of them."""
_NAMING = "leave the column out with --columns, or if it is meant: --categories {column}"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Encoded:
    """A column as numbers, [rows, elements], and how many of its cells have a category that is not known.

    A missing cell is no number (NaN) in all elements.
    """

    values: Reals
    unknown: int = 0


def spans(categories: Categories) -> Iterator[tuple[str, slice]]:
    """Yield the columns of an input, each with the positions of its elements."""
    start = 0
    for column, known in categories.items():
        end = start + max(1, len(known))
        yield column, slice(start, end)
        start = end


def elements(categories: Categories) -> tuple[str, ...]:
    """Return the names of the elements of an input: a column of numbers, or a category of a column."""
    return tuple(
        name
        for column, known in categories.items()
        for name in ([f"{column}={category}" for category in known] if known else [column])
    )


def fitted_categories(
    table: Table, column: int, rows: NDArray[np.int64], missing: NDArray[np.bool_], *, asked: bool
) -> tuple[str, ...]:
    """Return the categories that a column has in some rows, sorted.

    Unless the user has `asked` for them, a column of dates or other numbers in disguise, and a column whose texts name
    the rows, are a `TablaError`.
    """
    kept = rows[~missing[rows]]
    cells, header = table.cells[column][kept], table.header[column]
    if not len(kept):
        raise TablaError(
            f"{table.origin}: column '{header}' has no value in the training part", hint="leave the column out"
        )
    names = sorted_names({class_name(cell) for cell in cells})
    if asked:
        return names
    meanings = [meaning_of(cell) for cell in cells]
    if (first := meanings[0]) is not None and all(meanings):
        raise TablaError(f"{table.place(int(kept[0]), column)}: '{cells[0]}' {first.what}", hint=first.cure)
    if len(names) > MOST or (len(cells) >= _FEW_ROWS and 2 * len(names) > len(cells)):
        raise TablaError(
            f"{table.place(int(kept[0]), column)}: '{cells[0]}' is one of {len(names)} texts in {len(cells)} rows,"
            " which are too many for categories",
            hint=_NAMING.format(column=header),
        )
    return names


def encoded(
    table: Table, column: int, known: Sequence[str], missing: NDArray[np.bool_], *, gaps: bool, unknown: str
) -> Encoded:
    """Return a column of categories as 0 and 1, an element for each of those that are `known`.

    Without `gaps` a cell that is `missing` is a `TablaError`. A category that is not known has zeros alone, or if
    `unknown` is ``error``, it is a `TablaError`.
    """
    places = {name: place for place, name in enumerate(known)}
    values, strangers = np.zeros((len(table), len(known))), 0
    for row, cell in enumerate(table.cells[column]):
        if missing[row]:
            if not gaps:
                raise table.missing(row, column)
            values[row] = np.nan
        elif (name := class_name(cell)) in places:
            values[row, places[name]] = 1
        elif unknown == "error":
            raise TablaError(
                f"{table.place(row, column)}: '{name}' is none of the categories {_listed(known)}",
                hint="correct it, or let --unknown zeros take it for none of them",
            )
        else:
            strangers += 1
    return Encoded(values=values, unknown=strangers)


def numbered(
    table: Table, column: int, known: Sequence[str], missing: NDArray[np.bool_], *, gaps: bool
) -> NDArray[np.float64]:
    """Return a column of categories, [rows, 1], as their positions among those that are `known`.

    Without `gaps` a cell that is `missing` is a `TablaError`, and with them it is no number (NaN). So is a category
    that is not known, because no row of a model belongs to it.
    """
    places = {name: place for place, name in enumerate(known)}
    values = np.full((len(table), 1), np.nan)
    for row, cell in enumerate(table.cells[column]):
        if missing[row]:
            if not gaps:
                raise table.missing(row, column)
        elif (name := class_name(cell)) in places:
            values[row] = places[name]
        else:
            raise TablaError(
                f"{table.place(row, column)}: '{name}' is none of the categories {_listed(known)}, so no row of the"
                " model belongs to it",
                hint="leave the sample out, or learn from data that has it",
            )
    return values


def declared_fault(name: str, categories: Categories, shape: tuple[int, ...]) -> TablaError:
    """Return the fault of an input whose columns, with their categories, do not fit what the program declares."""
    counts = ", ".join(f"{column} {len(known)}" for column, known in categories.items() if known)
    declared = name + "".join(f"[{size}]" for size in shape)
    width = len(elements(categories))
    if not counts:
        what = f"'{name}' takes {width} of the columns, but the program declares '{declared}'"
        return TablaError(what, hint=f"declare '{name}[{width}]'")
    return TablaError(
        f"the {len(categories)} columns of '{name}' are {width} numbers with their categories ({counts}), but the"
        f" program declares '{declared}'",
        hint=f"declare '{name}[{width}]', which -D does for a size that has a name; or name other columns",
    )


def refuse_strange_columns(asked: Collection[str], table: Table, taken: Collection[int]) -> None:
    """Raise `TablaError` for categories of a column that a table does not have, or that is not `taken` by an input."""
    for column in asked:
        if column not in table.header:
            fault = table.no_column(column)
            raise TablaError(f"--categories: {fault.message}", hint=fault.hint)
        if table.header.index(column) not in taken:
            raise TablaError(
                f"--categories: no input takes the column '{column}'",
                hint="name it with --columns; the values of a label are classes, which --classes names",
            )


def _listed(names: Sequence[str], most: int = 12) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
