"""Reading arrays of real numbers from files, and fitting them to the names and shapes of a program.

An ``.npz`` file holds arrays under the names of the program. A ``.csv`` file has a header with a name for each column
(:mod:`tabla.training.table`): ``x[0]``, ``x[1]`` and so on for the elements of a tensor, ``y`` for a scalar. Each
further row is a sample.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import prod
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabla.npz import RESERVED, read_npz
from tabla.source import TablaError
from tabla.training.origin import Origin
from tabla.training.table import MISSING, SUFFIXES, read_table

Reals = NDArray[np.float64]
Arrays = Mapping[str, Reals]

NOTES = (".classes", ".columns")
"""The ends of the names of arrays of texts that lie beside models (:mod:`tabla.training.preparation`)."""
MOST_DRAWN = 1 << 26


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Samples:
    """Inputs and labels by name, each with a leading axis of `count` samples.

    `stacked` says whether the arrays had that axis when they were read; otherwise they hold a single sample. `rows` are
    the positions that the samples have where they come from, the `origin`; without it they are in the same order there.
    """

    arrays: Arrays
    count: int
    stacked: bool
    origin: Origin = field(default_factory=Origin)
    rows: NDArray[np.int64] | None = None

    def place(self, sample: int) -> str:
        """Return how an error names a sample of these, which count from 0: by its place in the user's data."""
        return self.origin.place(sample if self.rows is None else int(self.rows[sample]))

    def taken(self, positions: NDArray[np.int64]) -> Samples:
        """Return the samples at some positions, in that order."""
        return replace(
            self,
            arrays={name: array[positions] for name, array in self.arrays.items()},
            count=len(positions),
            rows=positions if self.rows is None else self.rows[positions],
        )


def read_arrays(path: Path, *, texts: Collection[str] = ()) -> dict[str, NDArray[Any]]:
    """Read all arrays of an ``.npz`` or ``.csv`` file as float64. A fault in the file is a `TablaError`.

    `texts` are the names whose arrays may hold texts, the names of classes.
    """
    if path.suffix == ".npz":
        return _read_npz(path, texts)
    if path.suffix in SUFFIXES:
        return read_table(path).arrays(None, texts, {})
    raise TablaError(f"'{path}' is neither .npz nor .csv", hint="use a file whose name ends in .npz or .csv")


def _read_npz(path: Path, texts: Collection[str]) -> dict[str, NDArray[Any]]:
    return {
        name: array
        if array.dtype.kind == "U" and (name in texts or name.endswith(NOTES) or name.startswith(RESERVED))
        else real_array(array, f"array '{name}' of '{path}'")
        for name, array in read_npz(path).items()
    }


def unreserved(arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return the arrays of a file without those that say what its models are."""
    return {name: array for name, array in arrays.items() if not name.startswith(RESERVED)}


def write_npz(file: IO[bytes], arrays: Mapping[str, ArrayLike]) -> None:
    """Write arrays as an ``.npz`` file. The same arrays always give the same bytes.

    Unlike `numpy.savez`, this function takes arrays of any name.
    """
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, array in arrays.items():
            # The date is fixed, because the default is the time of writing.
            with archive.open(zipfile.ZipInfo(f"{name}.npy", (1980, 1, 1, 0, 0, 0)), "w") as entry:
                np.lib.format.write_array(entry, np.asarray(array), allow_pickle=False)


def npz_bytes(arrays: Mapping[str, ArrayLike]) -> bytes:
    """Return the content of the file that `write_npz` writes."""
    content = io.BytesIO()
    write_npz(content, arrays)
    return content.getvalue()


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
        raise TablaError(f"{what} holds {reals[place]} at {list(place)}", hint=MISSING)
    return reals


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
    check_counts(counts)
    single = sorted(found.keys() - counts.keys())
    if counts and single:
        hint = f"give '{single[0]}' a value for each sample"
        raise TablaError(f"'{single[0]}' has no axis of samples, but '{sorted(counts)[0]}' has one", hint=hint)
    count = next(iter(counts.values()), 1)
    if not count:
        raise TablaError("the data holds no sample", hint="give at least one")
    return Samples(arrays=found, count=count, stacked=bool(counts))


def check_counts(counts: Mapping[str, int]) -> None:
    """Raise `TablaError` if arrays, here by name, have different numbers of samples."""
    if len(set(counts.values())) > 1:
        a, b = sorted(counts, key=lambda n: (counts[n], n))[:: len(counts) - 1]
        hint = "give all arrays the same number of samples"
        raise TablaError(f"'{a}' has {counts[a]} samples and '{b}' has {counts[b]}", hint=hint)


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
            raise TablaError(message, hint=f"it has {', '.join(known)}" if known else "leave it out: it has none")


def _text(subscripts: tuple[int, ...]) -> str:
    return "".join(f"[{k}]" for k in subscripts)


def initial_models(shapes: Mapping[str, tuple[int, ...]], seed: int) -> dict[str, Reals]:
    """Return models to start from, the same for the same `seed`.

    Scalars and vectors are zeros. Other tensors are uniform within ``sqrt(6 / (rows + columns))`` on both sides of 0,
    where `rows` is the first axis and `columns` the product of the others (Glorot and Bengio, 2010).
    """
    for name, shape in shapes.items():
        if prod(shape) > MOST_DRAWN:
            message = f"model '{name}{_text(shape)}' is too large: it has more than {MOST_DRAWN:,} numbers"
            raise TablaError(message, hint="use smaller sizes")
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
