"""The longest circuit for one choice of ways; the bound itself looks at the vectors one by one."""

from __future__ import annotations

from tabla.schedule.bound.circuits import Circuits
from tabla.schedule.bound.distances import Distances


def longest(circuits: Circuits, distances: Distances) -> int:
    """Return the cycles of the longest circuit, and no fewer than roots or lanes issue a sample."""
    units = circuits.issued(distances)
    found = max([units.root, units.lane, *(circuits.through(u, distances, units) for u in circuits.first)])
    # Where it is chosen how a statement is computed, the work between two words is on the way from each to itself, too.
    return found if distances.choices else max(found, circuits.longest_pair(distances)[0])
