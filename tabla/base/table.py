"""Tables, whose columns become arrays: CSV files, and data frames given in Python.

Python's own `csv` module reads the files. It is always there, and it leaves each cell the text that it is: pandas takes
cells such as ``NA`` or an empty one for missing numbers and guesses the type of a column, so the same file could mean
different samples on machines with and without it. A data frame is asked for its columns, which needs no import.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from tabla.base.origin import Origin
from tabla.base.source import TablaError, refuse_pipe

Column = NDArray[Any]
Columns = Mapping[str, Sequence[str]]
DELIMITERS = ",;\t"
SUFFIXES = (".csv", ".tsv", ".txt")
MOST_AXES = 32
FRAME = "the data frame"
"""What errors call a data frame."""
REST = "*"
"""In place of a column's name: all columns that no other name of the program takes."""
MISSING = "remove the samples with missing values, or put numbers in their place"


@runtime_checkable
class Frame(Protocol):
    """A data frame of pandas, or another object that has named columns."""

    @property
    def columns(self) -> Iterable[Any]:
        """The names of the columns."""

    def __getitem__(self, name: Any, /) -> Any:
        """Return a column by its name."""

    def to_numpy(self) -> Any:
        """Return all values as an array."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Table:
    """A table with named columns. `origin` names it in errors.

    The cells of a file are texts. Those of a data frame have the types that they have there. `rows` are the numbers of
    the rows in errors: the first line of a file is row 1, and empty lines count, too. `comma` says that numbers have a
    decimal comma.
    """

    origin: str
    header: tuple[str, ...]
    cells: tuple[Column, ...] = field(repr=False)
    rows: Sequence[int] = field(repr=False)
    comma: bool = False

    def __len__(self) -> int:
        return len(self.cells[0]) if self.cells else 0

    def place(self, row: int, column: int) -> str:
        """Return the place of a cell for an error. Both numbers count from 0."""
        return f"{self.origin}: row {self.rows[row]}, column '{self.header[column]}'"

    @property
    def samples(self) -> Origin:
        """Where the samples are that the rows are."""
        return Origin(name=self.origin, unit="row", numbers=self.rows)

    def numbers(self, column: int) -> NDArray[np.float64]:
        """Return a column as finite numbers. Any other cell is a `TablaError` with its place."""
        cells = self.cells[column]
        if self.comma:
            cells = np.array([cell.replace(",", ".") for cell in cells], dtype=object)
        try:
            found = cells.astype(np.float64)
            if np.isfinite(found).all():
                return np.asarray(found)
        except (TypeError, ValueError):
            pass
        raise self._no_number(cells, column)

    def _no_number(self, cells: Column, column: int) -> TablaError:
        """Return the fault of the first cell of a column that is no finite number."""
        for row, cell in enumerate(cells):
            shown = f"{self.place(row, column)}: '{self.cells[column][row]}'"
            try:
                if not math.isfinite(float(cell)):
                    return TablaError(f"{shown} is not a finite number", hint=MISSING)
            except (TypeError, ValueError):
                hint = "write numbers such as -1.5e3; for the names of classes there is --classes"
                return TablaError(f"{shown} is not a number", hint=hint)
        raise AssertionError("every cell is a finite number")

    def labels(self, column: int) -> Column:
        """Return a column of names of classes. A missing one is a `TablaError` with its place."""
        for row, cell in enumerate(self.cells[column]):
            # A comparison with the missing value of pandas has no truth value.
            missing = cell is None or type(cell).__name__ == "NAType" or cell != cell
            if missing or not str(cell).strip():
                raise TablaError(
                    f"{self.place(row, column)}: the class is missing", hint="remove the sample, or write its class"
                )
        return self.cells[column]

    def arrays(
        self, columns: Columns | None, texts: Collection[str], shapes: Mapping[str, tuple[int, ...]]
    ) -> dict[str, Column]:
        """Return arrays by the names of the program, each with a leading axis of samples.

        `columns` says which columns each name takes. Without it the header does, with ``x[0]``, ``x[1]`` and so on for
        the elements of a tensor. `texts` are the names whose single column names classes. `shapes` are the shapes that
        the program declares; names that are not there take the shape that the header says.
        """
        found = self._by_header() if columns is None else self._by_names(self.resolved(columns), texts, shapes)
        arrays: dict[str, Column] = {}
        for name, (shape, places) in found.items():
            if name in texts:
                if len(places) != 1:
                    raise TablaError(
                        f"{self.origin}: '{name}' has {len(places)} columns, but classes are named in one",
                        hint=f"leave '{name}' out of --classes, or give one column with the names",
                    )
                arrays[name] = self.labels(places[0])
            else:
                table = np.stack([self.numbers(column) for column in places], axis=1)
                arrays[name] = table.reshape(len(self), *shape)
        return arrays

    def resolved(self, columns: Columns) -> dict[str, tuple[str, ...]]:
        """Return columns with `REST` replaced by the names that it stands for. An unknown name is a `TablaError`."""
        taken = {column for each in columns.values() for column in each}
        rest = [header for header in self.header if header not in taken]
        found = {
            name: tuple(each for column in given for each in (rest if column == REST else [column]))
            for name, given in columns.items()
        }
        known = set(self.header)
        for column in (column for each in found.values() for column in each):
            if column not in known:
                raise TablaError(f"{self.origin} has no column '{column}'", hint=f"it has {_listed(self.header)}")
        return found

    def _by_names(
        self, columns: Columns, texts: Collection[str], shapes: Mapping[str, tuple[int, ...]]
    ) -> dict[str, tuple[tuple[int, ...], list[int]]]:
        found, places = {}, {header: place for place, header in enumerate(self.header)}
        for name, wanted in columns.items():
            shape = shapes.get(name, (len(wanted),))
            if name not in texts and prod(shape) != len(wanted):
                declared = name + "".join(f"[{size}]" for size in shape)
                cure = f"name {prod(shape)} columns for '{name}', or change the program"
                if len(wanted) == 1:
                    cure += f"; if the column names classes, add --classes {name}"
                raise TablaError(
                    f"'{name}' takes {len(wanted)} of the columns, but the program declares '{declared}'", hint=cure
                )
            found[name] = (shape, [places[column] for column in wanted])
        return found

    def _by_header(self) -> dict[str, tuple[tuple[int, ...], list[int]]]:
        """Return the shape of each name in the header, and its columns in row-major order."""
        columns: dict[str, dict[tuple[int, ...], int]] = {}
        for column, header in enumerate(self.header):
            name, subscripts = self._subscripted(header)
            columns.setdefault(name, {})[subscripts] = column
        return {name: self._gathered(name, places) for name, places in columns.items()}

    def _subscripted(self, header: str) -> tuple[str, tuple[int, ...]]:
        found = re.fullmatch(r"([A-Za-z_]\w*'?)((?:\[[0-9]{1,400}\])*)", header)
        if not found:
            raise TablaError(
                f"{self.origin}: column '{header}' is not a name of a program",
                hint="say which columns a name takes, as in --columns x=sepal,petal y=species; or write x[0], x[1], ..."
                " and y in the header",
            )
        return found[1], tuple(int(k) for k in re.findall(r"\d+", found[2]))

    def _gathered(self, name: str, places: Mapping[tuple[int, ...], int]) -> tuple[tuple[int, ...], list[int]]:
        if len({len(s) for s in places}) > 1:
            raise TablaError(
                f"{self.origin}: columns of '{name}' have different numbers of subscripts",
                hint=f"write {name}[0], {name}[1], ... for a vector, {name}[0][0], {name}[0][1], ... for a matrix",
            )
        shape = tuple(max(axis) + 1 for axis in zip(*places, strict=True))
        if len(shape) > MOST_AXES:
            what = f"columns of '{name}' have more than {MOST_AXES} subscripts"
            raise TablaError(f"{self.origin}: {what}", hint="use fewer")
        # A wrong subscript in the header may be huge, so the positions of the shape are not listed. If there are n
        # columns and one is missing, one is missing among the first n + 1 positions.
        if len(places) < prod(shape):
            missing = next(s for s in (_subscripts(k, shape) for k in range(len(places) + 1)) if s not in places)
            first = name + "[0]" * len(shape)
            raise TablaError(
                f"{self.origin}: column '{name}{''.join(f'[{k}]' for k in missing)}' is missing",
                hint=f"subscripts count from 0, without gaps: {first}, ...",
            )
        return shape, [places[_subscripts(k, shape)] for k in range(len(places))]


def _listed(names: Sequence[str], most: int = 12) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def _subscripts(position: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the subscripts of the element at a position in row-major order."""
    found: list[int] = []
    for size in reversed(shape):
        position, subscript = divmod(position, size)
        found.append(subscript)
    return tuple(reversed(found))


def read_table(path: Path) -> Table:
    """Read a file of commas, semicolons or tabs, whichever its header has most of.

    Where semicolons separate the columns, numbers may have a decimal comma. A file that is no such table is a
    `TablaError`.
    """
    refuse_pipe(path)
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            text = file.read()
        delimiter = max(DELIMITERS, key=lambda sign: len(next((row for _, row in _rows(text, sign)), [])))
        rows = list(_rows(text, delimiter))
    except OSError as fault:
        raise TablaError(f"cannot read '{path}': {fault.strerror or fault}", hint="check the path") from None
    except UnicodeDecodeError:
        raise _not_utf8(path) from None
    except csv.Error as fault:
        raise TablaError(f"'{path}' is not comma-separated text: {fault}", hint="save it as CSV again") from None
    if len(rows) < 2:
        raise TablaError(f"'{path}' holds no sample", hint="write a header line, and then a line for each sample")
    header = tuple(cell.strip() for cell in rows[0][1])
    numbers, lines = zip(*rows[1:], strict=True)
    for number, row in rows[1:]:
        if len(row) != len(header):
            raise TablaError(
                f"'{path}': row {number} has {len(row)} values, but the header has {len(header)}",
                hint="give each row a value for each column",
            )
    cells = tuple(np.array([cell.strip() for cell in column], dtype=object) for column in zip(*lines, strict=True))
    return _distinct(Table(origin=f"'{path}'", header=header, cells=cells, rows=numbers, comma=delimiter == ";"))


def frame_table(frame: Frame) -> Table:
    """Return a data frame as a table, whose rows count from 0 as in pandas."""
    names = list(frame.columns)
    _distinct(Table(origin=FRAME, header=tuple(map(str, names)), cells=(), rows=()))
    cells = tuple(np.asarray(frame[name], dtype=object) for name in names)
    return Table(
        origin=FRAME,
        header=tuple(str(name).strip() for name in names),
        cells=cells,
        rows=range(len(cells[0]) if cells else 0),
    )


def _rows(text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that are not empty, with their numbers, from 1."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True)
    return ((number, row) for number, row in enumerate(reader, 1) if row)


def _distinct(table: Table) -> Table:
    """Return a table as it is. A name that two columns have is a `TablaError`."""
    for name, count in Counter(table.header).items():
        if count > 1:
            raise TablaError(f"{table.origin} has two columns '{name}'", hint="give each column a name of its own")
    return table


def _not_utf8(path: Path) -> TablaError:
    """Return the fault of a file that is not UTF-8 text, with the line of its first wrong byte."""
    content = path.read_bytes()
    try:
        content.decode("utf-8")
        at = 0
    except UnicodeDecodeError as fault:
        at = fault.start
    if b"\0" in content[:4096]:
        return TablaError(f"'{path}' is not text", hint="save the table as CSV, in UTF-8")
    line = content.count(b"\n", 0, at) + 1
    return TablaError(
        f"'{path}' is not UTF-8 text: line {line} has the byte 0x{content[at]:02x}",
        hint=f"save it as UTF-8; if it is Latin-1: iconv -f latin1 -t utf-8 '{path}'",
    )
