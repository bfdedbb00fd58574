"""Changes of a mapping that only an exact schedule can judge.

Each function yields mappings that differ from a given one in one respect. :mod:`tabla.schedule.mapping.improve`
schedules them and goes on from the best.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from tabla.graph.body import common_reduction
from tabla.graph.graph import Affine, Graph, Index, Linear, Read, Statement, Term
from tabla.schedule.mapping.effort import Effort
from tabla.schedule.mapping.fit import Fit, read_from_bus, without_bus
from tabla.schedule.mapping.kept import keeping
from tabla.schedule.mapping.mapping import Mapping, operands_of_functions
from tabla.schedule.mapping.places import EVERY
from tabla.templates.template import timing

SHORT = 2
"""Vectors of so few words are not taken as they are made: the wires would cost more than the cycles are worth."""


def changes(mapping: Mapping, effort: Effort) -> Iterator[Mapping]:
    """Yield all changes of a mapping. The order matters: of several equally good mappings the first counts."""
    for _, change in named_changes(mapping, effort):
        yield change


def named_changes(mapping: Mapping, effort: Effort) -> Iterator[tuple[str, Mapping]]:
    """Yield all changes of a mapping, each with the name of the function that makes it."""
    for kind in kinds():
        for change in kind(mapping, effort):
            yield kind.__name__, _broadcast(change)


def kinds() -> tuple[Callable[[Mapping, Effort], Iterator[Mapping]], ...]:
    """Return the functions that change a mapping, in the order in which their changes are tried."""
    return (
        taken_early,
        taken_early_in_part,
        as_made,
        divided,
        in_turns,
        sums_in_turns,
        by_rows,
        in_waves,
        keeping,
    )


def taken_early(mapping: Mapping, effort: Effort) -> Iterator[Mapping]:
    """Yield, for each statement that takes a tensor over the bus, the mapping with a copy of it in every lane instead.

    The lanes then write each word as the root makes it, and need no broadcast just in time.
    """
    graph = mapping.graph
    for number, fit in enumerate(mapping.fits):
        if fit.bus and graph.tensors[fit.bus].size > 1:
            yield _copied(_replaced(mapping, number, without_bus(fit)), fit.bus)


def taken_early_in_part(mapping: Mapping, effort: Effort) -> Iterator[Mapping]:
    """Yield, for each statement in the lanes that takes a vector over the bus, mappings with some words copied before.

    The first words of the vector then lie in every lane, and the other words come just in time. The lanes write fewer
    copies than with all words, so they begin sooner with results of their own. Any number of words may fill a gap in
    the schedule: eighths of the vector are tried first, then numbers near the one that is chosen.
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
                yield _copied(_replaced(mapping, number, replace(fit, needs=needs, parts=parts, early=early)), fit.bus)


def as_made(mapping: Mapping, effort: Effort) -> Iterator[Mapping]:
    """Yield, for each statement in the lanes that takes a vector over the bus, the mapping that takes it *as made*.

    The statement then takes each word as the root makes it. The root needs no broadcast after the last word, and the
    lanes do not wait for the last word. Vectors of `SHORT` words are left out: the gain does not pay for the wires from
    the root's result to all multipliers.
    """
    graph = mapping.graph
    for number, _, fit in _in_lanes(mapping):
        if fit.bus and graph.tensors[fit.bus].size > SHORT and fit.parts == 1 and not fit.as_made:
            change = _replaced(mapping, number, replace(fit, as_made=True))
            if _broadcast(change) == change:
                yield change


def _broadcast(mapping: Mapping) -> Mapping:
    """Return a mapping with a broadcast of its own for each vector that lanes cannot take as the root makes it.

    Only one statement can take a vector as it is made.
    """
    graph = mapping.graph
    fits, taken = list(mapping.fits), set[str]()
    for number, fit in enumerate(fits):
        if fit.as_made and (fit.bus in taken or not _comes_in_order(mapping, graph.statements[number], fit)):
            fits[number] = replace(fit, as_made=False)
        elif fit.as_made:
            taken.add(fit.bus)
    return replace(mapping, fits=tuple(fits))


def _comes_in_order(mapping: Mapping, statement: Statement, fit: Fit) -> bool:
    """Say whether one strand of the root makes all words that a statement takes over the bus, in the order it wants."""
    graph = mapping.graph
    read = read_from_bus(statement, fit)
    along = [index for index in statement.indices if index.name == _only_index(read)]
    makers = list(graph.writers(fit.bus))
    alone = sum(each.tensor == fit.bus for each in statement.reads) == 1
    if fit.parts > 1 or len(makers) != 1 or not along or not alone:
        return False
    maker, made = makers[0], mapping.fits[makers[0].id]
    in_one_strand = made.way == "root" and made.parts == 1 and common_reduction(maker) and not maker.constraints
    in_step = len(maker.indices) == 1 and maker.indices[0].extent == along[0].extent
    shown = {graph.statements[number].target for number, each in enumerate(mapping.fits) if each.through}
    # A statement between the two that reads the vector would have to wait for the second one, too.
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
    """Yield, for each short vector of sums at the root or up the tree, the mapping with a strand for each of its words.

    Each word can then be forwarded from register to register while the next one is summed.
    """
    graph = mapping.graph
    functions = operands_of_functions(graph)
    for number, (statement, fit) in enumerate(zip(graph.statements, mapping.fits, strict=True)):
        whole = fit.parts == 1 and not fit.through
        if statement.target in functions or statement.constraints or not whole or len(statement.indices) != 1:
            continue
        if (fit.way == "tree" or _sums(statement, fit)) and 1 < statement.indices[0].extent <= effort.most_turns:
            yield _replaced(mapping, number, replace(fit, parts=statement.indices[0].extent))


def _only_index(read: Read) -> str:
    """Return the index along which a vector is read from its first word on; empty if it is read in another way."""
    if len(read.subscripts) != 1 or len(read.subscripts[0].names) != 1:
        return ""
    (name,) = read.subscripts[0].names
    return name if read.subscripts[0].coefficient(name) > 0 else ""


def by_rows(mapping: Mapping, effort: Effort) -> Iterator[Mapping]:
    """Yield mappings whose statements in the lanes make one row of lanes after another.

    Each statement with several outputs in a lane is changed alone, and at last all of them together, because
    statements that depend on each other gain only if all of them go row by row. The words of the first row can then be
    used before those of the last row are there.
    """
    everywhere, changed = mapping, 0
    for number, statement, fit in _in_lanes(mapping):
        if not (fit.bus or fit.rows_first or fit.parts > 1) and len(statement.indices) > 1:
            rows = replace(fit, rows_first=True)
            everywhere, changed = _replaced(everywhere, number, rows), changed + 1
            yield _replaced(mapping, number, rows)
    if changed > 1:
        yield everywhere


def in_waves(mapping: Mapping, effort: Effort) -> Iterator[Mapping]:
    """Yield mappings with *waves*: all statements of the lanes in parts of rows, scheduled in turns.

    A part of rows goes through all statements before a later part begins. While a statement waits for the words of one
    part, the lanes are busy with other parts.
    """
    if mapping.waves:
        return
    for parts in effort.parts:
        changed = mapping
        for number, statement, fit in _in_lanes(mapping):
            if not fit.bus and (fit.parts == 1 or fit.rows_first):
                rows = -(-statement.box[fit.index].extent // (fit.span.lanes or mapping.template.lanes))
                if rows >= parts:
                    changed = _replaced(changed, number, replace(fit, parts=parts, rows_first=True))
        if changed != mapping:
            yield replace(changed, waves=True)


def at_hand(mapping: Mapping) -> Mapping:
    """Return a mapping with inputs and labels in every lane that reads them, where they came over the bus before."""
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
    """Yield, for each update in the lanes, mappings that compute it in more parts.

    A part may fill a gap of the schedule that is too short for the whole.
    """
    graph = mapping.graph
    following = set(graph.updates.values())
    for number, (statement, fit) in enumerate(zip(graph.statements, mapping.fits, strict=True)):
        if statement.target not in following or fit.way != "lane" or fit.rows_first or fit.as_made:
            continue
        least = min((i.extent for i in statement.indices if i.name != fit.index), default=0)
        for parts in effort.parts:
            if fit.parts < parts <= least - fit.early:
                yield _replaced(mapping, number, replace(fit, parts=parts))


def undivided(mapping: Mapping, effort: Effort) -> Iterator[Mapping]:
    """Yield, for each update in parts, the mapping that computes it in one, where other changes made parts needless."""
    graph = mapping.graph
    following = set(graph.updates.values())
    for number, (statement, fit) in enumerate(zip(graph.statements, mapping.fits, strict=True)):
        if statement.target in following and fit.way == "lane" and fit.parts > 1 and not fit.early:
            yield _replaced(mapping, number, replace(fit, parts=1))


def _in_lanes(mapping: Mapping) -> Iterator[tuple[int, Statement, Fit]]:
    """Yield the statements without constraints whose results arise in lanes, with their numbers and fits."""
    graph = mapping.graph
    for number, (statement, fit) in enumerate(zip(graph.statements, mapping.fits, strict=True)):
        if fit.way == "lane" and not statement.constraints:
            yield number, statement, fit


def _replaced(mapping: Mapping, number: int, fit: Fit) -> Mapping:
    return replace(mapping, fits=(*mapping.fits[:number], fit, *mapping.fits[number + 1 :]))


def _copied(mapping: Mapping, tensor: str) -> Mapping:
    """Return a mapping with a copy of a tensor in every lane."""
    return replace(mapping, copies=tuple(sorted({*mapping.copies, (tensor, EVERY)})))


def in_turns(mapping: Mapping, effort: Effort) -> Iterator[Mapping]:
    """Yield, for each chain of vectors at the root, mappings whose words go through the whole chain in groups.

    A word on its way shows in the root's result register in the cycle in which the next statement wants it, and is
    written nowhere. A group has at most as many words as cycles pass between an operand and the result that shows. A
    chain may begin with sums: the next sum is made while the one before is on its way.
    """
    graph = mapping.graph
    for chain in _chains(mapping):
        yield from _grouped(mapping, effort, chain)
        if graph.statements[chain[0]].reduced and len(chain) > 2:
            yield from _grouped(mapping, effort, chain[1:])


def _grouped(mapping: Mapping, effort: Effort, chain: list[int]) -> Iterator[Mapping]:
    """Yield mappings of one chain, with groups of all sizes with which no two statements want a slot of the root."""
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
    """Find the chains: two or more statements at the root, each the only reader of the vector of the one before.

    Chains are as long as possible. A vector that somebody else needs in a memory ends a chain: results, models and
    their next values, copies, operands of functions, and tensors that several statements write.
    """
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
    """Say whether a chain ends with an update of a model of which the chain reads other words on its way.

    Updates of these other words must wait for the reads, but they belong to groups that come before.
    """
    last = graph.statements[chain[-1]]
    model = next((model for model, following in graph.updates.items() if following == last.target), "")
    reads = [(number, read) for number in chain[:-1] for read in graph.statements[number].reads if read.tensor == model]
    return not all(_same_words(read.subscripts, graph.statements[number].indices[0], last) for number, read in reads)


def _one_slot(statement: Statement, fit: Fit) -> bool:
    """Say whether a statement is a vector at the root with one operation a word: a product, an addend, or both."""
    terms = _terms(statement, fit)
    added = len(terms) == 2 and any(len(t.factors) == 1 and t.sign > 0 for t in terms)
    return not statement.reduced and (len(terms) == 1 or added)


def _sums(statement: Statement, fit: Fit) -> bool:
    """Say whether a statement is a vector of sums at the root with one operation for each summed point."""
    return len(_terms(statement, fit)) == 1 and bool(statement.reduced) and not statement.crosses


def _terms(statement: Statement, fit: Fit) -> tuple[Term, ...]:
    """Return the terms of a vector at the root; none for anything else, for a tested result, and with constraints."""
    if fit.way != "root" or len(statement.indices) != 1 or statement.constraints:
        return ()
    operation = statement.operation
    return operation.terms if isinstance(operation, Linear) and operation.test is None else ()


def _in_step(before: Statement, after: Statement) -> bool:
    """Say whether one vector statement reads, word by word in order, what another writes."""
    (wrote,), (index,) = before.indices, after.indices
    reads = [read for read in after.reads if read.tensor == before.target]
    return wrote.extent == index.extent and all(_same_words(read.subscripts, index, before) for read in reads)


def _same_words(subscripts: Sequence[Affine], index: Index, writer: Statement) -> bool:
    """Say whether subscripts go, along an index, through the words of a vector in the order in which it is written."""
    (wrote,) = writer.indices
    for mine, theirs in zip(subscripts, writer.write, strict=True):
        here = mine.constant + mine.coefficient(index.name) * index.low
        there = theirs.constant + theirs.coefficient(wrote.name) * wrote.low
        if (here, mine.coefficient(index.name)) != (there, theirs.coefficient(wrote.name)):
            return False
    return True
