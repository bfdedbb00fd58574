"""The passes in order. Each takes a graph and a format and returns a graph of the same words; rules are checked after
each, so that a pass that breaks one is caught where it stands.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tabla.ir.format import Format
from tabla.ir.graph import Graph
from tabla.ir.verify import GraphFault, verify
from tabla.passes.choose_last import choose_last
from tabla.passes.common_subexpressions import common_subexpressions
from tabla.passes.drop_dead import drop_dead
from tabla.passes.fold_constants import fold_constants
from tabla.passes.forward_copies import forward_copies
from tabla.passes.fuse_comparisons import fuse_comparisons
from tabla.passes.multiply_out import multiply_out

MOST_ROUNDS = 20
"""Each round that changes a graph makes it smaller or simpler; programs met so far need two or three."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pass:
    """A named function from graph to graph that changes no word of any result or model."""

    name: str
    function: Callable[[Graph, Format], Graph]


PIPELINE: tuple[Pass, ...] = (
    Pass(name="fold-constants", function=fold_constants),
    Pass(name="forward-copies", function=forward_copies),
    Pass(name="common-subexpressions", function=common_subexpressions),
    Pass(name="drop-dead", function=drop_dead),
)

SHAPING: tuple[Pass, ...] = (
    Pass(name="multiply-out", function=multiply_out),
    Pass(name="choose-last", function=choose_last),
    Pass(name="fuse-comparisons", function=fuse_comparisons),
    Pass(name="drop-dead", function=drop_dead),
)
"""What makes chains of dependences shorter on this machine, at the price of a statement or two; once, in the end."""


def shaped(graph: Graph, fmt: Format) -> Graph:
    """What is compiled: a graph after `PIPELINE` and `SHAPING`."""
    return run_passes(run_passes(graph, fmt), fmt, SHAPING)


def run_passes(graph: Graph, fmt: Format, passes: Sequence[Pass] = PIPELINE) -> Graph:
    """Run the passes in order, again and again until nothing changes. A broken graph is a `GraphFault`."""
    verify(graph)
    for _ in range(MOST_ROUNDS):
        before = graph
        for each in passes:
            graph = each.function(graph, fmt)
            try:
                verify(graph)
            except GraphFault as fault:
                raise GraphFault(f"after {each.name}: {fault}") from None
        if graph == before:
            break
    return graph
