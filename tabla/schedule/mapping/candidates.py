"""The mappings that are worth an exact schedule: the best ones by an estimate, for each array that is tried.

In arrays with several sequencers, some lanes compute some of the statements only. Statements that use the same words in
the lanes belong together: they are a *cluster*. Clusters exchange words through the root only, so each cluster may have
lanes of its own, those of some adjacent sequencers, and then runs at the same time as the others. Inputs, labels and
tensors that never change are copied to every cluster that reads them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Mapping as Map
from dataclasses import replace

import networkx as nx

from tabla.graph.graph import Graph
from tabla.schedule.mapping.changes import at_hand
from tabla.schedule.mapping.effort import Effort
from tabla.schedule.mapping.joined import all_joined
from tabla.schedule.mapping.kept import with_kept_copies
from tabla.schedule.mapping.mapping import Mapping, operands_of_functions, static_tensors
from tabla.schedule.mapping.places import ALL, ROOT, Span, Spot
from tabla.schedule.mapping.search import Search
from tabla.schedule.mapping.slots import lane_slots
from tabla.templates.template import Template

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


def candidates(legal: Graph, template: Template, effort: Effort) -> list[Mapping]:
    """Return the best mappings by the estimates.

    Each statement may use all lanes. On an array with several sequencers there are further mappings, whose clusters
    have lanes of their own.
    """
    whole = Search(legal, template, effort=effort).candidates(effort.candidates)
    if operands_of_functions(legal):
        fused = Search(legal, template, effort=effort, fused=True)
        whole = distinct([*whole, *fused.candidates(effort.fused)])
    if effort.received:
        received = Search(legal, template, effort=effort, received=True)
        whole = distinct([*received.candidates(effort.received), *whole])
    whole = [*whole, *_with_kept_copies(legal, template, effort, whole)]
    if not effort.starts:  # otherwise changes end with chains
        whole = distinct([*whole, *(all_joined(mapping) for mapping in whole)])
    if template.sequencers == 1:
        return whole
    widths = divisors(template.sequencers)
    return distinct([*whole, *in_own_lanes(legal, template, effort.candidates, widths, effort)])


def _with_kept_copies(legal: Graph, template: Template, effort: Effort, others: Sequence[Mapping]) -> Iterator[Mapping]:
    """Yield mappings in which lanes keep copies of models whose home is the root: of `others`, and of a search that
    expects them.
    """
    if not any(mapping.homes[model] == ROOT for mapping in others for model in legal.updates):
        return
    expected = Search(legal, template, effort=effort, kept=True).candidates(effort.kept)
    for mapping in distinct([*others, *expected]):
        changed = with_kept_copies(mapping, effort)
        if changed.kept:
            yield changed


def in_own_lanes(legal: Graph, template: Template, most: int, widths: Sequence[int], effort: Effort) -> list[Mapping]:
    """Return mappings whose clusters have lanes of their own.

    For each number in `widths` there are mappings that give every cluster at least so many sequencers. Each of the
    `most` best mappings by the estimate is taken as it is, and with inputs and labels in the lanes, because the bus
    would bring these to one cluster at a time.
    """
    found = Search(legal, template, effort=effort, clustered=True).candidates(most)
    return distinct(
        spread_out(mapping, least=least) for each in found for mapping in (each, at_hand(each)) for least in widths
    )


def side_by_side(legal: Graph, template: Template, effort: Effort) -> Iterator[Mapping]:
    """Yield mappings with clusters in lanes of their own, if the user names no number of sequencers."""
    if template.sequencers or template.roots > 1:
        return
    for sequencers in effort.sequencers:
        if template.pes % sequencers or template.pes // sequencers < effort.least_lanes:
            continue
        array = template.with_roots(1).with_sequencers(sequencers)
        for mapping in in_own_lanes(legal, array, effort.clustered, (1,), effort):
            if any(fit.span != ALL for fit in mapping.fits):
                yield mapping


def roots_to_try(template: Template, effort: Effort) -> tuple[int, ...]:
    """Return the numbers of roots to try beside one: the template's own number, or those of the effort."""
    if template.sequencers > 1:
        return ()
    if template.roots:
        return (template.roots,) if template.roots > 1 else ()
    return tuple(n for n in effort.roots if template.pes % n == 0 and template.pes // n >= effort.least_lanes)


def distinct(mappings: Iterable[Mapping]) -> list[Mapping]:
    """Return each mapping once, the first of those that compute the same way."""
    found: list[Mapping] = []
    for mapping in mappings:
        if all((m.fits, m.homes, m.kept) != (mapping.fits, mapping.homes, mapping.kept) for m in found):
            found.append(mapping)
    return found
