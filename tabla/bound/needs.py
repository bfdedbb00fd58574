"""What a word depends on, in its sample and through models in the sample before: dependences backwards."""

from __future__ import annotations

from dataclasses import replace

from tabla.bound.claims import Claim, Claims, all_of, first_word, met, pinned_indices
from tabla.bound.distances import NOW, Distances, Times
from tabla.ir.graph import Graph


def needed(graph: Graph, tensor: str, distances: Distances, *, every: bool = False) -> Claims:
    """Return what the first word of a tensor depends on in its sample.

    With `every`, all words of the tensor are asked for, and times count to the last of them.
    """
    known = all_of([tensor]) if every else {tensor: first_word(graph, tensor)}
    return _gathered(graph, known, distances, NOW)


def needed_before(graph: Graph, own: Claims, distances: Distances, floor: Times) -> Claims:
    """Return what a word depends on in the sample before, through the models that are among its `own` dependences.

    No operand of the sample before is nearer to the word than `floor`, by the place of the operand.
    """
    before = {following: own[model].kept(distances) for model, following in graph.updates.items() if model in own}
    return _gathered(graph, before, distances, floor)


def _gathered(graph: Graph, known: Claims, distances: Distances, floor: Times) -> Claims:
    found = dict(known)
    for statement in reversed(graph.statements):
        if statement.target not in found:
            continue
        target = found[statement.target]
        pinned = pinned_indices(statement.write, target.pins, statement.box)
        if pinned is None:
            continue
        for read in statement.reads:
            pins = met(statement, read, pinned, graph)
            if pins is None:
                continue
            # The operations that take the word issue after it.
            issue = distances.issue(statement, read.tensor, pinned | read.names)
            here = Claim(pins=pins, times=distances.wanted(statement, read.tensor, target.times, floor, issue))
            before = found.get(read.tensor)
            if before is None or len(pins) < len(before.pins):
                found[read.tensor] = here
            elif pins == before.pins:
                found[read.tensor] = replace(here, times=here.times.later(before.times))
    return found
