"""Arrays with several sequencers: which lanes compute what.

Statements that work on the same words in the lanes belong together: they are a *cluster*. Clusters have nothing to do
with each other but through the root, so each may have lanes of its own, those of some sequencers side by side, and then
runs at the same time as the others. What samples bring and what never changes is copied to every cluster that reads it.
"""

from __future__ import annotations

from collections.abc import Mapping as Map
from collections.abc import Sequence
from dataclasses import replace

import networkx as nx

from tabla.ir.graph import Graph
from tabla.mapping.mapping import Mapping, static_tensors
from tabla.mapping.places import ALL, Span, Spot
from tabla.mapping.slots import lane_slots

Cluster = tuple[int, ...]
"""Ids of statements."""


def divisors(number: int) -> list[int]:
    """All divisors, the least first."""
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
    """The mapping with every cluster in the lanes of `least` sequencers or more, the work balanced.

    A cluster takes as many sequencers as keep the fewest lanes busy for the shortest time; heavy clusters choose first.
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
    """Tensors that may lie in several places at no cost in cycles of the lanes."""
    return static_tensors(graph) | {t.name for t in graph.tensors.values() if t.role in ("input", "label")}


def _moved(mapping: Mapping, spans: Map[int, Span]) -> Mapping:
    """The mapping with each statement, and what it works on, in its own lanes."""
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


def distinct(mappings: Sequence[Mapping]) -> list[Mapping]:
    """Each mapping once, the first of equals."""
    found: list[Mapping] = []
    for mapping in mappings:
        if all(m.fits != mapping.fits or m.homes != mapping.homes for m in found):
            found.append(mapping)
    return found
