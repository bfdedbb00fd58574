"""Chains that begin with a sum of the tree: each statement takes the words of the one before as they show."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tabla.graph.graph import Compare, Extreme, Graph, Linear, Statement
from tabla.schedule.mapping.effort import Effort
from tabla.schedule.mapping.mapping import Mapping, operands_of_functions, word_by_word

MOST_JOINED = 4
"""The most statements of one chain."""


def joined(mapping: Mapping, effort: Effort) -> Iterator[Mapping]:
    """Yield, for each statement of the tree that others follow word by word at the root, mappings with a chain.

    The root then computes the statements that follow in the cycles between two sums. There is a mapping for each
    length of the chain, the longest first.
    """
    for statement in mapping.graph.statements:
        chain = _chain(mapping, statement)
        for length in range(len(chain), 1, -1):
            yield _linked(mapping, chain[:length])


def all_joined(mapping: Mapping) -> Mapping:
    """Return a mapping with the longest chains of all statements; `mapping` itself if there are none."""
    changed = mapping
    for statement in mapping.graph.statements:
        chain = _chain(changed, statement)
        if len(chain) > 1:
            changed = _linked(changed, chain)
    return changed


def _linked(mapping: Mapping, chain: list[Statement]) -> Mapping:
    """Return a mapping whose chain hands its words on in the result register."""
    passed = {statement.id: statement.target for statement in chain[:-1]}
    fits = tuple(replace(fit, through=fit.through or number in passed) for number, fit in enumerate(mapping.fits))
    homes = {tensor: spot for tensor, spot in mapping.homes.items() if tensor not in passed.values()}
    return replace(mapping, fits=fits, homes=homes)


def _chain(mapping: Mapping, first: Statement) -> list[Statement]:
    """Return the longest chain that begins with a statement; only the statement itself if there is none."""
    fit = mapping.fits[first.id]
    if fit.way != "tree" or fit.parts > 1 or fit.through or fit.as_made or first.constraints:
        return [first]
    chain = [first]
    while len(chain) < MOST_JOINED and (after := _follower(mapping, chain[-1])) is not None:
        chain.append(after)
    return chain


def _follower(mapping: Mapping, before: Statement) -> Statement | None:
    """Return the statement at the root that alone reads what another makes, word by word; None if there is none."""
    graph, target = mapping.graph, before.target
    users = [statement for statement in graph.statements if target in statement.sources]
    shown = {tensor for _, tensor in graph.results} | {tensor for tensor, _ in mapping.copies}
    kept = shown | {*graph.updates.values()} | operands_of_functions(graph)
    if len(users) != 1 or target in kept or len(list(graph.writers(target))) > 1:
        return None
    (after,) = users
    fit, passed = mapping.fits[after.id], {graph.statements[n].target for n, f in enumerate(mapping.fits) if f.through}
    simple = isinstance(after.operation, Linear | Extreme | Compare) and not after.reduced and not after.constraints
    if not simple or fit.way != "root" or fit.parts > 1 or fit.as_made or passed.intersection(after.sources):
        return None
    if any(fit.as_made and fit.bus == after.target for fit in mapping.fits):
        return None  # lanes take these words as they are made, so their strand belongs to those of the lanes
    if after.target in operands_of_functions(graph) or not _same_words(graph, before, after):
        return None
    return after


def _same_words(graph: Graph, before: Statement, after: Statement) -> bool:
    """Say whether a statement reads every word that another writes, each along indices of its own from 0 on."""
    shape = graph.tensors[before.target].shape
    reads = {read.subscripts for read in after.reads if read.tensor == before.target}
    once = len(reads) == 1 and word_by_word(before.write, before, shape)
    return once and all(word_by_word(subscripts, after, shape) for subscripts in reads)
