"""Axes that are refined into several, so that statements run in lanes which would stay at the root or fill few lanes.

A mapping spreads one index over the lanes, and what it reads must mention that index alone on some axis. A convolution
of groups reads ``x[16*g + c]``, with c in [0, 16): two indices on one axis. If that axis of 64 channels becomes two
axes, of 4 groups and of 16 channels, the statement reads ``x[g][c]``, and g may run over lanes, or be cut between tap
groups that have a root each.

A refinement changes no address of a row-major tensor: element ``16*g + c`` of the one axis is element ``[g][c]`` of
the two. So hosts see the shapes of the program. Statements that run over all of the axis get two indices for one.
"""

from __future__ import annotations

import itertools
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import assert_never

from tabla.graph.graph import (
    Affine,
    Compare,
    Divide,
    Extreme,
    Function,
    Gather,
    Graph,
    Index,
    Linear,
    Operand,
    Operation,
    Product,
    Read,
    Scatter,
    Statement,
    operands_of,
)
from tabla.graph.rewrite import operation_at, substituted, with_operands
from tabla.schedule.mapping.fit import fits
from tabla.schedule.mapping.mapping import static_tensors
from tabla.schedule.mapping.partition import Axis

Refinement = tuple[Axis, int]
"""An axis, and the extent of the inner one of the two axes that it becomes."""


def with_refined_axes(legal: Graph, pes: int, cut: str = "") -> Graph | None:
    """Return the graph with refined axes, so that more statements can run in the lanes of an array of `pes` lanes.

    These are statements that could only run at the root, and dense layers, which could not run over the channels of the
    map that they read.
    `cut` is the index that will run over tap groups, if there is one, so that it cannot run over the lanes of a group.
    The result is None where no axis can be refined for such a statement. No word changes: sums are exact, and products
    keep their order.
    """
    refused = set[Refinement]()
    wanted = list(dict.fromkeys(_wanted(legal, pes, cut)))
    while wanted := [each for each in wanted if each not in refused]:
        made = _Refining(legal, frozenset(refused))
        failed = made.run(wanted)
        if failed is None:
            return made.applied()
        refused.add(failed)
    return None


def quotient_and_rest(subscript: Affine, inner: int, box: Mapping[str, Index]) -> tuple[Affine, Affine] | None:
    """Return the affine forms q and r with ``subscript == inner * q + r``, where r lies in [0, inner) over the box.

    The result is None where there are no such forms.
    """
    outer = {name: c // inner for name, c in subscript.coefficients if c % inner == 0}
    rest = Affine.make(subscript.constant, {name: c for name, c in subscript.coefficients if c % inner})
    low, high = rest.bounds(box)
    if low // inner != high // inner:
        return None
    whole = low // inner
    return Affine.make(whole, outer), replace(rest, constant=rest.constant - whole * inner)


def _wanted(graph: Graph, pes: int, cut: str) -> Iterator[Refinement]:
    """Yield the refinements of axes on which a sum or an extreme that no lane can compute mentions several indices.

    Of other sums, the axes of weights are wanted, as of a dense layer that reads a whole map: ``w[n][49*c + 7*h + v]``.
    Then c may run over lanes.
    """
    static = static_tensors(graph)
    for statement in graph.statements:
        if statement.constraints or not statement.reduced:
            continue
        in_lanes = any(fit.way != "root" and fit.index != cut for fit in fits(statement, graph, pes, static))
        summed = {index.name for index in statement.reduced}
        for axis, subscript in _accesses(statement):
            if in_lanes and (axis[0] not in static or not summed.issuperset(subscript.names)):
                continue
            for inner in sorted({c for _, c in subscript.coefficients if c > 1}) if len(subscript.names) > 1 else ():
                if quotient_and_rest(subscript, inner, statement.box) is not None:
                    yield axis, inner


def _accesses(statement: Statement) -> Iterator[tuple[Axis, Affine]]:
    """Yield the axes that a statement writes and reads, each with its subscript, but for those of a gathered tensor."""
    places = [(statement.target, statement.write)]
    places += [(o.tensor, o.subscripts) for o in operands_of(statement.operation) if isinstance(o, Read)]
    for tensor, subscripts in places:
        yield from (((tensor, number), subscript) for number, subscript in enumerate(subscripts))


@dataclass(eq=False)
class _Refining:
    """Refinements that grow until they are consistent, but for those that were `refused` before.

    `inner` has, for each axis, the extents of the inner axes: 8 and 2 make an axis of 32 one of shape [4][4][2].
    `statements` are those of the graph, with two indices for one as far as the refinements so far ask for it.
    """

    graph: Graph
    refused: frozenset[Refinement]
    inner: dict[Axis, set[int]] = field(default_factory=lambda: defaultdict(set))
    statements: list[Statement] = field(default_factory=list)

    def run(self, wanted: Sequence[Refinement]) -> Refinement | None:
        """Refine axes, and others that the same indices run over. Return the first refinement that is impossible."""
        self.statements = list(self.graph.statements)
        waiting = deque(wanted)
        while waiting:
            axis, inner = each = waiting.popleft()
            if inner in self.inner[axis]:
                continue
            if not self._possible(axis, inner):
                return each
            self.inner[axis].add(inner)
            partners = [(partner, inner) for partner in self._partners(axis)]
            if not self.refused.isdisjoint(partners):
                return each
            waiting.extend(partners)
            for number, statement in enumerate(self.statements):
                made = _with_indices_for(statement, axis, inner)
                if made is None:
                    return each
                if made is not statement:
                    self.statements[number] = made
                    waiting.extend(self._following(made))
        return None

    def applied(self) -> Graph:
        """Return the graph with the refined axes, and the words of its constants in their new shapes."""
        tensors = {
            name: replace(tensor, shape=tuple(n for d in range(len(tensor.shape)) for n in self._extents((name, d))))
            for name, tensor in self.graph.tensors.items()
        }
        statements = tuple(self._rewritten(statement) for statement in self.statements)
        words = {name: held.reshape(tensors[name].shape) for name, held in self.graph.words.items()}
        return replace(self.graph, tensors=tensors, statements=statements, words=words)

    def _possible(self, axis: Axis, inner: int) -> bool:
        """Say whether an axis can be refined, as far as its extent, its other refinements and gathers say."""
        tensor, number = axis
        extent = self.graph.tensors[tensor].shape[number]
        gathered = any(isinstance(s.operation, Gather) and s.operation.tensor == tensor for s in self.statements)
        nested = all(max(inner, other) % min(inner, other) == 0 for other in self.inner[axis])
        return not gathered and nested and extent > inner and extent % inner == 0

    def _partners(self, axis: Axis) -> list[Axis]:
        """Return the same axis of the next value of a model, or of the model of a next value: they share a place."""
        tensor, number = axis
        pairs = self.graph.updates.items()
        names = [b if tensor == a else a for a, b in pairs if tensor in (a, b)]
        return [(name, number) for name in names]

    def _following(self, statement: Statement) -> Iterator[Refinement]:
        """Yield the refinements of axes on which one index of a statement runs within the steps of another."""
        for axis, subscript in _accesses(statement):
            for inner in sorted({c for _, c in subscript.coefficients if c > 1}):
                parts = quotient_and_rest(subscript, inner, statement.box)
                if len(subscript.names) > 1 and parts is not None and (axis, inner) not in self.refused:
                    yield axis, inner

    def _extents(self, axis: Axis) -> list[int]:
        """Return the extents of the axes that an axis becomes."""
        tensor, number = axis
        steps = [self.graph.tensors[tensor].shape[number], *sorted(self.inner.get(axis, ()), reverse=True), 1]
        return [outer // inner for outer, inner in itertools.pairwise(steps)]

    def _rewritten(self, statement: Statement) -> Statement:
        """Return a statement with the subscripts of the refined axes."""
        box = statement.box

        def refined(tensor: str, subscripts: Sequence[Affine]) -> tuple[Affine, ...]:
            found = list[Affine]()
            for number, subscript in enumerate(subscripts):
                rest = subscript
                for inner in sorted(self.inner.get((tensor, number), ()), reverse=True):
                    parts = quotient_and_rest(rest, inner, box)
                    assert parts is not None, "an axis was refined without its indices"
                    found.append(parts[0])
                    rest = parts[1]
                found.append(rest)
            return tuple(found)

        def change(operand: Operand) -> Operand:
            if not isinstance(operand, Read):
                return operand
            return replace(operand, subscripts=refined(operand.tensor, operand.subscripts))

        operation = with_operands(statement.operation, change)
        return replace(statement, write=refined(statement.target, statement.write), operation=operation)


def _with_indices_for(statement: Statement, axis: Axis, inner: int) -> Statement | None:
    """Return the statement with indices split such that an axis can be refined, or None where that is impossible."""
    while resisting := _resisting(statement, axis, inner):
        tried = (_with_index(statement, name, inner // c) for name, c in resisting[0].coefficients if inner % c == 0)
        better = (made for made in tried if made and len(_resisting(made, axis, inner)) < len(resisting))
        made = next(better, None)
        if made is None:
            return None
        statement = made
    return statement


def _resisting(statement: Statement, axis: Axis, inner: int) -> list[Affine]:
    """Return the subscripts that keep an axis from being refined."""
    subscripts = (subscript for place, subscript in _accesses(statement) if place == axis)
    return [subscript for subscript in subscripts if quotient_and_rest(subscript, inner, statement.box) is None]


def _with_index(statement: Statement, name: str, inner: int) -> Statement | None:
    """Return the statement with an index split into two, the inner one over [0, inner).

    The result is None if the extent is no multiple of `inner`, and for a scan, which keeps its indices.
    """
    index = statement.box[name]
    if statement.constraints or inner < 2 or index.extent <= inner or index.extent % inner:
        return None
    outer, within = f"{name}/{inner}", f"{name}%{inner}"
    parts = (Index(name=outer, low=0, high=index.extent // inner), Index(name=within, low=0, high=inner))
    values = {name: Affine.make(index.low, {outer: inner, within: 1})}

    def indices(old: Sequence[Index]) -> tuple[Index, ...]:
        return tuple(new for each in old for new in (parts if each.name == name else (each,)))

    return replace(
        statement,
        write=tuple(substituted(subscript, values) for subscript in statement.write),
        indices=indices(statement.indices),
        reduced=indices(statement.reduced),
        operation=_summed_over(operation_at(statement.operation, values), name, (outer, within)),
    )


def _summed_over(operation: Operation, name: str, parts: tuple[str, str]) -> Operation:
    """Return the operation that sums over two indices instead of one. The order of points stays."""

    def names(old: Sequence[str]) -> tuple[str, ...]:
        return tuple(new for each in old for new in (parts if each == name else (each,)))

    match operation:
        case Linear(terms=terms):
            return replace(operation, terms=tuple(replace(term, reduce=names(term.reduce)) for term in terms))
        case Product(reduce=reduce) | Extreme(reduce=reduce):
            return replace(operation, reduce=names(reduce))
        case Compare() | Function() | Divide() | Gather() | Scatter():
            return operation
        case _:
            assert_never(operation)
