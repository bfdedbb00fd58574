"""The passes in order.

Each pass takes a graph and a format and returns a graph that computes the same words. The rules of graphs are checked
after each pass, so that a pass that breaks a rule is named. ``docs/extend/pass.md`` says how to add one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tabla.graph.format import Format
from tabla.graph.graph import Graph
from tabla.graph.passes.choose_last import choose_last
from tabla.graph.passes.common_subexpressions import common_subexpressions
from tabla.graph.passes.drop_dead import drop_dead
from tabla.graph.passes.drop_unit_indices import drop_unit_indices
from tabla.graph.passes.fold_constants import fold_constants
from tabla.graph.passes.forward_copies import forward_copies
from tabla.graph.passes.fuse_comparisons import fuse_comparisons
from tabla.graph.passes.multiply_out import multiply_out
from tabla.graph.verify import GraphFault, verify

MOST_ROUNDS = 20
"""Each round that changes a graph makes it smaller or simpler. The programs met so far need two or three."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pass:
    """A named function from graph to graph that changes no word of any result or model."""

    name: str
    function: Callable[[Graph, Format], Graph]


PIPELINE: tuple[Pass, ...] = (
    Pass(name="drop-unit-indices", function=drop_unit_indices),
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
"""The passes that shorten chains of dependences on this machine, some at the price of a statement or two. They run
after `PIPELINE` has come to rest."""


def shaped(graph: Graph, fmt: Format, more: Sequence[Pass] = ()) -> Graph:
    """Return what is compiled: a graph after `PIPELINE`, to which `more` is appended, and after `SHAPING`."""
    return run_passes(run_passes(graph, fmt, (*PIPELINE, *more)), fmt, SHAPING)


def run_passes(graph: Graph, fmt: Format, passes: Sequence[Pass] = PIPELINE) -> Graph:
    """Run the passes in order, again and again until a round changes nothing, or `MOST_ROUNDS` times.

    Raises `GraphFault`, which names the pass, if a pass breaks a rule of graphs.
    """
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
