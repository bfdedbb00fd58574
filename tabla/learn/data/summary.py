"""What data holds, as a table: each column or array, its numbers or classes, and the samples of each part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabla.base.arrays import unreserved
from tabla.base.cells import is_gap
from tabla.base.html import table
from tabla.base.layout import laid_out
from tabla.base.source import TablaError
from tabla.base.table import Table
from tabla.build.arrays import check_counts
from tabla.learn.data.classes import class_name, sorted_names
from tabla.learn.data.options import DataOptions

_HEAD = ("name", "for", "holds", "least", "mean", "greatest", "deviation")
_TEXTS = (0, 1, 2)
"""The columns of texts; the figures stand at the right of theirs."""
_MOST_CLASSES = 8
"""So many classes are shown with their counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A column of a table, or an array.

    `taken_by` is the input or label that takes the column. `holds` says what is in it: numbers with their shape, or
    classes with their counts. The four figures are those of all numbers, and None for texts.
    """

    name: str
    taken_by: str
    holds: str
    least: float | None = None
    mean: float | None = None
    greatest: float | None = None
    deviation: float | None = None

    def cells(self) -> tuple[str, ...]:
        """Return the row as texts."""
        numbers = (self.least, self.mean, self.greatest, self.deviation)
        return self.name, self.taken_by, self.holds, *("" if one is None else f"{one:.4g}" for one in numbers)


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The summary of data. `parts` has the number of samples of each part, and `name` says where the data are."""

    name: str
    samples: int
    rows: tuple[Row, ...]
    parts: Mapping[str, int]

    @property
    def head(self) -> str:
        """The line above the table."""
        shares = ", ".join(f"{count} {part}" for part, count in self.parts.items())
        return f"{self.name}: {self.samples} samples" + (f" ({shares})" if shares else "")

    def text(self) -> str:
        """Return the table as text."""
        return "\n".join([self.head, *laid_out([_HEAD, *(row.cells() for row in self.rows)], None, texts=_TEXTS)])

    def __str__(self) -> str:
        return self.text()

    def html(self) -> str:
        """Return the table as HTML."""
        return table([row.cells() for row in self.rows], head=_HEAD, texts=_TEXTS, caption=self.head)

    def _repr_html_(self) -> str:
        """Return the table as a notebook shows it."""
        return self.html()


def table_summary(table: Table, options: DataOptions, tested: int | None = None) -> Summary:
    """Return the summary of a table, with so many `tested` samples in a test part of its own.

    A split that leaves a part empty is a `TablaError`.
    """
    if options.missing == "drop":
        table = _complete(table, options)
    used = min(len(table), options.samples or len(table))
    return _summary(table.origin.strip("'"), used, tuple(_of_table(table, options, used)), options, tested)


def _complete(table: Table, options: DataOptions) -> Table:
    """Return the rows in which no value of a column that is taken is missing."""
    named = table.resolved({name: tuple(each) for name, each in (options.columns or {}).items()})
    taken = {column for columns in named.values() for column in columns} or set(table.header)
    gaps = [table.gaps(place) for place, header in enumerate(table.header) if header in taken]
    return table.taken(np.flatnonzero(~np.any(gaps, axis=0)))


def arrays_summary(
    name: str, arrays: Mapping[str, NDArray[Any]], options: DataOptions, tested: int | None = None
) -> Summary:
    """Return the summary of arrays, which `name` stands for, as `table_summary` does.

    Arrays that disagree in the number of samples, and a split that leaves a part empty, are a `TablaError`.
    """
    plain = unreserved(arrays)
    counts = {each: len(array) for each, array in plain.items() if array.ndim}
    if not plain:
        raise TablaError("the data holds no array", hint="give at least one")
    check_counts(counts)
    count = next(iter(counts.values()), 1)
    used = min(count, options.samples or count)
    first = {each: array[:used] if array.ndim else array for each, array in plain.items()}
    return _summary(name, used, tuple(_of_arrays(first, options)), options, tested)


def _summary(name: str, used: int, rows: tuple[Row, ...], options: DataOptions, tested: int | None) -> Summary:
    split, parts = options.shares, dict[str, int]()
    if split is not None or tested is not None:
        training, validation, test = used, 0, tested or 0
        if split is not None:
            found = split.indices(used)
            training, validation, test = len(found.training), len(found.validation), len(found.test) + test
        named = {"training": training, "validation": validation, "test": test}
        parts = {part: count for part, count in named.items() if count}
    return Summary(name=name, samples=used, rows=rows, parts=parts)


def _of_table(table: Table, options: DataOptions, used: int) -> Iterator[Row]:
    """Yield the columns, each with the input or label that takes it: by name, or else by the header."""
    named = table.resolved({name: tuple(each) for name, each in (options.columns or {}).items()})
    taken = {column: name for name, columns in named.items() for column in columns}
    for place, header in enumerate(table.header):
        name = taken.get(header, "") if named else header.partition("[")[0]
        if name in options.classes:
            yield Row(name=header, taken_by=name, holds=_classes(table.cells[place][:used], "classes"))
            continue
        if header in options.categories:
            yield Row(name=header, taken_by=name, holds=_classes(table.cells[place][:used], "categories"))
            continue
        try:
            yield _numbers(header, name, table.numbers(place, gaps=True)[:used])
        except TablaError:
            if _are_numbers(table.cells[place][:used]):
                yield Row(name=header, taken_by=name, holds="numbers, of which some are not finite")
                continue
            yield Row(name=header, taken_by=name, holds=_classes(table.cells[place][:used], "texts"))


def _of_arrays(arrays: Mapping[str, NDArray[Any]], options: DataOptions) -> Iterator[Row]:
    for name, array in arrays.items():
        if name in options.classes or array.dtype.kind not in "biuf":
            what = "classes" if name in options.classes else "texts"
            yield Row(name=name, taken_by=name, holds=_classes(array.reshape(-1), what))
        else:
            yield _numbers(name, name, array)


def _numbers(name: str, taken_by: str, array: NDArray[Any]) -> Row:
    real = array.astype(np.float64)
    shape = f" of shape {array.shape[1:]}" if array.ndim > 1 else ""
    missing = int(np.isnan(real).sum())
    if real.size == missing:
        return Row(name=name, taken_by=taken_by, holds="nothing")
    real = real[~np.isnan(real)]
    return Row(
        name=name,
        taken_by=taken_by,
        holds=f"numbers{shape}" + (f", {missing} missing" if missing else ""),
        least=float(real.min()),
        mean=float(real.mean()),
        greatest=float(real.max()),
        deviation=float(real.std()),
    )


def _classes(values: NDArray[Any], what: str) -> str:
    counts = Counter(class_name(value) for value in values if not is_gap(value))
    listed = [f"{name} ({counts[name]})" for name in sorted_names(counts)]
    more = f" and {len(listed) - _MOST_CLASSES} more" if len(listed) > _MOST_CLASSES else ""
    missing = len(values) - counts.total()
    gaps = f", and {missing} missing" if missing else ""
    return f"{len(listed)} {what}: {', '.join(listed[:_MOST_CLASSES])}{more}{gaps}"


def _are_numbers(values: NDArray[Any]) -> bool:
    """Return whether all cells are numbers, infinities and missing ones among them."""
    try:
        values.astype(np.float64)
    except (TypeError, ValueError):
        return False
    return True
