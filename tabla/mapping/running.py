"""Running sums and extremes on the array: an accumulator goes on from output to output.

Each row of outputs, one for every point of the other indices, is a run of its own: at the root one after the other, or
a lane for each of as many rows as there are lanes.
"""

from __future__ import annotations

from collections.abc import Iterator

from tabla.ir.graph import Graph, Product, Statement
from tabla.ir.running import running
from tabla.mapping.fit import Fit, lane_reads, spread
from tabla.mapping.places import ROOT


def fits(statement: Statement, graph: Graph, pes: int) -> Iterator[Fit]:
    """The ways of a statement that runs on: rows over the lanes, or all at the root."""
    found = running(statement)
    assert found is not None
    for index in statement.indices if not isinstance(statement.operation, Product) else ():
        target = spread(statement.write, index.name)
        if index == found.index or target is None:
            continue
        # No word comes over the bus: what lanes share lies in each of them.
        local = frozenset(graph.tensors)
        reads = lane_reads(statement.operation, statement.reads, index.name, target, graph, pes, local)
        if reads is not None:
            yield Fit(way="lane", index=index.name, offset=reads[0], needs=reads[1])
    yield Fit(way="root", needs=tuple(sorted((tensor, ROOT) for tensor in statement.sources)))
