"""Circuits of dependences through a model, from one sample to the next, with the work that lies on them.

Let u be a word of one sample and v a word of the next. Every operation that depends on u, and on which v depends,
issues between the two. So a circuit takes at least the latencies from v to u, the issue of these operations on all
lanes and roots, and the latency of the last of them. Parts of the work may be far from u or from v, and then bound the
circuit alone (:mod:`tabla.schedule.bound.windows`). What is far depends on the ways of statements
(:mod:`tabla.schedule.bound.distances`).

The words are the first elements of their tensors, or the last of whole vectors. Dependences are sets of elements that
are kept symbolically (:mod:`tabla.schedule.bound.claims`).

Dependences are followed backwards: what a word depends on, in its sample and through models in the sample before. A
model's word is not overwritten while a statement in the lanes still needs its old value.

A model's word has one address, and a lane holds one sum in its accumulator. Suppose that every sum that reads the
model also waits for the last word of some vector. Then the first of these sums ends after that word has come, and
the update's operations come after that sum, except for the few whose results are written after the sum has read. A
word that is overwritten sooner has to be copied before, or moved to its place afterwards. Either takes one operation
of the lanes more.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import reduce

from tabla.graph.graph import Graph, Linear, Read, Statement
from tabla.graph.independent import independent
from tabla.graph.work import multiplied
from tabla.schedule.bound.choice import EVERYWHERE, UNDIVIDED, Choice
from tabla.schedule.bound.claims import (
    Claim,
    Claims,
    Reach,
    all_of,
    first_word,
    largest,
    last_in_sums,
    met,
    pinned_indices,
    reads_all,
    sources,
)
from tabla.schedule.bound.dependents import dependent
from tabla.schedule.bound.distances import NEVER, NOW, Distances, Times
from tabla.schedule.bound.products import issued_terms, points
from tabla.schedule.bound.sent import found_where_made, moved, taken
from tabla.schedule.bound.windows import Work, behind, issued, longest
from tabla.templates.template import Template, timing

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
                    yield reader, distances.arrival(reader, last[0], forward[last[0]].last).lane + 1


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


ANY_TIME: Mapping[int, int] = {}
MOST_WORDS = 16
MOST_STATEMENTS = 64
"""Circuits are looked for through so many words, with work in so many statements, the heaviest. What is left out makes
the bound no larger. Without these limits the time would grow with the third power of the program's length."""
MOST_DIVIDED = 12
"""For so many statements, the heaviest, a way is chosen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Circuits:
    """The circuits of a graph on a template: from words of `first` to words of `last`, with work in `statements`."""

    graph: Graph
    binary: frozenset[str]
    template: Template
    statements: tuple[Statement, ...]
    first: tuple[str, ...]
    last: tuple[str, ...]

    @staticmethod
    def of(graph: Graph, binary: frozenset[str], template: Template) -> Circuits:
        """Return the circuits with the most work."""
        heavy = _heavy(graph, binary)
        following = set(graph.updates.values())
        made = {statement.target for statement in graph.statements}
        return Circuits(
            graph=graph,
            binary=binary,
            template=template,
            statements=tuple(heavy[:MOST_STATEMENTS]),
            first=_most(name for s in heavy for name in s.sources if name in made - following),
            last=_most(s.target for s in heavy if s.target not in following),
        )

    def longest_pair(self, distances: Distances) -> tuple[int, tuple[str, ...]]:
        """Return the cycles of the longest circuit through two words, and these; 0 and no words if there is none."""
        found, words = 0, tuple[str, ...]()
        reach = {u: dependent(self.graph, u, distances) for u in self.first}
        before = {v: self._needed(v, distances) for v in self.last}
        chains = {v: dependent(self.graph, v, distances).own for v in self.last}
        for u, after in reach.items():
            for v in self.last:
                if v in after.other and u in chains[v]:
                    work = self._between(u, after, *before[v], distances)
                    cycles = chains[v][u].times.least + longest(*work, self.template)
                    if cycles > found:
                        found, words = cycles, (u, v)
        return found, words

    def through(self, u: str, distances: Distances, units: Times) -> int:
        """Return the cycles from the last word of a vector to the last word of the next sample's vector.

        It is 0 if the two do not depend on each other. `units` holds the cycles that roots and lanes issue a sample.
        """
        if u not in (after := dependent(self.graph, u, distances)).other:
            return 0
        needs = self._needed(u, distances, every=True)
        found = longest(*self._between(u, after, *needs, distances), self.template)
        if least := overwritten(self.graph, self.binary, after.own, distances):
            # A word that is overwritten sooner takes one operation more, so that e cycles saved are e cycles added.
            later = longest(*self._between(u, after, *needs, distances, least), self.template) - NOT_YET_WRITTEN
            found = max(found, -(-(later + units.lane) // 2))
        return max(after.other[u].last.least, found)

    def between(self, u: str, v: str, distances: Distances) -> list[Statement]:
        """Return the statements around the circuit from u through a model to v, and from v to u."""
        after, before = dependent(self.graph, u, distances), self._needed(v, distances)[0]
        back = dependent(self.graph, v, distances).own.keys() & needed(self.graph, u, distances).keys()
        here, following = after.own.keys() & before.other.keys(), after.other.keys() & before.own.keys()
        return [s for s in self.graph.statements if s.target in back | here | following]

    def issued(self, distances: Distances) -> Times:
        """Return the cycles in which roots and lanes issue operations of a sample, as far as ways are chosen."""
        every = all_of(self.graph.tensors)
        units = issued(self._work(every, every, distances), self.template)
        return Times(units.root, units.lane + distances.groups.carried)

    def choices(self, distances: Distances) -> Iterator[Distances] | None:
        """Return all ways to make one more choice; None if nothing is left to choose.

        The ways of statements that read models come first, because most of the work is theirs. Then come the layouts
        of models in groups, and then the ways of the other statements.
        """
        models = self.graph.updates.keys()
        still = [s for s in self.statements[:MOST_DIVIDED] if s.id not in distances.choices]
        first = [s for s in still if models & s.sources]
        if not first and (groups := distances.groups.choices()) is not None:
            return (distances.with_groups(each) for each in groups)
        if heaviest := (first or still)[:1]:
            return (distances.with_choice(heaviest[0], choice) for choice in ways(heaviest[0]))
        return None

    def _work(
        self,
        forward: Claims,
        backward: Claims,
        distances: Distances,
        floor: Times = NOW,
        least: Mapping[int, int] = ANY_TIME,
    ) -> list[Work]:
        """Return the work of a sample that depends on what `forward` claims and that `backward` needs, moves included.

        No operand is nearer to the end than `floor`. In lanes no statement begins before its `least` cycle.
        """
        operations = self._operations(forward, backward, distances, floor, least)
        return operations + moved(self.graph, forward, backward, distances)

    def _operations(
        self, forward: Claims, backward: Claims, distances: Distances, floor: Times, least: Mapping[int, int]
    ) -> list[Work]:
        """Return the same work without moves."""
        found = []
        for s in self.statements:
            if s.id not in least:
                found += _shared(self.graph, s, forward, backward, distances, self.binary, floor)
                continue
            after = Times(0, least[s.id])
            for work in _shared(self.graph, s, all_of(s.sources), backward, distances, self.binary, floor):
                found.append(replace(work, head=work.head.later(after)))
        return found

    def _needed(self, v: str, distances: Distances, *, every: bool = False) -> tuple[Reach, Times]:
        """Return what v depends on, and the fewest cycles from an operation of the sample before to v.

        A unit does all operations of a sample before those of the next, among them all on which v depends.
        """
        own = needed(self.graph, v, distances, every=every)
        floor = NOW
        if self.template.sequencers <= 1:
            tensors = all_of(self.graph.tensors)
            # Words of models may move in the sample that makes them, which is not the one that reads them.
            moves = moved(self.graph, all_of(tensors.keys() - self.graph.updates.keys()), own, distances)
            work = self._operations(tensors, own, distances, NOW, ANY_TIME) + moves
            floor = behind(work, self.template)
        return Reach(own=own, other=needed_before(self.graph, own, distances, floor)), floor

    def _between(
        self,
        u: str,
        after: Reach,
        before: Reach,
        floor: Times,
        distances: Distances,
        least: Mapping[int, int] = ANY_TIME,
    ) -> tuple[list[Work], list[Work]]:
        """Return the work that depends on u and on which v depends: in the sample of u, and in the sample of v."""
        # The statement that makes u comes before u.
        others = {tensor: claim for tensor, claim in before.other.items() if tensor != u}
        beside = all_of(after.own.keys() - others.keys() - {u})
        here = self._work(after.own, others, distances, floor, least)
        here += self._in_the_way(after.own, beside, distances, floor, least)
        return here, self._work(after.other, before.own, distances)

    def _in_the_way(
        self, forward: Claims, beside: Claims, distances: Distances, floor: Times, least: Mapping[int, int]
    ) -> list[Work]:
        """Return the work of u's sample on which v does not depend, but which its unit does before v's sample.

        It is as far from v as the unit's work of v's sample takes.
        """
        work = [replace(w, multiplies=0) for w in self._operations(forward, beside, distances, floor, least)]
        near = distances.operation + distances.up
        roots = [w for w in work if w.way.lane >= NEVER and floor.root >= near]
        lanes = [w for w in work if w.way.root >= NEVER and floor.lane >= near]
        return roots + lanes


def ways(statement: Statement) -> list[Choice]:
    """Return all ways that a statement may have."""
    outs = {index.name for index in statement.indices}
    lanes = [Choice("lane", index.name) for index in statement.indices]
    trees = [Choice("tree", index.name) for index in statement.reduced if index.name not in outs]
    return [Choice("root"), *lanes, *trees, EVERYWHERE]


def _heavy(graph: Graph, binary: frozenset[str]) -> list[Statement]:
    """Return the statements that multiply or add for a sample, those with most operations first.

    What depends on indices alone is known before any sample comes.
    """
    found, before = [], independent(graph)
    for statement in graph.statements:
        operation = statement.operation
        if isinstance(operation, Linear) and statement.id not in before:
            box = [index.extent for index in (*statement.indices, *statement.reduced)]
            found.append((statement, len(issued_terms(operation, binary)) * math.prod(box)))
    return [statement for statement, _ in sorted(found, key=lambda pair: -pair[1])]


def _most(names: Iterable[str]) -> tuple[str, ...]:
    """Return the first so many of these names, each once."""
    return tuple(dict.fromkeys(names))[:MOST_WORDS]


# ---- along the circuit


def _last_heard(graph: Graph, statement: Statement, name: str, claim: Claim, distances: Distances) -> Times:
    return distances.arrival_of_last(statement, name, claim.times, claim.last, claim.words(graph, name))


def _shared(
    graph: Graph,
    statement: Statement,
    forward: Claims,
    backward: Claims,
    distances: Distances,
    binary: frozenset[str],
    floor: Times,
) -> list[Work]:
    """Return a statement's operations by term: those on what `forward` claims that make what `backward` claims."""
    if statement.target not in backward or not isinstance(statement.operation, Linear):
        return []
    target = backward[statement.target]
    after = pinned_indices(statement.write, target.pins, statement.box)
    if after is None:
        return []
    choice, found, aside = distances.choice(statement), list[Work](), distances.groups.aside(statement)
    for term in issued_terms(statement.operation, binary):
        claimed = sources(statement, (factor for factor in term.factors if isinstance(factor, Read)), forward)
        before = largest(claimed.values())
        if before is None:
            continue
        names = [name for name, pinned in claimed.items() if pinned == before]
        arrival = (distances.arrival(statement, name, forward[name].times) for name in names)
        head = distances.issued(term, reduce(Times.later, arrival))
        tail = distances.multiplied(statement, term, target.times, floor)
        slots = distances.slots_of(statement, term, before | after)
        if choice is not None and (last := last_in_sums(graph, statement, names, forward, before)):
            # Sums that take all words of a vector wait for its last word, except for those that have begun before.
            name, summed = last
            late = distances.slots_of(statement, term, before | after | summed)
            behind = head.later(_last_heard(graph, statement, name, forward[name], distances))
            found.append(Work(multiplies=0, slots=late, head=behind, tail=tail, aside=aside))
            slots -= late
        multiplies = points(statement, term, before | after) if multiplied(statement.operation, binary) else 0
        found.append(Work(multiplies=multiplies, slots=slots, head=head, tail=tail, aside=aside))
        if choice is not None and choice.way == "tree" and term.reduce:
            words = math.prod(index.extent for index in statement.indices if index.name not in before | after)
            slot = head.lane + distances.up_the_tree(statement, term)
            found.append(taken(words, statement, slot, target.times.root, distances))
    return found
