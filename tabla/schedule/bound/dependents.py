"""What depends on a word, in its sample and through models in the next, and when it can be there.

The first word that a statement makes waits for the first word that it takes. The last word waits for the last word
that the statement takes, and for the issue of all operations between. Where every output sums over a whole vector, all
outputs wait for the last word of the vector. That is how the layers of a network wait for each other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce

from tabla.graph.accesses import is_written_whole
from tabla.graph.graph import Graph, Linear, Statement
from tabla.schedule.bound.claims import (
    Claim,
    Claims,
    Reach,
    first_word,
    in_every_sum,
    largest,
    plain,
    reads_all,
    sources,
)
from tabla.schedule.bound.distances import NOW, Distances, Times
from tabla.schedule.bound.latencies import Pinned
from tabla.schedule.bound.products import per_group, root_slots
from tabla.schedule.bound.trains import Train


def dependent(graph: Graph, tensor: str, distances: Distances) -> Reach:
    """Return what depends on the first word of `tensor`: in its sample, and through models in the next."""
    own = _spread(graph, {tensor: first_word(graph, tensor)}, distances)
    models = {
        model: own[following].kept(distances)
        for model, following in graph.updates.items()
        if following in own and is_written_whole(graph, following)
    }
    return Reach(own=own, other=_spread(graph, models, distances))


def _spread(graph: Graph, known: Claims, distances: Distances) -> Claims:
    found = dict(known)
    for name in dict.fromkeys(s.target for s in graph.statements):
        if name in known:
            continue
        made: list[Claim] = []
        for statement in graph.writers(name):
            claim = written(graph, statement, found, distances)
            if claim is None:
                break
            made.append(claim)
        else:
            found[name] = made[0] if len(made) == 1 else _together(made)
    return found


def _together(made: Sequence[Claim]) -> Claim:
    """Join what several statements write of one tensor: the quickest of them counts."""
    return Claim(
        pins=frozenset[int]().union(*(each.pins for each in made)),
        times=reduce(Times.sooner, (each.times for each in made)),
        last=reduce(Times.sooner, (each.last for each in made)),
    )


def written(graph: Graph, statement: Statement, claims: Claims, distances: Distances) -> Claim | None:
    """Return what a statement makes of what is claimed; None if the claims cannot express it."""
    read = sources(statement, statement.reads, claims)
    pinned = largest(read.values())
    if pinned is None:
        return None
    axes = [axis for axis, subscript in enumerate(statement.write) if pinned.intersection(subscript.names)]
    if not all(plain(statement.write[axis], statement.box) for axis in axes):
        return None
    operands = {name: claims[name] for name, each in read.items() if each == pinned}
    arrival = {name: distances.arrival(statement, name, claim.times) for name, claim in operands.items()}
    times, last, train = distances.made(statement, arrival, pinned), NOW, Train()
    one = frozenset(index.name for index in statement.reduced)
    for name, claim in operands.items():
        issue = distances.issue(statement, name, pinned)
        last = last.later(distances.made(statement, {name: arrival[name]}, one, issue))
        if reads_all(graph, statement, name, claim.pins, pinned):
            train = train.joined(claim.train)
            words = claim.words(graph, name)
            behind = {name: distances.arrival_of_last(statement, name, claim.times, claim.last, words)}
            last = last.later(distances.made(statement, behind, one))
            if summed := in_every_sum(statement, name):
                # No sum is done before the last word is there, and a unit finishes a sum before it begins another.
                latest = distances.arrival(statement, name, claim.last)
                times = times.later(distances.made(statement, {name: latest}, one))
                issue = distances.issue(statement, name, pinned | summed)
                last = last.later(distances.made(statement, behind, one, issue))
    train, end = _issued(statement, operands, times, train, pinned, distances)
    return Claim(pins=frozenset(axes), times=times, last=last.later(times).later(end), train=train)


def _issued(
    statement: Statement, operands: Claims, times: Times, train: Train, pinned: Pinned, distances: Distances
) -> tuple[Train, Times]:
    """Return the work that units have issued when the last claimed word is made, and when that word can be there.

    `times` says when the first word can be there. Of several operands the one whose operations take longest counts.
    """
    choice, operation = distances.choice(statement), distances.operation
    if choice is None or not isinstance(statement.operation, Linear):
        return train, NOW
    issues = {name: distances.issue(statement, name, pinned) for name in operands}
    name = max(issues, key=lambda name: issues[name])
    issue, share = issues[name], distances.share(statement, name, pinned)
    arrival = distances.arrival(statement, name, operands[name].times)
    # A sum begins with its first term, before its last operand is there; a word that is only added comes late.
    first = Times(times.root - operation, times.lane - operation)
    if statement.reduced:
        first = first.sooner(arrival)
    match choice.way:
        case "root":
            train = train.with_issue(statement.id, "root", first.root, share)
            return train, Times(max(train.end("root"), first.root + issue) + operation, 0)
        case "lane" if distances.template.sequencers <= 1:
            train = train.with_issue(statement.id, "lane", first.lane, share)
            return train, Times(0, max(train.end("lane"), first.lane + issue) + operation)
        case "tree":
            template, along = distances.template, distances.along(statement)
            outs = {index.name: index.extent for index in statement.indices if index.name not in pinned}
            names = [index.name for index in statement.indices]
            sums = per_group(outs, max(1, template.roots), along)
            takes = root_slots(math.prod(outs.values()), names, template.roots, along) // max(1, template.roots)
            first = Times(times.root - operation, arrival.lane)
            train = train.with_issue(statement.id, "root", first.root, takes)
            end = max(train.end("root"), first.root + sums - 1)
            if issue and template.sequencers <= 1:
                train = train.with_issue(statement.id, "lane", first.lane, share)
                end = max(end, max(train.end("lane"), first.lane + issue) + distances.up)
            return train, Times(end + operation, 0)
    return train, NOW
