"""Reading ``.npz`` files from anywhere: within limits, and without running anything that is in them.

An ``.npz`` file is a ZIP archive with an array in each member. `numpy.load` believes what the archive and the headers
of the arrays say about sizes, so a file of some kilobytes can take all memory. It reports damage by a dozen kinds of
exceptions.
"""

from __future__ import annotations

import io
import tokenize
import warnings
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from tabla.base.source import TablaError, refuse_pipe

MOST_BYTES = 1 << 26
"""The bytes to which every archive may unpack."""
MOST_TIMES = 100
"""How many times its own size a larger archive may unpack to."""
MOST_ARRAYS = 10_000
"""The most arrays of an archive."""
RESERVED = "tabla."
"""Arrays whose names begin so are ours: they say what the models beside them are (:mod:`tabla.learn.data.recipe`)."""
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_SUFFIX = ".npy"
_SAVE = "write it again with np.savez(...), or give a .csv file"
_DAMAGE = (
    *(ValueError, AttributeError, TypeError, EOFError, LookupError, ArithmeticError, RuntimeError, MemoryError),
    *(SyntaxError, NotImplementedError, tokenize.TokenError, zlib.error, zipfile.BadZipFile),
)
"""What numpy and zipfile raise for a file that is truncated, damaged, encrypted, or no archive at all."""


def read_npz(path: Path) -> Mapping[str, NDArray[Any]]:
    """Return the arrays of a file by their names. No Python object is ever loaded.

    Raises `TablaError` for a file that cannot be read, is damaged, holds something other than arrays of numbers or of
    texts, or unpacks to more than `MOST_BYTES` and `MOST_TIMES` its own size.
    """
    refuse_pipe(path)
    try:
        with path.open("rb") as file:
            return unpacked(file, path)
    except OSError as fault:
        raise TablaError(f"cannot read '{path}': {fault.strerror or fault}", hint="check the path") from None


def unpacked(file: IO[bytes], path: Path) -> Mapping[str, NDArray[Any]]:
    """Return the arrays of an open file as `read_npz` does. `path` stands in errors."""
    start = file.read(6)
    if start == b"\x93NUMPY":
        hint = f"give it its name: np.savez('{path}', x=np.load(...), y=...)"
        raise TablaError(f"'{path}' is not an .npz file but a single array without a name (.npy)", hint=hint)
    try:
        archive = zipfile.ZipFile(file)
    except _DAMAGE:
        what = "it is damaged, or has another format" if start else "it is empty"
        raise TablaError(f"'{path}' is not an .npz file: {what}", hint=_SAVE) from None
    with archive:
        _check_sizes(path, archive, file.seek(0, io.SEEK_END))
        return {_name(path, info): _array(path, archive, info) for info in archive.infolist()}


def _check_sizes(path: Path, archive: zipfile.ZipFile, size: int) -> None:
    """Raise `TablaError` for an archive that is larger inside than it may be.

    zipfile reads no more than it declares.
    """
    members = archive.infolist()
    if len(members) > MOST_ARRAYS:
        raise TablaError(f"'{path}' has {len(members):,} arrays; the limit is {MOST_ARRAYS:,}", hint=_SAVE)
    unpacked, most = sum(info.file_size for info in members), max(MOST_BYTES, MOST_TIMES * size)
    if unpacked > most:
        raise TablaError(
            f"'{path}' unpacks to {unpacked:,} bytes; the limit is {MOST_TIMES} times its own size, or {MOST_BYTES:,}",
            hint="if you trust it, save it with np.savez(...), which does not compress",
        )
    for info in members:
        if info.compress_type not in _METHODS:
            raise TablaError(f"'{info.filename}' of '{path}' is packed in a way that numpy does not use", hint=_SAVE)
    if len({info.filename for info in members}) < len(members):
        raise TablaError(f"'{path}' has two arrays of one name", hint=_SAVE)


def _name(path: Path, info: zipfile.ZipInfo) -> str:
    if not info.filename.endswith(_SUFFIX):
        raise TablaError(f"'{path}' is not an .npz file: '{info.filename}' is no array", hint=_SAVE)
    return info.filename.removesuffix(_SUFFIX)


def _array(path: Path, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> NDArray[Any]:
    """Return an array. What cannot be read is a `TablaError` that names it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # numpy warns of headers of Python 2, which it reads
            return np.lib.format.read_array(io.BytesIO(archive.read(info)), allow_pickle=False)
    except _DAMAGE as fault:
        objects = "allow_pickle" in str(fault)
        what = "holds Python objects, not numbers" if objects else "cannot be read: the file is damaged"
        hint = "save it as an array of numbers" if objects else _SAVE
        name = info.filename.removesuffix(_SUFFIX)
        raise TablaError(f"array '{name}' of '{path}' {what}", hint=hint) from None
