"""A checked TABLA program becomes a graph, by way of its kernel."""

from __future__ import annotations

from collections.abc import Sequence

from tabla.graph.format import Format
from tabla.graph.graph import Graph
from tabla.languages.kernel.lower import lower as lower_kernel
from tabla.languages.tabla.kernel import kernel_of, refuse_runtime_rate
from tabla.languages.tabla.program import Program


def lower(
    program: Program,
    *,
    number_format: Format,
    results: Sequence[str] = (),
    name: str = "program",
    runtime_rate: bool = False,
) -> Graph:
    """Return the graph of `program`. The parameters and errors are those of :func:`tabla.languages.kernel.lower.lower`.

    With `runtime_rate` a program without gradients, and one that uses ``mu`` as a value, are errors as well.
    """
    if runtime_rate:
        refuse_runtime_rate(program, (*program.outputs, *results))
    return lower_kernel(
        kernel_of(program, name), number_format=number_format, results=results, runtime_rate=runtime_rate
    )
