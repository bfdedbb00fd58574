"""Common sums: the terms of a sum run over the same indices.

Only the root can compute a sum whose terms are summed over different indices, word by word, because one strand has one
nest of loops. A layer of a recurrent network is such a sum::

    s[j] = sum[i](U[j][i] * x[i]) + sum[l](R[j][l] * h[l])

With 16 inputs and 32 units it is also a sum over one index k of 16 values, with three terms::

    s[j] = sum[k](U[j][k] * x[k] + R[j][k] * h[k] + R[j][k + 16] * h[k + 16])

Each index is cut into chunks of one length. What remains is added without an index. A sum is exact until it is rounded,
so no word changes.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod

from tabla.graph.accesses import spread
from tabla.graph.body import MOST_SLOTS
from tabla.graph.graph import Affine, Graph, Index, Linear, Operand, Read, Statement, Term
from tabla.graph.passes.framework import Condition, graph_pass
from tabla.graph.rewrite import operand_at, with_statements

MOST_MORE = 1.25
"""How many times the products of a sum lanes may take at most, with the repeated ones."""
NEAR = 1.05
"""Lengths of chunks are alike if they take so many times the fewest cycles or less."""
TREE = 32
"""The cycles that a scalar must save beside half of its products to be worth the way up the tree."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Group:
    """The terms that are summed over the same indices. `along` is the one that is cut, `others` are written out."""

    terms: tuple[Term, ...]
    along: Index
    others: tuple[Index, ...]

    @property
    def each(self) -> int:
        """The terms for each value of `along`."""
        return len(self.terms) * prod(index.extent for index in self.others)


@graph_pass(
    "common-sums",
    "let the terms of a sum run over the same indices, so that lanes can compute it",
    condition=Condition(
        text="terms of one sum run over different indices",
        holds=lambda graph: any(_differs(statement) for statement in graph.statements),
    ),
)
def common_sums(graph: Graph, pes: int | None) -> Graph:
    """Write sums over different indices as sums over one index, where that takes few products more."""
    return with_statements(graph, (_common(s, pes or 1) if _differs(s) else s for s in graph.statements))


def _differs(statement: Statement) -> bool:
    if not isinstance(statement.operation, Linear) or statement.constraints:
        return False
    return len({frozenset(term.reduce) for term in statement.operation.terms if term.reduce}) > 1


def _common(statement: Statement, pes: int) -> Statement:
    """Return the statement with one summed index, or as it is if that would take too many terms or products."""
    assert isinstance(statement.operation, Linear)
    elements = (statement.write, *_reads(statement.operands))
    outputs = any(index.extent > 1 and _one_lane(elements, index.name, pes) for index in statement.indices)
    groups = _groups(statement)
    alone = [term for term in statement.operation.terms if not term.reduce]
    shape = _shape(groups, len(alone), pes, outputs) if pes > 1 else None
    if shape is None:
        return statement
    name = groups[0].along.name
    cut = [_chunks(group, shape.length, name) for group in groups]
    whole = [term for chunks, _ in cut for term in chunks]
    rest = [term for _, remaining in cut for term in remaining]
    if not outputs and not _one_lane(_reads(factor for term in whole for factor in term.factors), name, pes):
        return statement
    return replace(
        statement,
        operation=replace(statement.operation, terms=(*whole, *rest, *alone)),
        reduced=(Index(name=name, low=0, high=shape.length),),
    )


def _one_lane(elements: Iterable[Sequence[Affine]], name: str, pes: int) -> bool:
    """Say whether the elements at one value of an index lie in one lane if the index runs over lanes."""
    offsets = set()
    for subscripts in elements:
        if any(name in subscript.names for subscript in subscripts):
            found = spread(tuple(subscripts), name)
            if found is None:
                return False
            offsets.add(found[1] % pes)
    return len(offsets) == 1


def _reads(operands: Iterable[Operand]) -> Iterator[tuple[Affine, ...]]:
    return (operand.subscripts for operand in operands if isinstance(operand, Read))


def _groups(statement: Statement) -> list[_Group]:
    """Return the groups of terms, in the order in which they stand. The longest index of each is cut."""
    assert isinstance(statement.operation, Linear)
    found: dict[frozenset[str], list[Term]] = {}
    for term in statement.operation.terms:
        if term.reduce:
            found.setdefault(frozenset(term.reduce), []).append(term)
    groups = []
    for names, terms in found.items():
        indices = [index for index in statement.reduced if index.name in names]
        along = max(indices, key=lambda index: index.extent)
        others = tuple(index for index in indices if index is not along)
        groups.append(_Group(terms=tuple(terms), along=along, others=others))
    return groups


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shape:
    """A way to write a sum: `whole` terms that are summed over an index of `length` values, and `rest` other terms."""

    length: int
    whole: int
    rest: int

    def cycles(self, pes: int, outputs: bool) -> int:
        """The cycles for one element of the result: in its lane, which repeats the other terms in each turn, or for a
        scalar in all lanes at the same time, with the other terms at the root.
        """
        return self.length * (self.whole + self.rest) if outputs else -(-self.length // pes) * self.whole + self.rest


def _shape(groups: Sequence[_Group], alone: int, pes: int, outputs: bool) -> _Shape | None:
    """Choose the length of the chunks: of those that take about the fewest cycles, one that rows of lanes can share,
    and that leaves few terms. The result is None if there are too many terms with each length, or too little to gain.
    With `outputs` there are elements for several lanes.
    """
    products = sum(group.each * group.along.extent for group in groups) + alone
    most = MOST_MORE * products if outputs else products / 2 - TREE
    extents = [group.along.extent for group in groups]
    shapes = []
    for length in range(1, (min(extents) if outputs else max(extents)) + 1):
        whole = sum(group.each * (group.along.extent // length) for group in groups)
        rest = sum(group.each * (group.along.extent % length) for group in groups) + alone
        shape = _Shape(length=length, whole=whole, rest=rest)
        if whole + rest <= MOST_SLOTS and shape.cycles(pes, outputs) <= most:
            shapes.append(shape)
    if not shapes:
        return None
    fewest = min(shape.cycles(pes, outputs) for shape in shapes)
    near = [shape for shape in shapes if shape.cycles(pes, outputs) <= NEAR * fewest]
    return min(near, key=lambda shape: (shape.length % pes != 0, shape.whole + shape.rest, shape.length))


def _chunks(group: _Group, length: int, name: str) -> tuple[list[Term], list[Term]]:
    """Return the terms of the chunks, which are summed over the index `name` from 0, and those of what remains."""
    along, count = group.along, group.along.extent // length
    whole = [
        _at(term, {along.name: Affine.make(along.low + chunk * length, {name: 1}), **values}, (name,))
        for values in _written_out(group.others)
        for chunk in range(count)
        for term in group.terms
    ]
    rest = [
        _at(term, {along.name: Affine.of(value), **values}, ())
        for values in _written_out(group.others)
        for value in range(along.low + count * length, along.high)
        for term in group.terms
    ]
    return whole, rest


def _written_out(indices: Sequence[Index]) -> Iterator[dict[str, Affine]]:
    """Yield every point of some indices."""
    ranges = [range(index.low, index.high) for index in indices]
    for point in itertools.product(*ranges):
        yield {index.name: Affine.of(value) for index, value in zip(indices, point, strict=True)}


def _at(term: Term, values: dict[str, Affine], reduce: tuple[str, ...]) -> Term:
    return replace(term, factors=tuple(operand_at(factor, values) for factor in term.factors), reduce=reduce)
