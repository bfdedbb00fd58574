"""Tables, whose columns become arrays: CSV files, and data frames given in Python.

Python's own `csv` module reads the files. It is always there, and it leaves each cell the text that it is: pandas takes
cells such as ``NA`` or an empty one for missing numbers and guesses the type of a column, so the same file could mean
different samples on machines with and without it. A data frame is asked for its columns, which needs no import.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from math import prod
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from tabla.base.cells import GAP_CURE, gaps, is_finite, is_gap, is_number, meaning_of, point_groups
from tabla.base.origin import Origin
from tabla.base.source import TablaError, refuse_pipe

Column = NDArray[Any]
Columns = Mapping[str, Sequence[str]]
DELIMITERS = ",;\t|"
SUFFIXES = (".csv", ".tsv", ".txt")
MOST_AXES = 32
_ARCHIVE = "PK\x03\x04"
"""How a workbook begins, whatever its name ends in."""
FRAME = "the data frame"
"""What errors call a data frame."""
REST = "*"
"""In place of a column's name: all columns that no other name of the program takes."""
TEXTS = (
    "write numbers such as -1.5e3; for the names of classes there is --classes, and for texts among numbers"
    " --categories"
)
"""The cure of a cell that is no number."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """The columns that a name takes, by their positions; and the shape that the header gives them, if it does."""

    columns: tuple[int, ...]
    shape: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Table:
    """A table with named columns. `origin` names it in errors.

    The cells of a file are texts. Those of a data frame have the types that they have there. `rows` are the numbers of
    the rows in errors: the first line of a file is row 1, and empty lines count, too. `comma` says that numbers have a
    decimal comma. `headless` says that the first line, which is taken for the header, has numbers alone, and that
    these are not those of columns that were counted.
    """

    origin: str
    header: tuple[str, ...]
    cells: tuple[Column, ...] = field(repr=False)
    rows: Sequence[int] = field(repr=False)
    comma: bool = False
    headless: bool = False

    def __len__(self) -> int:
        return len(self.cells[0]) if self.cells else 0

    def place(self, row: int, column: int) -> str:
        """Return the place of a cell for an error. Both numbers count from 0."""
        return f"{self.origin}: row {self.rows[row]}, column '{self.header[column]}'"

    @property
    def samples(self) -> Origin:
        """Where the samples are that the rows are."""
        return Origin(name=self.origin, unit="row", numbers=self.rows)

    def taken(self, rows: NDArray[np.int64]) -> Table:
        """Return the table with only the rows at some positions, in that order."""
        return replace(self, cells=tuple(each[rows] for each in self.cells), rows=[self.rows[row] for row in rows])

    def gaps(self, column: int) -> NDArray[np.bool_]:
        """Return for each cell of a column whether its value is missing."""
        return gaps(self.cells[column])

    def holds_texts(self, column: int, rows: NDArray[np.int64]) -> bool:
        """Return whether a column has texts in some rows, and no number."""
        some = False
        for cell in self.cells[column][rows]:  # a column of numbers has one at its beginning
            if is_number(cell, comma=self.comma):
                return False
            some = some or not is_gap(cell)
        return some

    def numbers(self, column: int, *, gaps: bool = False) -> NDArray[np.float64]:
        """Return a column as finite numbers. With `gaps`, a missing value is no number of float64 (NaN).

        Any other cell is a `TablaError` with its place.
        """
        cells = self.cells[column]
        if self.comma:
            self._refuse_point_groups(column)
            cells = np.array([cell.replace(",", ".") for cell in cells], dtype=object)
        missing = self.gaps(column) if gaps else np.zeros(len(cells), np.bool_)
        try:
            found = np.full(len(cells), np.nan)
            found[~missing] = cells[~missing].astype(np.float64)
            if np.isfinite(found[~missing]).all():
                return found
        except (TypeError, ValueError):
            pass
        raise self._no_number(cells, missing, column)

    def _refuse_point_groups(self, column: int) -> None:
        """Raise `TablaError` for a column in which a point may be the decimal sign, or separate thousands."""
        if found := point_groups(self.cells[column]):
            point, comma = (self.cells[column][row] for row in found)
            raise TablaError(
                f"{self.place(found[0], column)}: '{point}' may be one or a thousand, because '{comma}' in row"
                f" {self.rows[found[1]]} has a decimal comma",
                hint=f"write {point.replace('.', '')} for thousands, or {point.replace('.', ',')}",
            )

    def _no_number(self, cells: Column, known: NDArray[np.bool_], column: int) -> TablaError:
        """Return the fault of the first cell of a column that is no finite number, and not `known` as a gap."""
        for row, cell in enumerate(cells):
            if known[row]:
                continue
            if is_gap(cell):
                return self.missing(row, column)
            place, shown = self.place(row, column), f"'{self.cells[column][row]}'"
            if not is_number(cell):
                meaning = meaning_of(self.cells[column][row])
                if meaning is not None:
                    return TablaError(f"{place}: {shown} {meaning.what}", hint=meaning.cure)
                return TablaError(f"{place}: {shown} is not a number", hint=TEXTS)
            if not is_finite(cell):
                return TablaError(f"{place}: {shown} is not a finite number", hint="write a finite number")
        raise AssertionError("every cell is a finite number")

    def missing(self, row: int, column: int, *, what: str = "the value", cure: str = GAP_CURE) -> TablaError:
        """Return the fault of a missing cell. Both numbers count from 0."""
        cell = self.cells[column][row]
        shown = f" ('{cell}')" if isinstance(cell, str) and cell else ""
        return TablaError(f"{self.place(row, column)}: {what} is missing{shown}", hint=cure)

    def labels(self, column: int) -> Column:
        """Return a column of names of classes. A missing one is a `TablaError` with its place."""
        missing = self.gaps(column)
        if missing.any():
            cure = "--missing drop leaves such rows out; or write the class, and for one of that name another name"
            raise self.missing(int(missing.argmax()), column, what="the class", cure=cure)
        return self.cells[column]

    def places(self, columns: Columns | None, texts: Collection[str]) -> dict[str, Places]:
        """Return which columns each name of the program takes.

        `columns` says so. Without it the header does, with ``x[0]``, ``x[1]`` and so on for the elements of a tensor.
        `texts` are the names whose single column names classes; several columns for one of them are a `TablaError`.
        """
        if columns is None:
            found = self._by_header()
        else:
            known = {header: place for place, header in enumerate(self.header)}
            named = self.resolved(columns).items()
            found = {name: Places(columns=tuple(known[each] for each in wanted)) for name, wanted in named}
        for name in found.keys() & set(texts):
            if len(found[name].columns) != 1:
                raise TablaError(
                    f"{self.origin}: '{name}' has {len(found[name].columns)} columns, but classes are named in one",
                    hint=f"leave '{name}' out of --classes, or give one column with the names",
                )
        return found

    def arrays(self) -> dict[str, Column]:
        """Return the arrays that the header names, each with a leading axis of samples. All cells are numbers."""
        found: dict[str, Column] = {}
        for name, places in self.places(None, ()).items():
            table = np.stack([self.numbers(column) for column in places.columns], axis=1)
            found[name] = table.reshape(len(self), *(places.shape or ()))
        return found

    def resolved(self, columns: Columns) -> dict[str, tuple[str, ...]]:
        """Return columns with `REST` replaced by the names that it stands for. An unknown name is a `TablaError`.

        So is a first line of numbers, which is probably no header, unless a column has been named by one of them.
        """
        taken = {column for each in columns.values() for column in each}
        rest = [header for header in self.header if header not in taken]
        found = {
            name: tuple(each for column in given for each in (rest if column == REST else [column]))
            for name, given in columns.items()
        }
        known = set(self.header)
        if columns and self.headless and (not taken & known or len(known) < len(self.header)):
            raise self.no_header()
        for column in (column for each in found.values() for column in each):
            if column not in known:
                raise self.no_column(column)
        return found

    def no_column(self, name: str, what: str = "") -> TablaError:
        """Return the fault of a column that is not there, which names the one that is most like it.

        `what` is added to the message.
        """
        folded = {header.casefold(): header for header in reversed(self.header)}
        near = get_close_matches(name.casefold(), folded, 1, 0.6)
        meant = f"did you mean '{folded[near[0]]}'? " if near else ""
        bare = any(is_number(header) for header in self.header) and not near
        hint = f"{meant}it has {_listed(self.header)}"
        hint += "; if its first line is a sample and no header, add --no-header" if bare else ""
        return TablaError(f"{self.origin} has no column '{name}'{what}", hint=hint)

    def no_header(self) -> TablaError:
        """Return the fault of a table whose first line has numbers alone."""
        last = len(self.header) - 1
        return TablaError(
            f"{self.origin}: the first line has numbers alone, so it is probably a sample and no header",
            hint="write a header line; or --no-header takes the line as a sample and calls the columns c0"
            + (f" to c{last}" if last else ""),
        )

    def _by_header(self) -> dict[str, Places]:
        """Return the columns of each name in the header, in row-major order."""
        columns: dict[str, dict[tuple[int, ...], int]] = {}
        for column, header in enumerate(self.header):
            name, subscripts = self._subscripted(header)
            columns.setdefault(name, {})[subscripts] = column
        return {name: self._gathered(name, places) for name, places in columns.items()}

    def _subscripted(self, header: str) -> tuple[str, tuple[int, ...]]:
        found = re.fullmatch(r"([A-Za-z_]\w*'?)((?:\[[0-9]{1,400}\])*)", header)
        if not found and self.headless:
            raise self.no_header()
        if not found:
            raise TablaError(
                f"{self.origin}: column '{header}' is not a name of a program",
                hint="say which columns a name takes, as in --columns x=sepal,petal y=species; or write x[0], x[1], ..."
                " and y in the header",
            )
        return found[1], tuple(int(k) for k in re.findall(r"\d+", found[2]))

    def _gathered(self, name: str, places: Mapping[tuple[int, ...], int]) -> Places:
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
        return Places(shape=shape, columns=tuple(places[_subscripts(k, shape)] for k in range(len(places))))


def _listed(names: Sequence[str], most: int = 12) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def _subscripts(position: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the subscripts of the element at a position in row-major order."""
    found: list[int] = []
    for size in reversed(shape):
        position, subscript = divmod(position, size)
        found.append(subscript)
    return tuple(reversed(found))


def read_table(path: Path, *, header: bool = True) -> Table:
    """Read a file of commas, semicolons, tabs or bars, whichever its first line has most of.

    Where semicolons separate the columns, numbers may have a decimal comma. Without a `header` the first line is a
    sample, and the columns are c0, c1 and so on. A file that is no such table is a `TablaError`.
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
    if text.startswith(_ARCHIVE):
        raise TablaError(
            f"'{path}' is an archive and no text", hint="save the table as CSV in your spreadsheet program"
        )
    if (header and len(rows) < 2) or not rows:
        raise TablaError(f"'{path}' holds no sample", hint="write a header line, and then a line for each sample")
    comma, first = delimiter == ";", [cell.strip() for cell in rows[0][1]]
    names = first if header else [f"c{place}" for place in range(len(first))]
    lines = rows[1:] if header else rows
    for number, row in lines:
        if len(row) != len(names):
            what = "the header" if header else "the first row"
            raise TablaError(
                f"'{path}': row {number} has {len(row)} values, but {what} has {len(names)}",
                hint="give each row a value for each column; one with a separator in it is written in double quotes",
            )
    cells = tuple(
        np.array([cell.strip() for cell in column], dtype=object)
        for column in zip(*(row for _, row in lines), strict=True)
    )
    headless = header and all(is_number(cell, comma=comma) for cell in first) and not _counted(first)
    numbers = tuple(number for number, _ in lines)
    found = Table(origin=f"'{path}'", header=tuple(names), cells=cells, rows=numbers, comma=comma, headless=headless)
    return found if headless else _distinct(found)


def _counted(names: Sequence[str]) -> bool:
    """Return whether names are the numbers of the columns, from 0 or from 1, as pandas writes them."""
    return any(list(names) == [str(first + k) for k in range(len(names))] for first in (0, 1))


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
