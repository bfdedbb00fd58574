"""Programs as the commands take them, in whatever notation: a file or a function becomes a checked program."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tabla.notations.reading import Reading
from tabla.notations.table import Notation, read_file, register, split
from tabla.options import Options

__all__ = ["Notation", "Reading", "read", "register", "split"]


def read(source: str | Path | Callable[..., Any], options: Options) -> Reading:
    """Read and check ``model.t``, ``kernel.tc[:def]``, ``layer.py:function`` or a Tile function itself.

    A fault of the text or of `options` is a `TablaError`.
    """
    if callable(source):
        from tabla.notations.tile import read_tile

        return read_tile(source, options)
    return read_file(str(source), options)
