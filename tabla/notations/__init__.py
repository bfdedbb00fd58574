"""FILE, as the commands take it, in whatever notation: text -> a checked program that can be lowered."""

from __future__ import annotations

from pathlib import Path

from tabla.notations.reading import Reading
from tabla.options import Options
from tabla.source import TablaError

__all__ = ["Reading", "read"]


def read(file: str, options: Options) -> Reading:
    """Read and check ``model.t`` or ``kernel.tc[:def]``. A fault of the text or of `options` is a `TablaError`."""
    path, member = split(file)
    match path.suffix:
        case ".t" if member is None:
            from tabla.notations.tabla import read_tabla

            return read_tabla(path, options)
        case ".tc":
            from tabla.notations.tensor_comprehensions import read_tensor_comprehensions

            return read_tensor_comprehensions(path, member, options)
        case ".py":
            hint = "write the program in TABLA (.t) or Tensor Comprehensions (.tc)"
            raise TablaError(f"'{file}': Tile (.py) cannot be read by this version", hint=hint)
        case _:
            raise TablaError(f"'{file}' is not a program", hint="programs are model.t and kernel.tc[:def]")


def split(file: str) -> tuple[Path, str | None]:
    """``kernel.tc:def`` as the path and the member behind its colon."""
    for suffix in (".tc", ".py"):
        head, found, member = file.rpartition(f"{suffix}:")
        if found:
            return Path(head + suffix), member
    return Path(file), None
