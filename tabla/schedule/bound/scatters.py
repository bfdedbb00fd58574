"""Graphs without scatters, for the bound.

Which rows of a model a sample changes is known when it runs, so the next sample may need none of them. A schedule waits
for the writes all the same, but no law of the machine asks for that. So the bound takes a model of which named rows
change alone for one that does not change.
"""

from __future__ import annotations

from dataclasses import replace

from tabla.graph.graph import Graph, Scatter
from tabla.graph.rewrite import with_statements, with_tensors


def without_scatters(graph: Graph) -> Graph:
    """Return the graph in which models keep their words where a scatter would change some. Other statements stay."""
    scattered = {s.target for s in graph.statements if isinstance(s.operation, Scatter)}
    if not scattered:
        return graph
    updates = {model: following for model, following in graph.updates.items() if following not in scattered}
    tensors = {name: tensor for name, tensor in graph.tensors.items() if name not in scattered}
    kept = with_statements(graph, (s for s in graph.statements if s.target not in scattered))
    return replace(with_tensors(kept, tensors), updates=updates)
