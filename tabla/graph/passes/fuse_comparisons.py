"""A sum that only a comparison with a constant reads is compared where it is made, without a trip through a memory.

Let r be the sum, rounded to a word. Then r < K is the sign of the sum of the terms and -K, rounded once. Saturation
changes nothing as long as K is above the lowest word, and r <= K is r < K + 1 of the last place. A sum that overflows
only on its way to such a comparison is no longer counted, because it no longer makes a word.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Literal

from tabla.graph.format import Format
from tabla.graph.graph import FLIPPED, Affine, Compare, Constant, Graph, Linear, Read, Statement, Term
from tabla.graph.passes.framework import graph_pass
from tabla.graph.rewrite import operand_at, read_once, with_statements

ORDERS = ("<", "<=", ">", ">=")


@graph_pass("fuse-comparisons", "compare a sum with a constant where it is made")
def fuse_comparisons(graph: Graph, fmt: Format) -> Graph:
    """Replace comparisons of sums with constants by tests of the sums. The sums stay for `drop_dead`."""
    alone = read_once(graph)
    changed = []
    for statement in graph.statements:
        made = None
        parts = _parts(statement, fmt)
        if parts is not None and parts[0].tensor in alone:
            made = _fused(graph, statement, *parts, fmt)
        changed.append(made or statement)
    return with_statements(graph, changed)


def _parts(statement: Statement, fmt: Format) -> tuple[Read, Literal["<", ">="], int] | None:
    """Return what is compared, ``<`` or ``>=``, and the word that it is compared with."""
    match statement.operation:
        case Compare(op=op, left=Read() as read, right=Constant(value=value)) if op in ORDERS:
            found = op
        case Compare(op=op, left=Constant(value=value), right=Read() as read) if op in ORDERS:
            found = FLIPPED[op]
        case _:
            return None
    word = fmt.nearest(value) + (found in ("<=", ">"))
    return read, "<" if found in ("<", "<=") else ">=", word


def _fused(
    graph: Graph, statement: Statement, read: Read, test: Literal["<", ">="], word: int, fmt: Format
) -> Statement | None:
    """Return the test that replaces the comparison, if the sum runs over the same elements, each once."""
    writers = list(graph.writers(read.tensor))
    if len(writers) != 1 or not fmt.lowest < word <= fmt.highest or graph.tensors[read.tensor].filled:
        return None
    before = writers[0]
    if before.constraints or statement.constraints or graph.tensors[before.target].role != "value":
        return None
    match before.operation:
        case Linear(terms=terms, shift=0, test=None):
            pass
        case _:
            return None
    values = _places(before, statement, read)
    if values is None or {index.name for index in before.reduced} & {index.name for index in statement.indices}:
        return None
    moved = [replace(t, factors=tuple(operand_at(f, values) for f in t.factors)) for t in terms]
    if word:
        moved.append(Term(factors=(Constant(value=Fraction(-word, fmt.one)),)))
    return replace(statement, operation=Linear(terms=tuple(moved), test=test), reduced=before.reduced)


def _places(before: Statement, after: Statement, read: Read) -> dict[str, Affine] | None:
    """Return what the indices of the sum are in the comparison, or None unless both run over plain elements,
    each once.
    """
    written = [w.coefficients for w in before.write]
    fetched = [s.names for s in read.subscripts]
    plain = all(w == ((index.name, 1),) for w, index in zip(written, before.indices, strict=False))
    whole = len(written) == len(before.indices) and not any(w.constant for w in before.write)
    once = sorted(name for names in fetched for name in names) == sorted(index.name for index in after.indices)
    if not (plain and whole and once and all(len(names) == 1 for names in fetched)):
        return None
    return {index.name: subscript for index, subscript in zip(before.indices, read.subscripts, strict=True)}
