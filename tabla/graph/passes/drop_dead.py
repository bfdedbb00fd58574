"""Dead code: statements and values that no update and no result needs are removed."""

from __future__ import annotations

from tabla.graph.format import Format
from tabla.graph.graph import Graph
from tabla.graph.passes.framework import graph_pass
from tabla.graph.rewrite import needed_for, with_statements, with_tensors


@graph_pass("drop-dead", "remove statements and values that no update and no result needs")
def drop_dead(graph: Graph, fmt: Format) -> Graph:
    """Keep what leads to next values and results. Inputs, labels and models stay, because they are the program's
    interface.
    """
    kept, needed = needed_for((*graph.updates.values(), *(tensor for _, tensor in graph.results)), graph.statements)
    tensors = {name: t for name, t in graph.tensors.items() if t.role not in ("value", "constant") or name in needed}
    return with_statements(with_tensors(graph, tensors), kept)
