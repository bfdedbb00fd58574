"""Programs as the commands take them, in whatever notation: a file or a function becomes a checked program."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tabla.lang.onnx.model import Model
from tabla.notations.reading import Reading
from tabla.notations.table import Notation, read_file, register, split
from tabla.options import Options
from tabla.source import Source

__all__ = ["Notation", "Reading", "read", "register", "split"]


def read(source: str | Path | Source | Model | Callable[..., Any], options: Options) -> Reading:
    """Read and check ``model.t``, ``kernel.tc[:def]``, ``layer.py:function``, ``model.onnx``, a Tile function or a
    model itself, or the text of a TABLA program.

    A fault of the text or of `options` is a `TablaError`.
    """
    if not isinstance(source, str | Path | Model):
        name = source.name if isinstance(source, Source) else getattr(source, "__name__", "function")
        options.refuse_fine_tuning(name)
    if isinstance(source, Source):
        from tabla.notations.tabla import read_tabla_text

        return read_tabla_text(source, options)
    if isinstance(source, Model):
        from tabla.notations.onnx import read_model

        return read_model(source, options)
    if callable(source):
        from tabla.notations.tile import read_tile

        return read_tile(source, options)
    return read_file(str(source), options)
