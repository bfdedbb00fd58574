"""The notations in which programs may be written, by the suffix of their files.

A notation of your own needs no change of this package: `register` it, or name it as an entry point of the group
``tabla.notations`` in the package that holds it (``docs/extend/notation.md``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path

from tabla.base.source import Source, TablaError
from tabla.languages.options import ProgramOptions
from tabla.languages.reading import Reading

ENTRY_POINTS = "tabla.notations"
"""The group of entry points by which installed packages bring notations; the name is the suffix without its dot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Notation:
    """One way to write programs.

    `suffix` ends the names of its files, and includes the dot. `shown` is how messages write such a file, for example
    ``model.t``. ``read(path, member, options)`` reads and checks a file; `member` is what the user wrote behind a colon
    after the path, and None unless `has_members`. `takes_shapes` says that ``--shape`` and ``--arg`` mean something,
    and `learns_by_option` that ``--train``, ``--freeze`` and ``--loss`` do.
    """

    suffix: str
    shown: str
    read: Callable[[Path, str | None, ProgramOptions], Reading]
    has_members: bool = False
    takes_shapes: bool = False
    learns_by_option: bool = False


def _read_tabla(path: Path, member: str | None, options: ProgramOptions) -> Reading:
    from tabla.languages.tabla.notation import read_tabla

    return read_tabla(path, options)


def _read_tensor_comprehensions(path: Path, member: str | None, options: ProgramOptions) -> Reading:
    from tabla.languages.tc.notation import read_tensor_comprehensions

    return read_tensor_comprehensions(path, member, options)


def _read_tile(path: Path, member: str | None, options: ProgramOptions) -> Reading:
    from tabla.languages.tile.notation import read_tile_file

    return read_tile_file(path, member, options)


def _read_tile_cpp(path: Path, member: str | None, options: ProgramOptions) -> Reading:
    from tabla.languages.tile_cpp.notation import read_tile_cpp

    return read_tile_cpp(path, member, options)


def _read_tinytc(path: Path, member: str | None, options: ProgramOptions) -> Reading:
    from tabla.languages.tinytc.notation import read_tinytc

    return read_tinytc(path, member, options)


def _read_onnx(path: Path, member: str | None, options: ProgramOptions) -> Reading:
    from tabla.languages.onnx.notation import read_onnx

    return read_onnx(path, options)


def _read_kernel(path: Path, member: str | None, options: ProgramOptions) -> Reading:
    from tabla.languages.kernel.notation import read_kernel_file

    return read_kernel_file(path, options)


def _read_graph(path: Path, member: str | None, options: ProgramOptions) -> Reading:
    from tabla.languages.graph_text.notation import read_graph_file

    return read_graph_file(path, options)


# The reader of a notation is imported when a file of it is read. ONNX and Tile come along anyway, because a model of
# ONNX is a program that users may give.
_NOTATIONS: dict[str, Notation] = {
    each.suffix: each
    for each in (
        Notation(suffix=".t", shown="model.t", read=_read_tabla),
        Notation(
            suffix=".tc",
            shown="kernel.tc[:def]",
            read=_read_tensor_comprehensions,
            has_members=True,
            learns_by_option=True,
        ),
        Notation(suffix=".py", shown="layer.py:function", read=_read_tile, has_members=True, takes_shapes=True),
        Notation(suffix=".cpp", shown="layer.cpp:function", read=_read_tile_cpp, has_members=True, takes_shapes=True),
        Notation(suffix=".ir", shown="x.ir[:function]", read=_read_tinytc, has_members=True),
        Notation(suffix=".ttc", shown="x.ttc[:function]", read=_read_tinytc, has_members=True),
        Notation(suffix=".kernel", shown="x.kernel", read=_read_kernel, learns_by_option=True),
        Notation(suffix=".graph", shown="x.graph", read=_read_graph),
        Notation(suffix=".onnx", shown="model.onnx", read=_read_onnx, takes_shapes=True, learns_by_option=True),
    )
}


def register(notation: Notation) -> None:
    """Make a notation known. Raises ValueError if its suffix has no dot in front or is taken."""
    if not notation.suffix.startswith("."):
        raise ValueError(f"the suffix '{notation.suffix}' does not start with a dot")
    if notation.suffix in _NOTATIONS:
        raise ValueError(f"files that end in '{notation.suffix}' have a notation already")
    _NOTATIONS[notation.suffix] = notation


def notation_of(suffix: str) -> Notation | None:
    """Return the notation of a suffix: ours, one that was registered, or one of an installed package."""
    if suffix not in _NOTATIONS:
        for entry in entry_points(group=ENTRY_POINTS, name=suffix.removeprefix(".")):
            register(entry.load())
    return _NOTATIONS.get(suffix)


def split(file: str) -> tuple[Path, str | None]:
    """Return the path of ``kernel.tc:def`` and the member behind its colon, None where there is none."""
    head, colon, member = file.rpartition(":")
    notation = notation_of(Path(head).suffix) if colon else None
    return (Path(head), member) if notation is not None and notation.has_members else (Path(file), None)


def _is_text(name: str) -> bool:
    """Return whether UTF-8 has the characters of a name. Python gives bytes that are none as halves of pairs."""
    return not any("\ud800" <= letter <= "\udfff" for letter in name)


def _refuse_shapes(name: str, options: ProgramOptions) -> None:
    for option, given in (("--shape", options.shapes), ("--arg", options.arguments)):
        if given:
            raise TablaError(
                f"{option} is for Tile functions, '{name}' is none",
                hint="write layer.py:function or layer.cpp:function",
            )


def read_file(file: str, options: ProgramOptions) -> Reading:
    """Read and check a program in a file. A fault of the text or of `options` is a `TablaError`."""
    path, member = split(file)
    notation = notation_of(path.suffix)
    if notation is None:
        *others, last = [each.shown for each in _NOTATIONS.values()]
        hint = f"programs are {', '.join(others)} and {last}"
        if path.suffix == ".npz":
            hint = "models serve tabla train, gen, formats, explore, predict and test, or --infer; " + hint
        raise TablaError(f"'{file}' is not a program", hint=hint)
    if not _is_text(path.name):
        raise TablaError(
            f"the name of '{path}' is not UTF-8, and what is made of a program has its name", hint="rename the file"
        )
    if not notation.takes_shapes:
        _refuse_shapes(str(path), options)
    if not notation.learns_by_option:
        options.refuse_fine_tuning(str(path))
    return notation.read(path, member, options)


def read_text(source: Source, options: ProgramOptions) -> Reading:
    """Read and check the text of a kernel or a graph, if its name ends as their files do, and else that of TABLA."""
    _refuse_shapes(source.name, options)
    match Path(source.name).suffix:
        case ".kernel":
            from tabla.languages.kernel.notation import read_kernel_text

            return read_kernel_text(source, options)
        case ".graph":
            from tabla.languages.graph_text.notation import read_graph_text

            return read_graph_text(source, options)
        case _:
            from tabla.languages.tabla.notation import read_tabla_text

            return read_tabla_text(source, options)
