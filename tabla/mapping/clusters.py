"""Arrays with several sequencers: which lanes compute which statements.

Statements that use the same words in the lanes belong together: they are a *cluster*. Clusters exchange words through
the root only, so each cluster may have lanes of its own, those of some adjacent sequencers, and then runs at the same
time as the others. Inputs, labels and tensors that never change are copied to every cluster that reads them.
"""

from __future__ import annotations

from collections.abc import Mapping as Map
from dataclasses import replace

import networkx as nx

from tabla.ir.graph import Graph
from tabla.mapping.mapping import Mapping, static_tensors
from tabla.mapping.places import ALL, Span, Spot
from tabla.mapping.slots import lane_slots

Cluster = tuple[int, ...]
"""The numbers of a cluster's statements."""


def divisors(number: int) -> list[int]:
    """Return all divisors of a number, the smallest first."""
    return [d for d in range(1, number + 1) if number % d == 0]


def clusters(mapping: Mapping) -> list[Cluster]:
    """Return the clusters of a mapping, ordered by their first statements."""
    graph = mapping.graph
    shared = _shared(graph)
    owner = {n: m for m, n in graph.updates.items()}
    ties: nx.Graph[object] = nx.Graph()
    for statement, fit in zip(graph.statements, mapping.fits, strict=True):
        if not fit.index:
            continue
        ties.add_node(statement.id)
        for tensor, spot in fit.needs:
            if spot.kind == "lane" and tensor not in shared:
                ties.add_edge(statement.id, (owner.get(tensor, tensor), spot))
        if fit.way == "lane":
            target = owner.get(statement.target, statement.target)
            ties.add_edge(statement.id, (target, mapping.homes[target]))
    return sorted(tuple(sorted(n for n in c if isinstance(n, int))) for c in nx.connected_components(ties))


def spread_out(mapping: Mapping, *, least: int) -> Mapping:
    """Return a mapping with every cluster in the lanes of at least `least` sequencers.

    A cluster takes the number of sequencers with the smallest product of lanes and cycles. The clusters that take the
    longest choose their sequencers first, and each takes those that are free the earliest.
    """
    graph, sequencers = mapping.graph, mapping.template.sequencers
    each = mapping.template.lanes_per_sequencer
    free = [0.0] * sequencers
    plan: list[tuple[float, Cluster, int]] = []
    for cluster in clusters(mapping):
        times = {
            m: sum(lane_slots(graph.statements[s], mapping.fits[s], m * each) for s in cluster)
            for m in divisors(sequencers)
            if m >= least
        }
        chosen = min(times, key=lambda m: (m * times[m], -m))
        plan.append((times[chosen], cluster, chosen))
    spans: dict[int, Span] = {}
    for time, cluster, wide in sorted(plan, key=lambda p: (-p[0], p[1])):
        start = min(range(0, sequencers, wide), key=lambda s: (max(free[s : s + wide]), s))
        free[start : start + wide] = [max(free[start : start + wide]) + time] * wide
        span = ALL if wide == sequencers else Span(first=start * each, lanes=wide * each)
        spans.update(dict.fromkeys(cluster, span))
    return _moved(mapping, spans)


def _shared(graph: Graph) -> frozenset[str]:
    """Find the tensors that may lie in several places at no cost in cycles of the lanes."""
    return static_tensors(graph) | {t.name for t in graph.tensors.values() if t.role in ("input", "label")}


def _moved(mapping: Mapping, spans: Map[int, Span]) -> Mapping:
    """Return a mapping with each statement, and the words it uses in the lanes, in the lanes of its span."""
    graph = mapping.graph
    owner = {n: m for m, n in graph.updates.items()}
    fits, homes = [], dict(mapping.homes)
    places: dict[tuple[str, Spot], set[Spot]] = {}
    for statement, fit in zip(graph.statements, mapping.fits, strict=True):
        span = spans.get(statement.id, ALL)
        needs = []
        for tensor, spot in fit.needs:
            own = replace(spot, span=span) if spot.kind == "lane" else spot
            needs.append((tensor, own))
            places.setdefault((owner.get(tensor, tensor), spot), set()).add(own)
        fits.append(replace(fit, span=span, needs=tuple(needs)))
        target = owner.get(statement.target, statement.target)
        if fit.way == "lane":
            homes[target] = replace(mapping.homes[target], span=span)
    copies = {
        (tensor, own)
        for tensor, spot in mapping.copies
        for own in (places.get((tensor, spot), {spot}) if spot.kind == "lane" else {spot})
    }
    return replace(mapping, fits=tuple(fits), homes=homes, copies=tuple(sorted(copies)))
