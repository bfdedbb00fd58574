"""A checked function of Tensor Comprehensions becomes a graph, by its kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tabla.graph.format import Format
from tabla.graph.graph import Graph
from tabla.languages.kernel.lower import lower as lower_kernel
from tabla.languages.tc.lower.kernel import kernel_of
from tabla.languages.tc.program import Function


def lower(
    function: Function,
    sizes: Mapping[str, int],
    *,
    number_format: Format,
    name: str = "program",
    keep: Sequence[str] = (),
    results: Sequence[str] = (),
) -> Graph:
    """Return the graph of a function for given sizes. The inputs `keep` stay on chip, and `results` are returned too.

    Raises `TablaError` for sizes that make a range empty, for constants that `number_format` cannot hold, and for what
    the machine cannot do.
    """
    kernel = kernel_of(function, sizes, name=name, models=keep, results=results)
    graph = lower_kernel(kernel, number_format=number_format, copies="stated")
    return replace(graph, notes=(*function.notes, *graph.notes))
