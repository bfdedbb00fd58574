"""Reading arrays of real numbers from files, and writing them.

An ``.npz`` file holds arrays under the names of the program. A ``.csv`` file has a header with a name for each column
(:mod:`tabla.base.table`): ``x[0]``, ``x[1]`` and so on for the elements of a tensor, ``y`` for a scalar. Each
further row is a sample.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabla.base.cells import GAP_CURE
from tabla.base.npz import RESERVED, read_npz
from tabla.base.source import TablaError
from tabla.base.table import SUFFIXES, read_table

Reals = NDArray[np.float64]
Arrays = Mapping[str, Reals]

NOTES = (".classes", ".columns", ".categories")
"""The ends of the names of arrays of texts that lie beside models (:mod:`tabla.learn.data.preparation`)."""


def read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """Read all arrays of an ``.npz`` or ``.csv`` file as float64. A fault in the file is a `TablaError`."""
    if path.suffix == ".npz":
        return npz_arrays(read_npz(path), path, ())
    if path.suffix in SUFFIXES:
        return read_table(path).arrays()
    raise no_arrays(path)


def no_arrays(path: Path) -> TablaError:
    """Return the error about a file that holds no arrays by its name."""
    return TablaError(f"'{path}' is neither .npz nor .csv", hint="use a file whose name ends in .npz or .csv")


def npz_arrays(
    found: Mapping[str, NDArray[Any]], path: Path, texts: Collection[str], *, gaps: bool = False
) -> dict[str, NDArray[Any]]:
    """Return the arrays that were found in an ``.npz`` file as float64, and texts where they may be.

    `texts` are the names whose arrays may hold texts, the names of classes. With `gaps`, arrays of data may have
    missing values (NaN).
    """
    return {
        name: array
        if array.dtype.kind == "U" and (name in texts or name.endswith(NOTES) or name.startswith(RESERVED))
        else real_array(array, f"array '{name}' of '{path}'", gaps=gaps)
        for name, array in found.items()
    }


def unreserved(arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return the arrays of a file without those that say what its models are."""
    return {name: array for name, array in arrays.items() if not name.startswith(RESERVED)}


def write_npz(file: IO[bytes], arrays: Mapping[str, ArrayLike], *, deflate: bool = False) -> None:
    """Write arrays as an ``.npz`` file. The same arrays always give the same bytes.

    Unlike `numpy.savez`, this function takes arrays of any name. With `deflate` they are compressed, quickly; then the
    bytes are those of one version of zlib.
    """
    method = zipfile.ZIP_DEFLATED if deflate else zipfile.ZIP_STORED
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, array in arrays.items():
            content = io.BytesIO()
            np.lib.format.write_array(content, np.asarray(array), allow_pickle=False)
            # The date is fixed, because the default is the time of writing.
            member = zipfile.ZipInfo(f"{name}.npy", (1980, 1, 1, 0, 0, 0))
            archive.writestr(member, content.getbuffer(), method, compresslevel=1 if deflate else None)


def npz_bytes(arrays: Mapping[str, ArrayLike], *, deflate: bool = False) -> bytes:
    """Return the content of the file that `write_npz` writes."""
    content = io.BytesIO()
    write_npz(content, arrays, deflate=deflate)
    return content.getvalue()


def real_array(values: ArrayLike, what: str, *, gaps: bool = False) -> Reals:
    """Return finite real numbers as float64. Any other values are a `TablaError`, in which `what` names them.

    With `gaps`, values may be missing (NaN).
    """
    try:
        array = np.asarray(values)
    except ValueError:
        raise TablaError(f"{what} has rows of different lengths", hint="give each row as many numbers") from None
    if array.dtype.kind not in "biuf":
        raise TablaError(f"{what} holds {array.dtype}, not real numbers", hint="give integers or floats")
    reals = array.astype(np.float64)
    wrong = ~np.isfinite(reals)
    if gaps:
        wrong &= ~np.isnan(reals)
    if wrong.any():
        place = tuple(int(k) for k in np.argwhere(wrong)[0])
        missing = np.isnan(reals[place])
        hint = GAP_CURE if missing else "write finite numbers"
        raise TablaError(f"{what} holds {reals[place]} at {list(place)}", hint=hint)
    return reals


def refuse_strangers(arrays: Arrays, known: Iterable[str], origin: str) -> None:
    """Raise `TablaError` if there is an array that the program does not know, because that is probably a slip."""
    known = sorted(known)
    for name in sorted(arrays):
        if name not in known:
            message = f"{origin} holds '{name}', which the program does not have"
            raise TablaError(message, hint=f"it has {', '.join(known)}" if known else "leave it out: it has none")
