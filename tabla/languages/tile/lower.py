"""A traced Tile program becomes a graph, by its kernel (``docs/decisions/0014-tile.md``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tabla.graph.format import Format
from tabla.graph.graph import Graph
from tabla.languages.kernel.lower import lower as lower_kernel
from tabla.languages.tile.kernel import translated
from tabla.languages.tile.program import Program
from tabla.languages.tile.refusals import (
    refuse_deep,
    refuse_large_arrays,
    refuse_loaded_rate,
    refuse_whole_numbers,
)
from tabla.languages.tile.text import names_of


def lower(
    program: Program,
    *,
    number_format: Format,
    keep: Sequence[str] = (),
    results: Sequence[str] = (),
    name: str = "program",
    runtime_rate: bool = False,
) -> Graph:
    """Return the graph of a program. The tensors of `keep`, and those that learn, stay on chip as models.

    `results` are names of further tensors to return. With `runtime_rate` the learning rate is a word that hosts load
    (decision 23).

    Raises `TablaError` for constants that `number_format` cannot hold, and for what the graph cannot say.
    """
    nodes = program.nodes()
    asked = [node for node, name in names_of(program).items() if name in results]
    refuse_deep(nodes, [*program.outputs, *asked])
    refuse_whole_numbers(program, nodes)
    refuse_large_arrays(nodes)
    if runtime_rate:
        refuse_loaded_rate(program)
    made = translated(program, name=name, keep=keep, results=results, number_format=number_format)
    graph = lower_kernel(
        made.kernel,
        number_format=number_format,
        runtime_rate=runtime_rate,
        copies="all",
        reals=made.reals,
        named_sums=False,
    )
    held = dict(graph.results)
    return replace(graph, results=tuple((shown, held[tensor]) for shown, tensor in made.results.items()))
