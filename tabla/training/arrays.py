"""Reading arrays of real numbers from files, and fitting them to the names and shapes of a program.

An ``.npz`` file holds arrays under the names of the program. A ``.csv`` file has a header with a name for each column:
``x[0]``, ``x[1]`` and so on for the elements of a tensor, ``y`` for a scalar. Each further row is a sample.
"""

from __future__ import annotations

import csv
import re
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabla.source import TablaError, refuse_pipe

Reals = NDArray[np.float64]
Arrays = Mapping[str, Reals]

_MISSING = "remove the samples with missing values, or put numbers in their place"
_SAVE = "write it again with np.savez(...), or give a .csv file"
# The exceptions that numpy and zipfile raise for a file that is truncated, damaged, encrypted, compressed in an
# unsupported way, or no archive at all.
BROKEN_ARCHIVE = (ValueError, AttributeError, TypeError, EOFError, RuntimeError, zlib.error, zipfile.BadZipFile)
MOST_AXES = 32
MOST_DRAWN = 1 << 26


@dataclass(frozen=True, slots=True, kw_only=True)
class Samples:
    """Inputs and labels by name, each with a leading axis of `count` samples.

    `stacked` says whether the arrays had that axis when they were read; otherwise they hold a single sample.
    """

    arrays: Arrays
    count: int
    stacked: bool


def read_arrays(path: Path) -> dict[str, Reals]:
    """Read all arrays of an ``.npz`` or ``.csv`` file as float64. A fault in the file is a `TablaError`."""
    refuse_pipe(path)
    if path.suffix == ".npz":
        return _read_npz(path)
    if path.suffix == ".csv":
        return _read_csv(path)
    raise TablaError(f"'{path}' is neither .npz nor .csv", hint="use a file whose name ends in .npz or .csv")


def _read_npz(path: Path) -> dict[str, Reals]:
    found: dict[str, NDArray[Any]] = {}
    name = None
    try:
        # The file is opened here, because numpy does not close a file that it cannot read.
        with path.open("rb") as file:
            if (start := file.read(6)) == b"\x93NUMPY":
                hint = f"give it its name: np.savez('{path}', x=np.load(...), y=...)"
                raise TablaError(f"'{path}' is not an .npz file but a single array without a name (.npy)", hint=hint)
            if not zipfile.is_zipfile(file):
                what = "it is empty" if not start else "it is damaged, or has another format"
                raise TablaError(f"'{path}' is not an .npz file: {what}", hint=_SAVE)
            file.seek(0)
            with np.load(file, allow_pickle=False) as archive:
                for name in archive.files:
                    found[name] = archive[name]
    except OSError as fault:
        raise TablaError(f"cannot read '{path}': {fault.strerror or fault}", hint="check the path") from None
    except BROKEN_ARCHIVE as fault:
        if name is None:
            raise TablaError(f"'{path}' is not an .npz file: it is damaged", hint=_SAVE) from None
        objects = "allow_pickle" in str(fault)
        what = "holds Python objects, not numbers" if objects else "cannot be read: the file is damaged"
        hint = "save it as an array of numbers" if objects else _SAVE
        raise TablaError(f"array '{name}' of '{path}' {what}", hint=hint) from None
    return {name: real_array(array, f"array '{name}' of '{path}'") for name, array in found.items()}


def write_npz(file: IO[bytes], arrays: Mapping[str, ArrayLike]) -> None:
    """Write arrays as an ``.npz`` file. The same arrays always give the same bytes.

    Unlike `numpy.savez`, this function takes arrays of any name.
    """
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, array in arrays.items():
            # The date is fixed, because the default is the time of writing.
            with archive.open(zipfile.ZipInfo(f"{name}.npy", (1980, 1, 1, 0, 0, 0)), "w") as entry:
                np.lib.format.write_array(entry, np.asarray(array), allow_pickle=False)


def real_array(values: ArrayLike, what: str) -> Reals:
    """Return finite real numbers as float64. Any other values are a `TablaError`, in which `what` names them."""
    try:
        array = np.asarray(values)
    except ValueError:
        raise TablaError(f"{what} has rows of different lengths", hint="give each row as many numbers") from None
    if array.dtype.kind not in "biuf":
        raise TablaError(f"{what} holds {array.dtype}, not real numbers", hint="give integers or floats")
    reals = array.astype(np.float64)
    if not np.isfinite(reals).all():
        place = tuple(int(k) for k in np.argwhere(~np.isfinite(reals))[0])
        raise TablaError(f"{what} holds {reals[place]} at {list(place)}", hint=_MISSING)
    return reals


def _column(header: str, path: Path) -> tuple[str, tuple[int, ...]]:
    found = re.fullmatch(r"\s*([A-Za-z_]\w*'?)((?:\[\d+\])*)\s*", header)
    if not found:
        separated = next((name for sign, name in ((";", "semicolons"), ("\t", "tabs")) if sign in header), None)
        raise TablaError(
            f"'{path}': column '{header.strip()}' is not a name of a program",
            hint=f"separate the columns by commas, not by {separated}"
            if separated
            else "write x[0], x[1], ... and y in the header",
        )
    return found[1], tuple(int(k) for k in re.findall(r"\d+", found[2]))


def _read_csv(path: Path) -> dict[str, Reals]:
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = [row for row in csv.reader(file) if row]
    except OSError as fault:
        raise TablaError(f"cannot read '{path}': {fault.strerror or fault}", hint="check the path") from None
    except UnicodeDecodeError:
        raise _not_utf8(path) from None
    except csv.Error as fault:
        raise TablaError(f"'{path}' is not comma-separated text: {fault}", hint="save it as CSV again") from None
    if len(rows) < 2:
        raise TablaError(f"'{path}' holds no sample", hint="write a header line, and then a line for each sample")
    columns = [_column(header, path) for header in rows[0]]
    if len(set(columns)) != len(columns):
        twice = next(h for h, c in zip(rows[0], columns, strict=True) if columns.count(c) > 1)
        raise TablaError(f"'{path}' has two columns '{twice.strip()}'", hint="give each column a name of its own")
    table = np.empty((len(rows) - 1, len(columns)))
    for number, row in enumerate(rows[1:]):
        if len(row) != len(columns):
            raise TablaError(
                f"'{path}': row {number + 2} has {len(row)} values, but the header has {len(columns)}",
                hint="give each row a value for each column",
            )
        for k, text in enumerate(row):
            place = f"'{path}': row {number + 2}, column '{rows[0][k].strip()}'"
            try:
                table[number, k] = float(text)
            except ValueError:
                raise TablaError(f"{place}: '{text}' is not a number", hint="write numbers such as -1.5e3") from None
            if not np.isfinite(table[number, k]):
                raise TablaError(f"{place}: '{text}' is not a finite number", hint=_MISSING)
    return {
        name: real_array(_gathered(name, columns, table, path), f"column '{name}' of '{path}'")
        for name in dict.fromkeys(n for n, _ in columns)
    }


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


def _gathered(name: str, columns: list[tuple[str, tuple[int, ...]]], table: Reals, path: Path) -> Reals:
    """Collect the columns of one name into an array with a leading axis of samples.

    A missing column is a `TablaError`.
    """
    places = {subscripts: k for k, (n, subscripts) in enumerate(columns) if n == name}
    if len({len(s) for s in places}) > 1:
        hint = f"write {name}[0], {name}[1], ... for a vector, {name}[0][0], {name}[0][1], ... for a matrix"
        raise TablaError(f"'{path}': columns of '{name}' have different numbers of subscripts", hint=hint)
    shape = tuple(max(axis) + 1 for axis in zip(*places, strict=True))
    if len(shape) > MOST_AXES:
        raise TablaError(f"'{path}': columns of '{name}' have more than {MOST_AXES} subscripts", hint="use fewer")
    # This comes before an array of that shape is made, because a wrong subscript in the header may be huge. If there
    # are n columns and one is missing, one is missing among the first n + 1 positions.
    if len(places) < prod(shape):
        missing = next(s for s in (_subscripts(k, shape) for k in range(len(places) + 1)) if s not in places)
        hint = f"subscripts count from 0, without gaps: {name}{_text((0,) * len(shape))}, ..."
        raise TablaError(f"'{path}': column '{name}{_text(missing)}' is missing", hint=hint)
    array = np.empty((len(table), *shape))
    for subscripts, column in places.items():
        element: tuple[slice | int, ...] = (slice(None), *subscripts)
        array[element] = table[:, column]
    return array


def _subscripts(position: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the subscripts of the element at a position in row-major order."""
    found: list[int] = []
    for size in reversed(shape):
        position, subscript = divmod(position, size)
        found.append(subscript)
    return tuple(reversed(found))


def stack_samples(arrays: Arrays, shapes: Mapping[str, tuple[int, ...]]) -> Samples:
    """Return the arrays that `shapes` names, each with a leading axis of samples.

    An array has either exactly its shape, which is one sample, or a leading axis of samples more. Arrays with that axis
    must agree in its length. An array that is missing or has another shape is a `TablaError`.
    """
    found: dict[str, Reals] = {}
    counts: dict[str, int] = {}
    for name, shape in shapes.items():
        if name not in arrays:
            raise TablaError(
                f"'{name}{_text(shape)}' is missing in the data", hint=f"the program reads {', '.join(sorted(shapes))}"
            )
        array = arrays[name]
        if array.shape == shape:
            found[name] = array[None]
        elif array.ndim == len(shape) + 1 and array.shape[1:] == shape:
            found[name], counts[name] = array, len(array)
        else:
            raise TablaError(
                f"'{name}' has shape {array.shape} in the data, but the program declares '{name}{_text(shape)}'",
                hint=f"give {shape} for one sample, or (samples, {', '.join(map(str, shape))})".replace(", )", ",)"),
            )
    if len(set(counts.values())) > 1:
        a, b = sorted(counts, key=lambda n: (counts[n], n))[:: len(counts) - 1]
        hint = "give all arrays the same number of samples"
        raise TablaError(f"'{a}' has {counts[a]} samples and '{b}' has {counts[b]}", hint=hint)
    single = sorted(found.keys() - counts.keys())
    if counts and single:
        hint = f"give '{single[0]}' a value for each sample"
        raise TablaError(f"'{single[0]}' has no axis of samples, but '{sorted(counts)[0]}' has one", hint=hint)
    count = next(iter(counts.values()), 1)
    if not count:
        raise TablaError("the data holds no sample", hint="give at least one")
    return Samples(arrays=found, count=count, stacked=bool(counts))


def take_models(
    arrays: Arrays, shapes: Mapping[str, tuple[int, ...]], origin: str, *, cure: str | None = None
) -> dict[str, Reals]:
    """Return the initial value of every model in `shapes`.

    A model that is missing or has another shape is a `TablaError`; `origin` says there where the arrays came from, and
    `cure` what to do about a missing one.
    """
    for name, shape in shapes.items():
        if name not in arrays:
            message = f"the initial value of model '{name}{_text(shape)}' is missing in {origin}"
            raise TablaError(message, hint=cure or f"it has {', '.join(sorted(arrays)) or 'nothing'}")
        if arrays[name].shape != shape:
            raise TablaError(
                f"model '{name}' has shape {arrays[name].shape} in {origin},"
                f" but the program declares '{name}{_text(shape)}'",
                hint=f"give an array of shape {shape}; models have no axis of samples",
            )
    return {name: arrays[name] for name in shapes}


def refuse_strangers(arrays: Arrays, known: Iterable[str], origin: str) -> None:
    """Raise `TablaError` if there is an array that the program does not know, because that is probably a slip."""
    known = sorted(known)
    for name in sorted(arrays):
        if name not in known:
            message = f"{origin} holds '{name}', which the program does not have"
            raise TablaError(message, hint=f"it has {', '.join(known)}")


def _text(subscripts: tuple[int, ...]) -> str:
    return "".join(f"[{k}]" for k in subscripts)


def initial_models(shapes: Mapping[str, tuple[int, ...]], seed: int) -> dict[str, Reals]:
    """Return models to start from, the same for the same `seed`.

    Scalars and vectors are zeros. Other tensors are uniform within ``sqrt(6 / (rows + columns))`` on both sides of 0,
    where `rows` is the first axis and `columns` the product of the others (Glorot and Bengio, 2010).
    """
    for name, shape in shapes.items():
        if prod(shape) > MOST_DRAWN:
            raise TablaError(f"model '{name}{_text(shape)}' is too large: it has more than {MOST_DRAWN:,} numbers")
    chance = np.random.default_rng(seed)
    models: dict[str, Reals] = {}
    for name in sorted(shapes):
        shape = shapes[name]
        if len(shape) < 2:
            models[name] = np.zeros(shape)
        else:
            reach = float(np.sqrt(6 / (shape[0] + int(np.prod(shape[1:])))))
            models[name] = chance.uniform(-reach, reach, shape)
    return models
