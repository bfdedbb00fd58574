"""The ways to compute a scan: at the root, or in the lanes with a row of outputs in each lane.

A scan keeps one accumulator from output to output (:mod:`tabla.ir.scan`). Each row of outputs, one for every point of
the other indices, is a scan of its own. At the root the rows follow each other; in the lanes as many rows run at the
same time as there are lanes.
"""

from __future__ import annotations

from collections.abc import Iterator

from tabla.ir.graph import Graph, Product, Statement
from tabla.ir.scan import scan_of
from tabla.mapping.fit import Fit, lane_reads, spread
from tabla.mapping.places import ROOT


def scan_fits(statement: Statement, graph: Graph, pes: int) -> Iterator[Fit]:
    """Yield the ways to compute a scan: each index that may count rows over `pes` lanes, and at last the root.

    A scan of products runs at the root only, because each step rounds and waits for the step before it.
    """
    found = scan_of(statement)
    assert found is not None
    for index in statement.indices if not isinstance(statement.operation, Product) else ():
        target = spread(statement.write, index.name)
        if index == found.index or target is None:
            continue
        # No word of a scan comes over the bus: what the lanes share lies in each of them.
        local = frozenset(graph.tensors)
        reads = lane_reads(statement.operation, statement.reads, index.name, target, graph, pes, local)
        if reads is not None:
            yield Fit(way="lane", index=index.name, offset=reads[0], needs=reads[1])
    yield Fit(way="root", needs=tuple(sorted((tensor, ROOT) for tensor in statement.sources)))
