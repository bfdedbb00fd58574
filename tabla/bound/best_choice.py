"""The bound of the best choice how statements are computed and how groups share them, by branch and bound.

Of the parts of all schedules that with the least bound is divided by one choice more, until nothing is left to choose
in it. A part is looked at no further than to see that others are better.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import heappop, heappush

from tabla.bound.circuits import Circuits
from tabla.bound.distances import NEVER, Distances, Times
from tabla.bound.latencies import Latencies
from tabla.ir.graph import Graph
from tabla.templates.template import Template

MOST_CHOICES = 4096
"""The choices looked at, fewer in long programs, where each takes longer: so many at the most."""
FEW = 6
"""A part is divided as soon as it was looked at through so many vectors, those of the longest circuits before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """Schedules with some choices, what their units issue, and the vectors to look through, the most promising first.

    `through`: what was found.
    """

    distances: Distances
    units: Times
    vectors: tuple[str, ...]
    through: dict[str, int] = field(default_factory=dict)

    def looked_at(self, circuits: Circuits, bound: int, enough: int, most: int) -> int:
        """Its bound, at least that so far, through so many vectors, or until it is more than enough."""
        for vector in self.vectors[:most]:
            if bound > enough:
                break
            if vector not in self.through:
                self.through[vector] = circuits.through(vector, self.distances, self.units)
            bound = max(bound, self.through[vector])
        return bound

    def promising(self) -> tuple[str, ...]:
        """The vectors by the circuits that were found, the longest first."""
        return tuple(sorted(self.vectors, key=lambda vector: -self.through.get(vector, 0)))


def busiest_circuit(
    graph: Graph, template: Template, latencies: Latencies, binary: frozenset[str], *, choosing: bool = True
) -> int:
    """Cycles per sample of the circuit with the most latency and work; 0 if there is none.

    `binary`: tensors of which a product is no multiply. Unless `choosing`, the ways of all statements stay open.
    """
    if any(s.constraints for s in graph.statements) or any(t.filled for t in graph.tensors.values()):
        return 0
    circuits = Circuits.of(graph, binary, template)
    nowhere = Distances.anyhow(latencies, graph)
    whole = _Part(distances=nowhere, units=circuits.issued(nowhere), vectors=circuits.first)
    least = max(circuits.longest_pair(nowhere), whole.units.root, whole.units.lane)
    bound = whole.looked_at(circuits, least, NEVER, len(circuits.first))
    if not choosing:
        return bound
    # The least bound first; ties by age.
    parts, number = [(bound, 0, whole)], 1
    while True:
        bound, age, part = heappop(parts)
        further = circuits.choices(part.distances)
        enough = parts[0][0] if parts else NEVER
        found = part.looked_at(circuits, bound, enough, FEW if further else len(part.vectors))
        if found > enough:
            heappush(parts, (found, age, part))
            continue
        if further is None or number > MOST_CHOICES // (1 + len(graph.statements)):
            return found
        for distances in further:
            units = circuits.issued(distances)
            divided = _Part(distances=distances, units=units, vectors=part.promising())
            heappush(parts, (max(found, units.root, units.lane), number, divided))
            number += 1
