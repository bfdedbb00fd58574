"""Programs as the commands take them, in whatever notation: a file or a function becomes a checked program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tabla.base.source import Source
from tabla.graph.format import Format
from tabla.graph.graph import Graph
from tabla.languages.onnx.model import Model
from tabla.languages.options import ProgramOptions
from tabla.languages.reading import Reading
from tabla.languages.table import Notation, read_file, read_text, register, split

Program = str | Path | Source | Model | Callable[..., Any]
"""A program as users give it: the path of a file, its text, a model of ONNX, or a Tile function."""

__all__ = ["Notation", "Program", "ProgramOptions", "Reading", "read", "register", "split"]


def read(source: Program, options: ProgramOptions) -> Reading:
    """Read and check ``model.t``, ``kernel.tc[:def]``, ``layer.py:function``, ``model.onnx``, a Tile function or a
    model itself, or the text of a program: of TABLA, or of the notation that the name of the text ends with.

    A fault of the text or of `options` is a `TablaError`.
    """
    reading = _read(source, options)
    return reading if options.name is None else _renamed(reading, options.name)


def _renamed(reading: Reading, name: str) -> Reading:
    """Return a program with another name, which its graph has, too."""

    def lowered(number_format: Format, results: Sequence[str]) -> Graph:
        return replace(reading.lower(number_format, results), name=name)

    return replace(reading, name=name, lower=lowered)


def _read(source: Program, options: ProgramOptions) -> Reading:
    if not isinstance(source, str | Path | Model):
        name = source.name if isinstance(source, Source) else getattr(source, "__name__", "function")
        options.refuse_fine_tuning(name)
    if isinstance(source, Source):
        return read_text(source, options)
    if isinstance(source, Model):
        from tabla.languages.onnx.notation import read_model

        return read_model(source, options)
    if callable(source):
        from tabla.languages.tile.notation import read_tile

        return read_tile(source, options)
    return read_file(str(source), options)
