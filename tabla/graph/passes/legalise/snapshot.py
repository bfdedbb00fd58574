"""Snapshots of models whose updates read each other's models.

An update may overwrite its model only after every read of the old words. If two updates read each other's models, as
``u - e*v`` and ``v - e*u`` do, no order of the two is right. The updates then read a copy of the model, made before
either of them. A copy changes no word.
"""

from __future__ import annotations

from dataclasses import replace

import networkx as nx

from tabla.graph.graph import Affine, Graph, Index, Linear, Operand, Read, Statement, Tensor, Term
from tabla.graph.passes.framework import graph_pass
from tabla.graph.rewrite import with_operands


@graph_pass("snapshot", "copy models whose updates read each other's models before the updates")
def snapshot(graph: Graph) -> Graph:
    """Return the graph with copies of the models whose updates depend on each other in a circle."""
    copied = _circular(graph)
    if not copied:
        return graph
    tensors = dict(graph.tensors)
    statements: list[Statement] = []
    for model in sorted(copied):
        tensor = tensors[model]
        name = f"{model}.old"
        tensors[name] = Tensor(name=name, shape=tensor.shape, role="value", origin=tensor.origin, span=tensor.span)
        indices = tuple(Index(name=f"axis{d}", low=0, high=n) for d, n in enumerate(tensor.shape))
        subscripts = tuple(Affine.index(i.name) for i in indices)
        term = Term(factors=(Read(tensor=model, subscripts=subscripts),))
        statements.append(
            Statement(
                id=len(statements),
                target=name,
                write=subscripts,
                indices=indices,
                operation=Linear(terms=(term,)),
                span=tensor.span,
            )
        )
    next_of = {graph.updates[m]: m for m in graph.updates}
    for statement in graph.statements:
        own = next_of.get(statement.target)
        moved = _rename(statement, copied, own) if own is not None else statement
        statements.append(replace(moved, id=len(statements)))
    return replace(graph, tensors=tensors, statements=tuple(statements))


def _circular(graph: Graph) -> set[str]:
    """Find the models that some update of a circle reads, apart from the very word that the update replaces."""
    next_of = {graph.updates[m]: m for m in graph.updates}
    edges: nx.DiGraph[str] = nx.DiGraph()
    for statement in graph.statements:
        if (own := next_of.get(statement.target)) is None:
            continue
        for read in statement.reads:
            if read.tensor in graph.updates and not (read.tensor == own and read.subscripts == statement.write):
                edges.add_edge(own, read.tensor)
    circular: set[str] = set()
    for component in nx.strongly_connected_components(edges):
        circular |= {b for a, b in edges.edges if a in component and b in component}
    return circular


def _rename(statement: Statement, copied: set[str], own: str) -> Statement:
    def operand(o: Operand) -> Operand:
        if isinstance(o, Read) and o.tensor in copied and not (o.tensor == own and o.subscripts == statement.write):
            return replace(o, tensor=f"{o.tensor}.old")
        return o

    return replace(statement, operation=with_operands(statement.operation, operand))
