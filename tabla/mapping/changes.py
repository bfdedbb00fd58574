"""Changes of a mapping that only an exact schedule can judge."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from tabla.ir.body import common_reduction
from tabla.ir.graph import Affine, Graph, Index, Linear, Read, Statement, Term
from tabla.mapping.effort import Effort
from tabla.mapping.fit import Fit, without_bus
from tabla.mapping.mapping import Mapping, operands_of_functions
from tabla.mapping.places import EVERY
from tabla.templates.template import timing

SHORT = 2
"""Vectors of so few words are not taken as they are made: the wires would cost more than the words."""


def changes(mapping: Mapping, effort: Effort) -> Iterator[Mapping]:
    """All of them, in an array of so many lanes; of equally good ones the first counts."""
    for change in _changes(mapping, effort):
        yield _broadcast(change)


def _changes(mapping: Mapping, effort: Effort) -> Iterator[Mapping]:
    yield from taken_early(mapping, effort)
    yield from taken_early_in_part(mapping, effort)
    yield from as_made(mapping, effort)
    yield from divided(mapping, effort)
    yield from in_turns(mapping, effort)
    yield from sums_in_turns(mapping, effort)
    yield from by_rows(mapping, effort)
    yield from in_waves(mapping, effort)


def taken_early(mapping: Mapping, effort: Effort) -> Iterator[Mapping]:
    """For each statement that a tensor comes to over the bus: the same with the tensor in every lane before."""
    graph = mapping.graph
    for number, fit in enumerate(mapping.fits):
        if fit.bus and graph.tensors[fit.bus].size > 1:
            yield _copied(_with_fit(mapping, number, without_bus(fit)), fit.bus)


def taken_early_in_part(mapping: Mapping, effort: Effort) -> Iterator[Mapping]:
    """For each statement in the lanes that a vector comes to over the bus: so many words with it in every lane before.

    The lanes write no more copies than these need, and begin sooner with results of their own. Any number of words may
    fill a gap: eighths are tried, then what is near.
    """
    for number, statement, fit in _in_lanes(mapping):
        reads = [read for read in statement.reads if read.tensor == fit.bus]
        if (fit.parts > 1 and not fit.early) or fit.as_made or len(reads) != 1:
            continue
        index = _only_index(reads[0])
        words = next((each.extent for each in statement.indices if each.name == index != fit.index), 1)
        wanted = {words * eighths // 8 for eighths in range(1, 8)}
        if fit.early:
            wanted = {fit.early + step for step in (-(words // 16), -1, 1, words // 16)}
        needs = tuple(sorted({*fit.needs, (fit.bus, EVERY)}))
        parts = max(2, fit.parts)
        for early in sorted(wanted - {fit.early}):
            if 0 < early <= words - parts + 1:
                yield _copied(_with_fit(mapping, number, replace(fit, needs=needs, parts=parts, early=early)), fit.bus)


def as_made(mapping: Mapping, effort: Effort) -> Iterator[Mapping]:
    """For each statement in the lanes that a vector comes to over the bus: the same as the root makes the vector.

    The root has no broadcast to do, and the lanes do not wait for the last word. Of a short one that is too little for
    the wires from the root's result to all multipliers.
    """
    graph = mapping.graph
    for number, _, fit in _in_lanes(mapping):
        if fit.bus and graph.tensors[fit.bus].size > SHORT and fit.parts == 1 and not fit.as_made:
            change = _with_fit(mapping, number, replace(fit, as_made=True))
            if _broadcast(change) == change:
                yield change


def _broadcast(mapping: Mapping) -> Mapping:
    """The mapping with a broadcast for each vector that lanes cannot take as the root makes it."""
    graph = mapping.graph
    fits, taken = list(mapping.fits), set[str]()
    for number, fit in enumerate(fits):
        if fit.as_made and (fit.bus in taken or not _can_be_heard(mapping, graph.statements[number], fit)):
            fits[number] = replace(fit, as_made=False)
        elif fit.as_made:
            taken.add(fit.bus)
    return replace(mapping, fits=tuple(fits))


def _can_be_heard(mapping: Mapping, statement: Statement, fit: Fit) -> bool:
    """Whether one strand of the root makes all words that a statement takes over the bus, in the order of its index."""
    graph = mapping.graph
    (read,) = (read for read in statement.reads if read.tensor == fit.bus)
    along = [index for index in statement.indices if index.name == _only_index(read)]
    makers = list(graph.writers(fit.bus))
    if fit.parts > 1 or len(makers) != 1 or not along:
        return False
    maker, made = makers[0], mapping.fits[makers[0].id]
    in_one_strand = made.way == "root" and made.parts == 1 and common_reduction(maker) and not maker.constraints
    in_step = len(maker.indices) == 1 and maker.indices[0].extent == along[0].extent
    shown = {graph.statements[number].target for number, each in enumerate(mapping.fits) if each.through}
    # Who reads the vector before the update would wait for the update, too.
    between = graph.statements[maker.id + 1 : statement.id]
    return (
        isinstance(maker.operation, Linear)
        and in_one_strand
        and in_step
        and _same_words(read.subscripts, along[0], maker)
        and not made.through
        and not shown.intersection(maker.sources)
        and not any(fit.bus in each.sources for each in between)
    )


def sums_in_turns(mapping: Mapping, effort: Effort) -> Iterator[Mapping]:
    """For each short vector of sums at the root or up the tree: each of its words in a strand of its own.

    So each can be taken on, from register to register, while the next is summed.
    """
    graph = mapping.graph
    functions = operands_of_functions(graph)
    for number, (statement, fit) in enumerate(zip(graph.statements, mapping.fits, strict=True)):
        if statement.target in functions or statement.constraints or fit.parts > 1 or len(statement.indices) != 1:
            continue
        if (fit.way == "tree" or _sums(statement, fit)) and 1 < statement.indices[0].extent <= effort.most_turns:
            yield _with_fit(mapping, number, replace(fit, parts=statement.indices[0].extent))


def _only_index(read: Read) -> str:
    """The index along which a vector is read upwards; empty if it is none, or read otherwise."""
    if len(read.subscripts) != 1 or len(read.subscripts[0].names) != 1:
        return ""
    (name,) = read.subscripts[0].names
    return name if read.subscripts[0].coefficient(name) > 0 else ""


def by_rows(mapping: Mapping, effort: Effort) -> Iterator[Mapping]:
    """For each statement in the lanes with several outputs a lane, and for all of them: one row of lanes after another.

    So the words of the first row can be made, or used, before the last row's are there. What runs side by side is no
    faster unless all of it is.
    """
    everywhere, changed = mapping, 0
    for number, statement, fit in _in_lanes(mapping):
        if not (fit.bus or fit.rows_first or fit.parts > 1) and len(statement.indices) > 1:
            rows = replace(fit, rows_first=True)
            everywhere, changed = _with_fit(everywhere, number, rows), changed + 1
            yield _with_fit(mapping, number, rows)
    if changed > 1:
        yield everywhere


def in_waves(mapping: Mapping, effort: Effort) -> Iterator[Mapping]:
    """All statements of the lanes in parts of rows, each part through all of them before the last part begins.

    So what waits for a part's words finds the lanes busy with other parts.
    """
    if mapping.waves:
        return
    for parts in effort.parts:
        changed = mapping
        for number, statement, fit in _in_lanes(mapping):
            if not fit.bus and (fit.parts == 1 or fit.rows_first):
                rows = -(-statement.box[fit.index].extent // (fit.span.lanes or mapping.template.lanes))
                if rows >= parts:
                    changed = _with_fit(changed, number, replace(fit, parts=parts, rows_first=True))
        if changed != mapping:
            yield replace(changed, waves=True)


def at_hand(mapping: Mapping) -> Mapping:
    """The mapping with what samples bring in every lane that reads it, where it came over the bus."""
    graph = mapping.graph
    streamed = {t.name for t in graph.tensors.values() if t.role in ("input", "label")}
    fits, copies = [], set(mapping.copies)
    for fit in mapping.fits:
        if fit.bus in streamed:
            copies.add((fit.bus, EVERY))
            fit = without_bus(fit)
        fits.append(fit)
    wanted = {need for fit in fits for need in fit.needs}
    kept = {copy for copy in copies if copy in wanted or copy[0] not in streamed}
    return replace(mapping, fits=tuple(fits), copies=tuple(sorted(kept)))


def divided(mapping: Mapping, effort: Effort) -> Iterator[Mapping]:
    """For each update in the lanes: the same in more parts."""
    graph = mapping.graph
    following = set(graph.updates.values())
    for number, (statement, fit) in enumerate(zip(graph.statements, mapping.fits, strict=True)):
        if statement.target not in following or fit.way != "lane" or fit.rows_first or fit.as_made:
            continue
        least = min((i.extent for i in statement.indices if i.name != fit.index), default=0)
        for parts in effort.parts:
            if fit.parts < parts <= least - fit.early:
                yield _with_fit(mapping, number, replace(fit, parts=parts))


def undivided(mapping: Mapping, effort: Effort) -> Iterator[Mapping]:
    """For each update in parts: in one, when other changes have made the parts needless."""
    graph = mapping.graph
    following = set(graph.updates.values())
    for number, (statement, fit) in enumerate(zip(graph.statements, mapping.fits, strict=True)):
        if statement.target in following and fit.way == "lane" and fit.parts > 1 and not fit.early:
            yield _with_fit(mapping, number, replace(fit, parts=1))


def _in_lanes(mapping: Mapping) -> Iterator[tuple[int, Statement, Fit]]:
    """The statements whose results arise in lanes, with nothing that ties their indices."""
    graph = mapping.graph
    for number, (statement, fit) in enumerate(zip(graph.statements, mapping.fits, strict=True)):
        if fit.way == "lane" and not statement.constraints:
            yield number, statement, fit


def _with_fit(mapping: Mapping, number: int, fit: Fit) -> Mapping:
    return replace(mapping, fits=(*mapping.fits[:number], fit, *mapping.fits[number + 1 :]))


def _copied(mapping: Mapping, tensor: str) -> Mapping:
    """The same with a copy of a tensor in every lane."""
    return replace(mapping, copies=tuple(sorted({*mapping.copies, (tensor, EVERY)})))


def in_turns(mapping: Mapping, effort: Effort) -> Iterator[Mapping]:
    """For each chain of vectors at the root: its words in groups, each group through the whole chain in turn.

    What is made on the way shows in the root's result register just when the next statement wants it, and is written
    nowhere. A root makes as many words without a pause as it takes cycles from an operand to the result that shows. A
    chain may begin with sums: the next sum begins while the one before is on its way.
    """
    graph = mapping.graph
    for chain in _chains(mapping):
        yield from _grouped(mapping, effort, chain)
        if graph.statements[chain[0]].reduced and len(chain) > 2:
            yield from _grouped(mapping, effort, chain[1:])


def _grouped(mapping: Mapping, effort: Effort, chain: list[int]) -> Iterator[Mapping]:
    """A chain with its words in groups of all sizes that leave the root's slots to one statement at a time."""
    graph = mapping.graph
    first = graph.statements[chain[0]]
    extent, slots = first.indices[0].extent, math.prod(index.extent for index in first.reduced)
    most = 1 + (timing().result - timing().operand - 1) // slots
    between = {graph.statements[number].target for number in chain[:-1]}
    homes = {tensor: spot for tensor, spot in mapping.homes.items() if tensor not in between}
    for parts in sorted({-(-extent // words) for words in range(1, most + 1)}):
        if parts > effort.most_turns:
            break
        fits = list(mapping.fits)
        for number in chain:
            fits[number] = replace(fits[number], parts=parts, through=number != chain[-1])
        yield replace(mapping, fits=tuple(fits), homes=homes)


def _chains(mapping: Mapping) -> list[list[int]]:
    """Longest runs of two or more statements at the root, each the only one that reads what the one before makes."""
    graph = mapping.graph
    readers: dict[str, list[Statement]] = {}
    for statement in graph.statements:
        for tensor in statement.sources:
            readers.setdefault(tensor, []).append(statement)
    functions = operands_of_functions(graph)
    kept = {tensor for tensor, _ in mapping.copies} | {tensor for _, tensor in graph.results}
    kept |= {*graph.updates, *graph.updates.values()} | functions
    written = Counter(statement.target for statement in graph.statements)
    kept |= {tensor for tensor, times in written.items() if times > 1}
    passed = {s.target for s, fit in zip(graph.statements, mapping.fits, strict=True) if fit.through}
    following: dict[int, int] = {}
    for statement, fit in zip(graph.statements, mapping.fits, strict=True):
        users = readers.get(statement.target, [])
        if statement.target in kept or len(users) != 1 or fit.parts > 1:
            continue
        if not (_one_slot(statement, fit) or _sums(statement, fit)):
            continue
        after = users[0]
        if after.target in functions or passed.intersection([*after.sources, after.target]):
            continue
        if not _one_slot(after, mapping.fits[after.id]):
            continue
        if _in_step(statement, after):
            following[statement.id] = after.id
    chains = []
    for first in following:
        if first not in following.values():
            chain = [first]
            while chain[-1] in following:
                chain.append(following[chain[-1]])
            if _overtakes(graph, chain):
                chain.pop()
            if len(chain) > 1:
                chains.append(chain)
    return chains


def _overtakes(graph: Graph, chain: list[int]) -> bool:
    """Whether a chain ends with an update of a model of which it reads other words on its way.

    Other updates of that model would have to wait for these reads, but come before the chain's own.
    """
    last = graph.statements[chain[-1]]
    model = next((model for model, following in graph.updates.items() if following == last.target), "")
    reads = [(number, read) for number in chain[:-1] for read in graph.statements[number].reads if read.tensor == model]
    return not all(_same_words(read.subscripts, graph.statements[number].indices[0], last) for number, read in reads)


def _one_slot(statement: Statement, fit: Fit) -> bool:
    """Whether a statement is a vector at the root that takes one operation a word: a product, an addend, or both."""
    terms = _terms(statement, fit)
    added = len(terms) == 2 and any(len(t.factors) == 1 and t.sign > 0 for t in terms)
    return not statement.reduced and (len(terms) == 1 or added)


def _sums(statement: Statement, fit: Fit) -> bool:
    """Whether a statement is a vector of sums at the root that take one operation a term."""
    return len(_terms(statement, fit)) == 1 and bool(statement.reduced) and not statement.crosses


def _terms(statement: Statement, fit: Fit) -> tuple[Term, ...]:
    """The terms of a vector at the root; none if it is no vector, or tests its result, or ties its indices."""
    if fit.way != "root" or len(statement.indices) != 1 or statement.constraints:
        return ()
    operation = statement.operation
    return operation.terms if isinstance(operation, Linear) and operation.test is None else ()


def _in_step(before: Statement, after: Statement) -> bool:
    """Whether one reads, in the order of its index, what the other writes in the order of its own."""
    (wrote,), (index,) = before.indices, after.indices
    reads = [read for read in after.reads if read.tensor == before.target]
    return wrote.extent == index.extent and all(_same_words(read.subscripts, index, before) for read in reads)


def _same_words(subscripts: Sequence[Affine], index: Index, writer: Statement) -> bool:
    """Whether subscripts go along an index through the words that a writer writes, in step."""
    (wrote,) = writer.indices
    for mine, theirs in zip(subscripts, writer.write, strict=True):
        here = mine.constant + mine.coefficient(index.name) * index.low
        there = theirs.constant + theirs.coefficient(wrote.name) * wrote.low
        if (here, mine.coefficient(index.name)) != (there, theirs.coefficient(wrote.name)):
            return False
    return True
