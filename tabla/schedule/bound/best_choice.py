"""The bound of the best choice of ways and groups, by branch and bound.

Every schedule computes each statement in one way (:class:`tabla.schedule.bound.choice.Choice`), and shares models among
groups in one way (:class:`tabla.schedule.bound.groups.Groups`). A *part* is a set of schedules that agree on some of
these choices. The search repeatedly takes the part with the smallest bound and splits it by one more choice, until
nothing is left to choose in the part it takes. No schedule is faster than that part's bound, because every other part
has a larger one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Literal

from tabla.graph.graph import Graph
from tabla.schedule.bound.circuits import Circuits
from tabla.schedule.bound.distances import NEVER, Distances, Times
from tabla.schedule.bound.latencies import Latencies
from tabla.templates.template import Template

MOST_CHOICES = 4096
"""Parts that are looked at, at the most, over the number of statements: each takes longer in a long program."""
FEW = 6
"""Vectors that are looked through, the most promising first, before a part is split."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Circuit:
    """What makes the bound of the path: so many `cycles`, and why.

    `kind` says what takes these cycles: the latencies of a ``chain`` of statements from a model to its update, a
    circuit from the last word of a ``vector`` to the same word of the next sample, one that goes through two ``words``,
    or the operations that must issue in ``lanes`` or at ``roots``.
    `words` names the tensors of the circuit. `distances` holds the choices of the part to which it belongs.
    """

    cycles: int
    kind: Literal["none", "chain", "vector", "words", "lanes", "roots"] = "none"
    words: tuple[str, ...] = ()
    distances: Distances | None = None


NOTHING = Circuit(cycles=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """Schedules that agree on the choices of `distances`.

    `units` are the cycles in which roots and lanes issue. `vectors` are the tensors to look through, the most promising
    first. `through` keeps the circuits that were found.
    """

    distances: Distances
    units: Times
    vectors: tuple[str, ...]
    through: dict[str, int] = field(default_factory=dict)

    def looked_at(self, circuits: Circuits, found: Circuit, enough: int, most: int) -> Circuit:
        """Return the larger of `found` and the circuits through the first `most` vectors.

        The search stops as soon as the circuit takes more than `enough` cycles.
        """
        for vector in self.vectors[:most]:
            if found.cycles > enough:
                break
            if vector not in self.through:
                self.through[vector] = circuits.through(vector, self.distances, self.units)
            if self.through[vector] > found.cycles:
                found = self._circuit(self.through[vector], "vector", vector)
        return found

    def issues(self, found: Circuit) -> Circuit:
        """Return the larger of `found` and the cycles in which units issue."""
        if self.units.root > found.cycles:
            found = self._circuit(self.units.root, "roots")
        return self._circuit(self.units.lane, "lanes") if self.units.lane > found.cycles else found

    def promising(self) -> tuple[str, ...]:
        """Return the vectors with the longest circuits that were found first."""
        return tuple(sorted(self.vectors, key=lambda vector: -self.through.get(vector, 0)))

    def _circuit(self, cycles: int, kind: Literal["vector", "lanes", "roots"], *words: str) -> Circuit:
        return Circuit(cycles=cycles, kind=kind, words=words, distances=self.distances)


def busiest_circuit(
    graph: Graph, template: Template, latencies: Latencies, binary: frozenset[str], *, choosing: bool = True
) -> Circuit:
    """Return the circuit that takes most cycles of a sample, for the choice of ways with which it takes fewest.

    A product with a tensor of `binary` is no multiply. Unless `choosing`, all ways and groups stay open.
    """
    if any(s.constraints for s in graph.statements) or any(t.filled for t in graph.tensors.values()):
        return NOTHING
    circuits = Circuits.of(graph, binary, template)
    open_ways = Distances.anyhow(latencies, graph)
    whole = _Part(distances=open_ways, units=circuits.issued(open_ways), vectors=circuits.first)
    cycles, words = circuits.longest_pair(open_ways)
    pair = Circuit(cycles=cycles, kind="words", words=words, distances=open_ways) if words else NOTHING
    found = whole.issues(pair)
    found = whole.looked_at(circuits, found, NEVER, len(circuits.first))
    return _best(circuits, whole, found) if choosing else found


def _best(circuits: Circuits, whole: _Part, circuit: Circuit) -> Circuit:
    """Return the circuit of the best choice: `whole` is the part of all schedules, `circuit` what bounds it."""
    # Of parts with equal bounds the oldest comes first.
    parts: list[tuple[int, int, Circuit, _Part]] = [(circuit.cycles, 0, circuit, whole)]
    most, number = MOST_CHOICES // (1 + len(circuits.graph.statements)), 1
    while True:
        _, age, circuit, part = heappop(parts)
        further: Iterator[Distances] | None = circuits.choices(part.distances)
        enough = parts[0][0] if parts else NEVER
        found = part.looked_at(circuits, circuit, enough, FEW if further else len(part.vectors))
        if found.cycles > enough:
            heappush(parts, (found.cycles, age, found, part))
            continue
        if further is None or number > most:
            return found
        for distances in further:
            divided = _Part(distances=distances, units=circuits.issued(distances), vectors=part.promising())
            bound = divided.issues(found)
            heappush(parts, (bound.cycles, number, bound, divided))
            number += 1
