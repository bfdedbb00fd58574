"""Summed loops that are written out in the body of a strand.

The start value of a sum may lie in the same bank as the words of its first product. It then has an operation of its
own, which each turn of the summed loops repeats. A body that holds several turns has that operation once for all of
them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from tabla.graph.body import MOST_SLOTS
from tabla.graph.graph import Affine, Linear, Statement, Term
from tabla.graph.rewrite import operand_at


@dataclass(frozen=True, slots=True, kw_only=True)
class _Axis:
    """How much of a summed index is written out: `count` values of it, one after the other."""

    name: str
    low: int
    count: int
    whole: bool

    def values(self) -> Iterator[tuple[str, Affine]]:
        """Yield the name, and what takes its place in each turn that is written out."""
        for turn in range(self.count):
            yield self.name, Affine.make(self.low + turn, {} if self.whole else {self.name: self.count})


@lru_cache(maxsize=1024)
def written_out(statement: Statement, most: int = MOST_SLOTS) -> Statement:
    """Return a sum whose innermost summed indices are written out as terms, at most as many as `most` in one body.

    The words are the same, because a sum is exact until it is rounded. An index that does not fit as a whole runs over
    groups of values. The statement must be a `Linear` in which all terms that are summed run over the same indices.
    """
    assert isinstance(statement.operation, Linear)
    terms = statement.operation.terms
    summed, alone = [t for t in terms if t.reduce], [t for t in terms if not t.reduce]
    room = max(1, (most - len(alone)) // max(1, len(summed)))
    axes: list[_Axis] = []
    left = list(statement.reduced)
    while left and room > 1:
        index = left[-1]
        count = max(n for n in range(1, min(room, index.extent) + 1) if index.extent % n == 0)
        axes.insert(0, _Axis(name=index.name, low=index.low, count=count, whole=count == index.extent))
        room //= count
        if count < index.extent:
            left[-1] = replace(index, low=0, high=index.extent // count)
            break
        left.pop()
    kept = tuple(index.name for index in left)
    turns = [dict(values) for values in itertools.product(*(list(axis.values()) for axis in axes))]
    out = [_at(term, values, kept) for values in turns for term in summed]
    return replace(statement, operation=replace(statement.operation, terms=(*out, *alone)), reduced=tuple(left))


def _at(term: Term, values: Mapping[str, Affine], kept: tuple[str, ...]) -> Term:
    """Return a term in one turn of the indices that are written out."""
    reduce = tuple(name for name in term.reduce if name in kept)
    return replace(term, factors=tuple(operand_at(factor, values) for factor in term.factors), reduce=reduce)
