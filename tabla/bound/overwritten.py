"""Updates of models that other statements read in the lanes: no word is overwritten while it is needed.

A model's word has one address, and a lane one sum in its accumulator. Where every sum that reads the model takes a
vector's last word, too, the update's operations come after the first of these sums, but for those whose results are
written when it has read the words. A word that is overwritten before has to be copied first, or moved to its place
afterwards: an operation of the lanes more.
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
"""The cycles before a read in which the operations issue that write no sooner than after it."""


def overwritten(graph: Graph, binary: frozenset[str], forward: Claims, distances: Distances) -> dict[int, int]:
    """Updates in the lanes, and when the first sum that reads their model there is made, as `forward` claims.

    Those that take one operation a word: of them no more are saved than are added.
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
    """Whether lanes of all groups do as much of an update: then a word copied costs as much as a word sooner saves."""
    roots, along = max(1, distances.template.roots), distances.along(update)
    even = along == UNDIVIDED or (along in update.box and update.box[along].extent % roots == 0)
    return distances.way(update) == "lane" and (roots == 1 or even)


def _one_each(update: Statement, binary: frozenset[str]) -> bool:
    """Whether an update takes one operation a word."""
    operation = update.operation
    return isinstance(operation, Linear) and not update.reduced and len(issued_terms(operation, binary)) == 1


def _readers(graph: Graph, model: str, forward: Claims, distances: Distances) -> Iterator[tuple[Statement, int]]:
    """Statements of the lanes that read all of a model in sums that all wait for one word, and when one has it."""
    for reader in graph.statements:
        if distances.way(reader) in ("lane", "tree") and reads_all(graph, reader, model, frozenset(), frozenset()):
            claimed = sources(reader, reader.reads, forward)
            pinned = largest(claimed.values())
            if pinned is not None:
                names = [name for name, each in claimed.items() if each == pinned]
                if last := last_in_sums(graph, reader, names, forward, pinned):
                    yield reader, distances.heard(reader, last[0], forward[last[0]].last).lane + 1
