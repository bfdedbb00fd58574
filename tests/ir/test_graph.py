"""Dependences of random graphs follow the statements' order."""

from __future__ import annotations

import networkx as nx
from hypothesis import given, settings

from tabla.ir.graph import Graph
from tests.ir.graph_strategy import graphs


@settings(max_examples=60, deadline=None)
@given(graphs())
def test_dependences_are_acyclic_and_complete(graph: Graph) -> None:
    dag = graph.dependences()
    assert sorted(dag) == [statement.id for statement in graph.statements]
    assert all(earlier < later for earlier, later in dag.edges)
    assert nx.is_directed_acyclic_graph(dag)
    for statement in graph.statements:
        for read in statement.reads:
            writers = [w.id for w in graph.writers(read.tensor) if w.id < statement.id]
            assert all(dag.has_edge(writer, statement.id) for writer in writers)
