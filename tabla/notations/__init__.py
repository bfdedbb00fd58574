"""FILE, as the commands take it, in whatever notation: text -> a checked program that can be lowered."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tabla.notations.reading import Reading
from tabla.options import Options
from tabla.source import TablaError

__all__ = ["Reading", "read"]


def read(source: str | Path | Callable[..., Any], options: Options) -> Reading:
    """Read and check ``model.t``, ``kernel.tc[:def]``, ``layer.py:function`` or a Tile function itself.

    A fault of the text or of `options` is a `TablaError`.
    """
    if callable(source):
        from tabla.notations.tile import read_tile

        return read_tile(source, options)
    file = str(source)
    path, member = split(file)
    if path.suffix != ".py":
        for option, given in (("--shape", options.shapes), ("--arg", options.arguments)):
            if given:
                raise TablaError(f"{option} is for Tile functions, '{path}' is none", hint="write layer.py:function")
    match path.suffix:
        case ".t" if member is None:
            from tabla.notations.tabla import read_tabla

            return read_tabla(path, options)
        case ".tc":
            from tabla.notations.tensor_comprehensions import read_tensor_comprehensions

            return read_tensor_comprehensions(path, member, options)
        case ".py":
            from tabla.notations.tile import read_tile_file

            return read_tile_file(path, member, options)
        case _:
            hint = "programs are model.t, kernel.tc[:def] and layer.py:function"
            raise TablaError(f"'{file}' is not a program", hint=hint)


def split(file: str) -> tuple[Path, str | None]:
    """``kernel.tc:def`` as the path and the member behind its colon."""
    for suffix in (".tc", ".py"):
        head, found, member = file.rpartition(f"{suffix}:")
        if found:
            return Path(head + suffix), member
    return Path(file), None
