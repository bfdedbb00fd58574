"""Static gathers: where indices alone decide the positions, the word is read where it lies.

``k % c`` with two indices is no affine form, so it is lowered as a gather by a table of positions. But the positions
are known, and they are affine on parts of the box. So the statement that reads the gathered word reads the tensor
itself instead: in a statement for each range of outputs, and in a term for each block of the points that it sums over.
All blocks have one shape, so one strand holds the sum. Example: ``y[o] = sum[k](x[k % 3] * w[o][k])`` with k in [0, 6)
becomes ``y[o] = sum[k](x[k] * w[o][k] + x[k] * w[o][k+3])`` with k in [0, 3). A sum is exact, so no word changes.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tabla.graph.body import MOST_SLOTS
from tabla.graph.format import Format
from tabla.graph.graph import (
    Affine,
    Gather,
    Gathered,
    Graph,
    Index,
    Linear,
    Operand,
    Operation,
    Read,
    Scatter,
    Statement,
    Term,
    tables_of,
)
from tabla.graph.passes.drop_dead import drop_dead
from tabla.graph.passes.framework import Condition, graph_pass
from tabla.graph.passes.legalise.precompute import known_words
from tabla.graph.rewrite import copy_of, operand_at, substituted, with_operands, with_statements
from tabla.graph.windows import ramp, window

MOST_RANGES = 16
"""The most ranges of outputs of one statement. Each is a statement with strands of its own, while a gather is one
strand that takes about two cycles a word."""

Positions = NDArray[np.int64]
Ranges = tuple[tuple[int, int], ...]
"""A range [low, high) of each of some indices."""


GATHERS = Condition(
    text="a statement gathers",
    holds=lambda graph: any(isinstance(statement.operation, Gather | Scatter) for statement in graph.statements),
)


@graph_pass("static-gathers", "read a word where it lies, if indices alone say where that is", condition=GATHERS)
def static_gathers(graph: Graph, fmt: Format) -> Graph:
    """Return the graph in which no statement gathers by positions that indices alone decide, if these are affine on few
    parts of its box.
    """
    words = known_words(graph, fmt)
    if words is None:
        return graph
    made = graph
    for gather in graph.statements:
        if isinstance(gather.operation, Gather):
            made = _without(made, gather, gather.operation, words)
    return graph if made is graph else drop_dead(made, fmt)


def _without(graph: Graph, gather: Statement, operation: Gather, words: Mapping[str, Positions]) -> Graph:
    """Return the graph with the words of a gather read where they lie, in all statements or in none."""
    tables = tables_of(operation.subscripts)
    plain = all(not s.names or s.coefficients == ((s.names[0], 1),) for s in gather.write) and not gather.constraints
    if not plain or len(list(graph.writers(gather.target))) > 1 or any(table.tensor not in words for table in tables):
        return graph
    lookup = _Lookup(gather, operation, words, graph.tensors[operation.tensor].shape)
    if not lookup.inside():
        return graph
    kept = {tensor for _, tensor in graph.results} | set(graph.updates.values())
    statements = list[Statement]()
    for statement in graph.statements:
        made: list[Statement] | None = [statement]
        if statement.target == gather.target and gather.target in kept:
            own = Read(tensor=gather.target, subscripts=gather.write)
            made = lookup.rewritten(replace(statement, operation=copy_of(own)))
        elif gather.target in statement.sources:
            made = lookup.rewritten(statement)
        if made is None:
            return graph
        statements += made
    return with_statements(graph, statements)


@dataclass(frozen=True, slots=True)
class _Lookup:
    """The words of a gather, each with the position from which it is copied.

    `words` has the positions of all tables, and `shape` is that of the gathered tensor.
    """

    gather: Statement
    operation: Gather
    words: Mapping[str, Positions]
    shape: tuple[int, ...]

    def inside(self) -> bool:
        """Return whether all positions are inside the gathered tensor."""
        box = self.gather.indices
        for subscript, extent in zip(self.operation.subscripts, self.shape, strict=True):
            found = _values(subscript, box, self.words)
            if found.min() < 0 or found.max() >= extent:
                return False
        return True

    def rewritten(self, statement: Statement) -> list[Statement] | None:
        """Return statements that compute what `statement` does without the gather; None if they would be too many."""
        if isinstance(statement.operation, Gather) or statement.constraints:
            return None
        reads = [read for read in statement.reads if read.tensor == self.gather.target]
        places = {read.subscripts: self._subscripts(read) for read in reads}
        tied = {n for p in places.values() for s in p if isinstance(s, Gathered) for n in s.table.names}
        outputs = [index for index in statement.indices if index.name in tied]
        summed = [index for index in statement.reduced if index.name in tied]
        if summed and not isinstance(statement.operation, Linear):
            return None
        part = _Part(statement, self.operation.tensor, self.gather.target, places, tuple(summed), self.words)
        made = list(itertools.islice(_ranges(part, outputs), MOST_RANGES + 1))
        found = [each for each in made if each is not None and (not each.reduced or _for_lanes(each))]
        return found if len(found) == len(made) <= MOST_RANGES else None

    def _subscripts(self, read: Read) -> tuple[Affine | Gathered, ...]:
        """Return the subscripts of the gathered tensor in terms of the indices of a statement that reads the copy."""
        values = {
            axis.names[0]: Affine.make(subscript.constant - axis.constant, dict(subscript.coefficients))
            for axis, subscript in zip(self.gather.write, read.subscripts, strict=True)
            if axis.names
        }
        return tuple(
            substituted(s, values)
            if isinstance(s, Affine)
            else Gathered(table=_moved(s.table, values), offset=substituted(s.offset, values))
            for s in self.operation.subscripts
        )


def _for_lanes(statement: Statement) -> bool:
    """Return whether some index can run over lanes: each read mentions it in one subscript, where nothing but a number
    is added to it, or not at all.

    A sum without such an index runs at the root, where it takes longer than the gather.
    """
    for name in statement.box:
        tied = [[s for s in read.subscripts if name in s.names] for read in statement.reads]
        apart = {s.constant for subscripts in tied for s in subscripts}
        plain = all(s.coefficients == ((name, 1),) for subscripts in tied for s in subscripts)
        if len(apart) == 1 and plain and all(len(subscripts) < 2 for subscripts in tied):
            return True
    return False


def _moved(read: Read, values: Mapping[str, Affine]) -> Read:
    moved = operand_at(read, values)
    assert isinstance(moved, Read)
    return moved


def _values(subscript: Affine | Gathered, box: Sequence[Index], words: Mapping[str, Positions]) -> Positions:
    """Return the positions of a subscript over a box; an axis has the extent 1 if the positions do not depend on it."""
    if isinstance(subscript, Affine):
        return ramp(subscript, box)
    return window(words[subscript.table.tensor], subscript.table.subscripts, box) + ramp(subscript.offset, box)


@dataclass(frozen=True, slots=True)
class _Part:
    """A statement that reads `copy`, the gathered copy of `tensor`, at known positions.

    `places` has the subscripts of `tensor` for each way in which the statement reads the copy. `summed` are the summed
    indices on which positions depend.
    """

    statement: Statement
    tensor: str
    copy: str
    places: Mapping[tuple[Affine, ...], tuple[Affine | Gathered, ...]]
    summed: tuple[Index, ...]
    words: Mapping[str, Positions]

    def over(self, indices: Sequence[Index]) -> Statement | None:
        """Return the statement over a range of each of some output indices, with affine positions; None if there is no
        division of the summed points into few blocks on which they are affine.
        """
        chosen = {index.name: index for index in indices}
        outer = tuple(chosen.get(index.name, index) for index in self.statement.indices)
        for counts in self._divisions():
            blocks = [self._block(indices, counts, at) for at in np.ndindex(*counts)]
            if None not in blocks:
                operation, reduced = self._operation([block for block in blocks if block is not None], counts)
                return replace(self.statement, indices=outer, operation=operation, reduced=reduced)
        return None

    def _divisions(self) -> list[tuple[int, ...]]:
        """Return how often each summed index may be divided, the fewest blocks first."""
        operation = self.statement.operation
        if not self.summed:
            return [()]
        assert isinstance(operation, Linear)
        tied = sum(any(i.name in term.reduce for i in self.summed) for term in operation.terms)
        most = (MOST_SLOTS - (len(operation.terms) - tied)) // tied
        counts = [[n for n in range(1, min(i.extent, most) + 1) if i.extent % n == 0] for i in self.summed]
        found = (each for each in itertools.product(*counts) if math.prod(each) <= most)
        return sorted(found, key=lambda each: (math.prod(each), each))

    def _block(self, outputs: Sequence[Index], counts: Sequence[int], at: tuple[int, ...]) -> _Block | None:
        """Return block number `at`; None if the positions are not affine on it."""
        inner = [
            Index(name=i.name, low=i.low + n * i.extent // count, high=i.low + (n + 1) * i.extent // count)
            for i, count, n in zip(self.summed, counts, at, strict=True)
        ]
        found: dict[tuple[Affine, ...], Read] = {}
        box = [*outputs, *inner]
        for read, subscripts in self.places.items():
            affine = [_affine(subscript, box, self.words) for subscript in subscripts]
            if None in affine:
                return None
            found[read] = Read(tensor=self.tensor, subscripts=tuple(s for s in affine if s is not None))
        return _Block(tuple(inner), self.copy, found)

    def _operation(self, blocks: Sequence[_Block], counts: Sequence[int]) -> tuple[Operation, tuple[Index, ...]]:
        """Return the operation over all blocks, and the indices that it sums over: those of the first block."""
        operation, reduced = self.statement.operation, self.statement.reduced
        if not self.summed:
            return with_operands(operation, blocks[0].operand), reduced
        assert isinstance(operation, Linear)
        divided = {i.name for i, count in zip(self.summed, counts, strict=True) if count > 1}
        first = {i.name: i for i in blocks[0].indices if i.name in divided}
        gone = {name for name, index in first.items() if index.extent == 1}
        terms = list[Term]()
        for term in operation.terms:
            if not divided.intersection(term.reduce):
                terms.append(replace(term, factors=tuple(map(blocks[0].operand, term.factors))))
                continue
            for block in blocks:
                mine = [index for index in block.indices if index.name in first]
                moves = {i.name: Affine.make(i.low - first[i.name].low, {i.name: 1}) for i in mine}
                moves |= {i.name: Affine.of(i.low) for i in mine if i.name in gone}
                factors = (operand_at(block.operand(factor), moves) for factor in term.factors)
                kept = tuple(name for name in term.reduce if name not in gone)
                terms.append(replace(term, factors=tuple(factors), reduce=kept))
        inner = (first.get(index.name, index) for index in reduced if index.name not in gone)
        return replace(operation, terms=tuple(terms)), tuple(inner)


@dataclass(frozen=True, slots=True)
class _Block:
    """A block of summed points, and for each way to read the copy, the read of the tensor that takes its place."""

    indices: tuple[Index, ...]
    copy: str
    reads: Mapping[tuple[Affine, ...], Read]

    def operand(self, operand: Operand) -> Operand:
        """Return an operand with the tensor in place of its copy."""
        if isinstance(operand, Read) and operand.tensor == self.copy:
            return replace(self.reads[operand.subscripts], span=operand.span)
        return operand


def _affine(subscript: Affine | Gathered, box: Sequence[Index], words: Mapping[str, Positions]) -> Affine | None:
    """Return positions as an affine form of the indices of a box; None if they are none on this box."""
    if isinstance(subscript, Affine):
        return subscript
    found = window(words[subscript.table.tensor], subscript.table.subscripts, box)
    origin = (0,) * len(box)
    steps = {
        index.name: int(found[(*origin[:axis], 1, *origin[axis + 1 :])] - found[origin])
        for axis, index in enumerate(box)
        if found.shape[axis] > 1
    }
    start = sum(steps[index.name] * index.low for index in box if index.name in steps)
    own = Affine.make(int(found[origin]) - start, steps)
    if not np.array_equal(found, np.broadcast_to(ramp(own, box), found.shape)):
        return None
    return substituted(Affine.of(0, own=1, offset=1), {"own": own, "offset": subscript.offset})


def _ranges(part: _Part, outputs: Sequence[Index], taken: tuple[Index, ...] = ()) -> Iterator[Statement | None]:
    """Yield a statement for each range of some output indices, in order; None for points that none can hold.

    The ranges of the first index are as long as they can be, with the others whole. A value of it for which the others
    cannot be whole is a range of its own.
    """
    if not outputs:
        yield part.over(taken)
        return
    first, rest = outputs[0], outputs[1:]
    low = first.low
    while low < first.high:
        high, statement = _longest(part, taken, replace(first, low=low), rest)
        if statement is not None:
            yield statement
        else:
            yield from _ranges(part, rest, (*taken, replace(first, low=low, high=high)))
        low = high


def _longest(
    part: _Part, taken: tuple[Index, ...], index: Index, rest: Sequence[Index]
) -> tuple[int, Statement | None]:
    """Return the end of the longest range from the start of an index that one statement can hold, and the statement.

    If it cannot hold a single value, the range of that value and None. A range inside one that it can hold is one, too,
    so the longest is found by halving.
    """
    held, statement, high = index.low + 1, None, index.high
    least, most = index.low + 1, index.high
    while least <= most:
        made = part.over((*taken, replace(index, high=high), *rest))
        if made is not None:
            held, statement, least = high, made, high + 1
        else:
            most = high - 1
        high = (least + most + 1) // 2
    return held, statement
