"""The legalising passes in order: each takes a graph one step nearer to what the machine can run.

Legalising passes run once, after the passes of :mod:`tabla.graph.passes.pipeline`. Like those they change no word of
any result or model, and the rules of a graph are checked after each.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from tabla.graph.format import Format
from tabla.graph.graph import Graph
from tabla.graph.legal import Legal
from tabla.graph.passes.legalise.common_shifts import common_shifts
from tabla.graph.passes.legalise.flat_gathers import flatten_gathers
from tabla.graph.passes.legalise.index_set_splitting import scans_kept, split_index_sets
from tabla.graph.passes.legalise.materialise import materialise
from tabla.graph.passes.legalise.precompute import precompute
from tabla.graph.passes.legalise.snapshot import snapshot
from tabla.graph.passes.legalise.static_gathers import static_gathers
from tabla.graph.verify import GraphFault, verify


@dataclass(frozen=True, slots=True, kw_only=True)
class LegalisingPass:
    """A pass with its name: `function` takes a graph and the words of its constants, and returns both rewritten.

    `flat_gathers` says whether all gathers are flat when the pass has run, so that
    :func:`tabla.graph.verify.verify` may ask for it.
    """

    name: str
    function: Callable[[Legal, Format], Legal]
    flat_gathers: bool = True


def _split_index_sets(legal: Legal, fmt: Format) -> Legal:
    return replace(legal, graph=split_index_sets(legal.graph, fmt, scans_kept(legal.graph)))


def _flat_gathers(legal: Legal, fmt: Format) -> Legal:
    return replace(legal, graph=flatten_gathers(legal.graph, fmt))


def _common_shifts(legal: Legal, fmt: Format) -> Legal:
    return replace(legal, graph=common_shifts(legal.graph, fmt))


def _snapshot(legal: Legal, fmt: Format) -> Legal:
    return replace(legal, graph=snapshot(legal.graph))


LEGALISE: tuple[LegalisingPass, ...] = (
    LegalisingPass(name="index-set-splitting", function=_split_index_sets, flat_gathers=False),
    LegalisingPass(name="static-gathers", function=static_gathers, flat_gathers=False),
    LegalisingPass(name="flat-gathers", function=_flat_gathers),
    LegalisingPass(name="snapshot", function=_snapshot),
    LegalisingPass(name="precompute", function=precompute),
    LegalisingPass(name="common-shifts", function=_common_shifts),
    LegalisingPass(name="materialise", function=materialise),
)


def legalise(graph: Graph, fmt: Format) -> Legal:
    """Return the graph that the machine runs, with the words of its constants in the format `fmt`.

    Raises `TablaError` for a program that the machine cannot run, and `GraphFault`, which names the pass, if a pass
    breaks a rule of graphs.
    """
    legal = Legal(graph=graph)
    for each in LEGALISE:
        legal = each.function(legal, fmt)
        try:
            verify(legal.graph, flat_gathers=each.flat_gathers)
        except GraphFault as fault:
            raise GraphFault(f"after {each.name}: {fault}") from None
    return legal
