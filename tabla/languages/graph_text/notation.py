"""``x.graph``: a graph as ``tabla gen --emit graph`` prints it, to be compiled as it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tabla.base.source import Source, TablaError
from tabla.graph.format import Format
from tabla.graph.graph import Graph
from tabla.graph.text import graph_text
from tabla.languages.graph_text.reader import read_graph
from tabla.languages.options import ProgramOptions
from tabla.languages.preprocess import Preprocessed
from tabla.languages.reading import Reading


def read_graph_file(path: Path, options: ProgramOptions) -> Reading:
    """Read a graph in a file, as `read_graph_text` reads its text."""
    return read_graph_text(Source.from_path(path), options)


def read_graph_text(source: Source, options: ProgramOptions) -> Reading:
    """Read the text of a graph. It holds sizes, constants and the learning rate, so options that say them are refused.

    Files of constants that it names are in the folder of the source.
    """
    path = Path(source.name)
    read = read_graph(source, path.parent)
    given = (
        ("--size", options.sizes),
        ("--keep", options.keep),
        ("-D", options.defines),
        ("--learning-rate", options.learning_rate is not None),
        ("--minibatch", options.minibatch > 1 and read.graph.samples > 1),
    )
    for option, value in given:
        if value:
            raise TablaError(f"{option}: '{path}' is a graph, which holds that already", hint=f"leave {option} out")

    def lowered(number_format: Format, results: Sequence[str]) -> Graph:
        if read.format is not None and read.format != number_format:
            raise TablaError(
                f"'{path}' is a graph for {read.format}, and the array is for {number_format}",
                hint=f"add --format {read.format}",
            )
        known = dict(read.graph.results)
        for name in results:
            if name not in read.graph.tensors:
                raise TablaError(f"--result {name}: the graph has no such tensor", hint="name one that it declares")
            known.setdefault(name, name)
        return replace(read.graph, results=tuple(known.items()))

    return Reading(
        name=path.stem,
        text=Preprocessed(source=source, original=source),
        ast=lambda: graph_text(read.graph),
        lower=lowered,
        trainable=bool(read.graph.updates),
        values=tuple(name for name, tensor in read.graph.tensors.items() if tensor.role == "value"),
        integers=read.integers,
    )
