"""Layouts of random mappings, and the words of memory that a place takes, counted one by one."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from tabla.graph.graph import Graph
from tabla.schedule.mapping.changes import changes
from tabla.schedule.mapping.effort import EFFORTS
from tabla.schedule.mapping.mapping import Mapping
from tabla.schedule.mapping.places import Place
from tabla.schedule.mapping.search import Search
from tabla.schedule.strands.allocation import lay_out
from tabla.schedule.strands.layout import Layout
from tabla.schedule.strands.uses import Uses
from tests.schedule.agreement import Q6_10
from tests.schedule.mapping.single import array, legal_of


def mappings(graph: Graph, pes: int, *, changed: int = 2) -> Iterator[Mapping]:
    """Everything at the root, the best mappings by estimate, and some changes of the first of those."""
    search = Search(legal_of(graph, Q6_10), array(pes))
    best = search.candidates(3)
    yield from (search.at_root(), *best, *itertools.islice(changes(best[0], EFFORTS[2]), changed))


def layout_of(mapping: Mapping) -> Layout | None:
    return lay_out(Uses.of(mapping, Q6_10))


def words_of(place: Place) -> dict[tuple[int, ...], tuple[int, int]]:
    """(lane, address) of every element; -1 for the root, and for a copy that every lane has."""
    found = {}
    for element in itertools.product(*(range(extent) for extent in place.shape)):
        lane = -1
        at = list(element)
        if place.spot.kind == "lane":
            lane = element[place.spot.axis] % place.pes
            at[place.spot.axis] //= place.pes
        found[element] = (lane, place.base + sum(n * stride for n, stride in zip(at, place.strides, strict=True)))
    return found
