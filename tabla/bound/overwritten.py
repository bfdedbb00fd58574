"""A model's word is not overwritten while a statement in the lanes still needs its old value.

A model's word has one address, and a lane holds one sum in its accumulator. Suppose that every sum that reads the
model also waits for the last word of some vector. Then the first of these sums ends after that word has come, and
the update's operations come after that sum, except for the few whose results are written after the sum has read. A
word that is overwritten sooner has to be copied before, or moved to its place afterwards. Either takes one operation
of the lanes more.
"""

from __future__ import annotations

from collections.abc import Iterator

from tabla.bound.choice import UNDIVIDED
from tabla.bound.claims import Claims, largest, last_in_sums, reads_all, sources
from tabla.bound.distances import Distances
from tabla.bound.products import issued_terms
from tabla.bound.sent import found_where_made
from tabla.ir.graph import Graph, Linear, Statement
from tabla.templates.template import timing

NOT_YET_WRITTEN = timing().result - 1
"""An operation that issues so many cycles before a read, or fewer, writes its result after that read."""


def overwritten(graph: Graph, binary: frozenset[str], forward: Claims, distances: Distances) -> dict[int, int]:
    """Return the updates that come after a sum in the lanes, by statement, and the cycle in which they may begin.

    Only updates that take one operation a word count: copying a word then costs as much as updating it sooner saves.
    The cycles count from the word that `forward` starts from.
    """
    found: dict[int, int] = {}
    if distances.template.sequencers > 1:
        return found
    for model, following in graph.updates.items():
        updates = [s for s in graph.writers(following) if _one_each(s, binary) and _in_all_lanes(s, distances)]
        for reader, made in _readers(graph, model, forward, distances):
            reads = [read for read in reader.reads if read.tensor == model]
            for update in updates:
                if update != reader and all(found_where_made(reader, read, update, distances) for read in reads):
                    found[update.id] = max(made, found.get(update.id, 0))
    return found


def _in_all_lanes(update: Statement, distances: Distances) -> bool:
    """Return whether the lanes of all groups do equal parts of an update.

    Otherwise a group with a smaller part could copy words in slots in which the others update theirs.
    """
    roots, along = max(1, distances.template.roots), distances.along(update)
    even = along == UNDIVIDED or (along in update.box and update.box[along].extent % roots == 0)
    return distances.way(update) == "lane" and (roots == 1 or even)


def _one_each(update: Statement, binary: frozenset[str]) -> bool:
    """Return whether an update takes one operation a word."""
    operation = update.operation
    return isinstance(operation, Linear) and not update.reduced and len(issued_terms(operation, binary)) == 1


def _readers(graph: Graph, model: str, forward: Claims, distances: Distances) -> Iterator[tuple[Statement, int]]:
    """Yield the statements in the lanes that read all of a model in sums that all wait for the last word of a vector.

    With each goes the first cycle after that word has come.
    """
    for reader in graph.statements:
        if distances.way(reader) in ("lane", "tree") and reads_all(graph, reader, model, frozenset(), frozenset()):
            claimed = sources(reader, reader.reads, forward)
            pinned = largest(claimed.values())
            if pinned is not None:
                names = [name for name, each in claimed.items() if each == pinned]
                if last := last_in_sums(graph, reader, names, forward, pinned):
                    yield reader, distances.heard(reader, last[0], forward[last[0]].last).lane + 1
