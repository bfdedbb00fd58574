"""``layer.cpp:function``: Tile in C++, for given shapes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tabla.base.source import Source
from tabla.graph.format import Format
from tabla.graph.graph import Graph
from tabla.languages.options import ProgramOptions
from tabla.languages.reading import Reading
from tabla.languages.tile.notation import arguments_of, kinds_of, reading_of, shapes_of
from tabla.languages.tile_cpp.trace import load, trace
from tabla.languages.tile_cpp.words import speaking_cpp


def read_tile_cpp(path: Path, member: str | None, options: ProgramOptions) -> Reading:
    """Read a function of a C++ file. The file is only read, and nothing of it is compiled or run by C++.

    Everything that is wrong with it is a `TablaError` at its place.
    """
    file = load(Source.from_path(path))
    function = file.function(member)
    given = options.input_shapes
    program = trace(file, function, shapes_of(options, given.shapes), arguments_of(options), kinds_of(given.types))
    warnings = tuple(
        f"{path}:{name.span.line}:{name.span.column}: '{name.text}' is not declared, and C++ asks for it; "
        f"write auto {name.text} = ..."
        for name in file.implied[function.name.text]
    )
    read = reading_of(program, file.source, options, name=path.stem, warnings=warnings)

    def lowered(number_format: Format, results: Sequence[str]) -> Graph:
        with speaking_cpp():
            return read.lower(number_format, results)

    return replace(read, lower=lowered)
