"""The plain path: the fewest cycles from the first word of a sample to its last result, for any schedule.

A sample begins when all of its words have come. From then on each statement waits for the words that it reads, for the
issue of its own operations, and for the latencies of the machine (:mod:`tabla.schedule.bound.dependents`). Results
leave one beat a cycle. So the plain path is made of the beats in, the path from statement to statement, and the way
out.

The ways of the statements are those with which the path is shortest. They are found by branch and bound: repeatedly
the open subproblem with the shortest path is split by fixing the way of one more statement.
"""

from __future__ import annotations

from dataclasses import replace
from heapq import heappop, heappush

from tabla.graph.format import Format
from tabla.graph.graph import Divide, Function, Graph, Linear
from tabla.graph.independent import independent
from tabla.schedule.bound import stream
from tabla.schedule.bound.best_choice import MOST_CHOICES
from tabla.schedule.bound.circuits import ways
from tabla.schedule.bound.claims import Claim, Claims
from tabla.schedule.bound.dependents import written
from tabla.schedule.bound.distances import NEVER, Distances, Times
from tabla.schedule.bound.latencies import Latencies
from tabla.schedule.bound.scatters import without_scatters
from tabla.templates.template import Template, timing


def plain_path(graph: Graph, template: Template, format: Format) -> int | None:
    """Return the fewest cycles from the first beat of a sample to its last update, or to its last word out.

    It counts as the latency of a schedule does: to the last update if there is one. The array has the roots of
    `template`; a number that is left open (0) counts as one. The result is None for a program with constraints, in
    which elements may depend on nothing, for one that learns named rows, and where several statements write one tensor.
    """
    targets = [statement.target for statement in graph.statements]
    filled = any(tensor.filled for tensor in graph.tensors.values())
    if filled or any(s.constraints for s in graph.statements) or len(set(targets)) < len(targets):
        return None
    if without_scatters(graph) is not graph:
        return None
    laws, beats = timing(), stream.beats(graph, template, format)
    finish = laws.operand + _shortest(graph, Distances.anyhow(Latencies(template, format), graph))
    finish += 0 if graph.updates else laws.broadcast
    return (beats - 1 + laws.ready if beats else 0) + laws.front + finish + 1


def _shortest(graph: Graph, distances: Distances) -> int:
    """Return the cycles from the operands of a sample to its last update, or to its last word at the port."""
    free = [statement for statement in graph.statements if isinstance(statement.operation, Linear)]
    most = MOST_CHOICES // (1 + len(free))
    # Of equal parts the one with most ways chosen comes first, and then the oldest.
    parts = [(_finish(graph, distances), 0, 0, distances)]
    number = 0
    while True:
        cycles, chosen, _, distances = heappop(parts)
        if -chosen == len(free) or number > most:
            return cycles
        for choice in ways(free[-chosen]):
            number += 1
            part = distances.with_choice(free[-chosen], choice)
            heappush(parts, (_finish(graph, part), chosen - 1, number, part))


def _finish(graph: Graph, distances: Distances) -> int:
    """Return the same with the ways that are chosen."""
    found = _claimed(graph, distances)
    if graph.updates:
        return max((found[name].last.least for name in graph.updates.values() if name in found), default=0)
    made = [found[tensor] for _, tensor in graph.results if tensor in found]
    # A word of a lane goes up the tree on its way out.
    first = min((min(claim.times.root, claim.times.lane + distances.up) for claim in made), default=NEVER)
    last = max((min(claim.last.root, claim.last.lane + distances.up) for claim in made), default=0)
    return max(last, first + stream.beats_out(graph, distances.template) - 1) if first < NEVER else last


def _claimed(graph: Graph, distances: Distances) -> Claims:
    """Return when the words of each tensor can be there, counted from the first operands of the sample."""
    # What a sample finds in the memories is an operand at the root or in the lanes in the same cycle.
    begin = Times(0, -distances.memory)
    ready = Claim(pins=frozenset(), times=begin, last=begin)
    found = {tensor.name: ready for tensor in graph.tensors.values() if tensor.role in ("input", "label", "model")}
    before, roots = independent(graph), max(1, distances.template.roots)
    for statement in graph.statements:
        claim = ready if statement.id in before else written(graph, statement, found, distances)
        if claim is None:
            continue
        if isinstance(statement.operation, Function | Divide):
            # A root issues an operation a cycle.
            words = claim.words(graph, statement.target)
            behind = claim.times.after(-(-words // roots) - 1)
            claim = replace(claim, last=claim.last.later(behind))
        found[statement.target] = claim
    return found
