"""Index-set splitting: a statement with constraints becomes statements without, which write disjoint boxes.

All outputs of one box sum over the same region of points. Where this region is a box too, as with padding, bands and
triangles, a box of outputs is one statement. Example: ``y[i] = sum[j](a[i][j] * x[j])`` where ``i <= j``, with i and j
in [0, 3), becomes three statements, with j in [0, 3), [1, 3) and [2, 3). No word changes: sums are exact, and products
keep their order. The number of boxes grows with the extents of the indices that constraints tie, so it has a limit.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from tabla.base.source import Label, TablaError
from tabla.graph.constraints import Mask, applying, components, satisfied
from tabla.graph.format import Format
from tabla.graph.graph import (
    Affine,
    Constant,
    Extreme,
    Graph,
    Index,
    Linear,
    Operand,
    Operation,
    Product,
    Read,
    Statement,
    Tensor,
    Term,
)
from tabla.graph.passes.framework import Condition, graph_pass
from tabla.graph.rewrite import copy_of, operand_at, summed_names, with_statements
from tabla.graph.scan import scan_count

MOST_BOXES = 256
"""The most boxes of one statement. Each is a statement with strands of its own; more would make the microcode and the
compile time too large."""

MOST_SCANS = 64
"""The most scans of one statement. Each has strands of its own; with more scans than this, boxes over all rows are
fewer."""

Ranges = tuple[tuple[str, int, int], ...]
"""The ranges [low, high) of some indices, by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """A box of outputs, and the boxes of the points that its outputs sum over, in lexicographic order."""

    outputs: Ranges
    summed: tuple[Ranges, ...]


def scans_kept(graph: Graph) -> frozenset[int]:
    """Find the statements, by number, that are computed as scans, so that they need no boxes.

    The scans of a product are steps of one strand, so their number has no limit.
    """
    found = set()
    for statement in graph.statements:
        scans = scan_count(statement)
        if 0 < scans <= MOST_SCANS or (scans and isinstance(statement.operation, Product)):
            found.add(statement.id)
    return frozenset(found)


@graph_pass(
    "index-set-splitting",
    "make a statement with constraints statements over boxes, but for those that are scans",
    condition=Condition(
        text="a statement has constraints", holds=lambda graph: any(s.constraints for s in graph.statements)
    ),
)
def split_index_sets(graph: Graph, fmt: Format) -> Graph:
    """Return the graph without constraints, but for those of the statements that are computed as scans.

    Raises `TablaError` for a statement that would become more than `MOST_BOXES` statements.
    """
    return in_boxes(graph, fmt, scans_kept(graph))


def in_boxes(graph: Graph, fmt: Format, kept: frozenset[int] = frozenset()) -> Graph:
    """Return the graph without constraints, but for those of the statements, by number, that are `kept` as they are.

    Raises `TablaError` for a statement that would become more than `MOST_BOXES` statements.
    """
    tensors, statements = dict(graph.tensors), list[Statement]()
    for statement in graph.statements:
        if not statement.constraints or statement.id in kept:
            statements.append(statement)
            continue
        for number, made in enumerate(_parts(statement)):
            statements += _Split(statement, made, number, tensors, fmt).statements()
    return with_statements(replace(graph, tensors=tensors), statements)


def _parts(statement: Statement) -> list[tuple[_Part, ...]]:
    """Return all combinations of parts of a statement, one part for each group of indices that constraints tie."""
    tied = components(statement.constraints)
    if isinstance(statement.operation, Product):
        # The order of a product goes through all its indices, so all of them are one group.
        names = frozenset(statement.operation.reduce).union(*(group for group, _ in tied))
        tied = [(names, statement.constraints)]
    groups = [_group(statement, names, members) for names, members in tied]
    total = 1
    for group in groups:
        total *= len(group)
    if total > MOST_BOXES:
        labels = (Label(statement.span, "computed here"),) if statement.span else ()
        what = ", ".join(f"{constraint} >= 0" for constraint in statement.constraints)
        raise TablaError(
            f"where {what}, '{statement.target}' consists of {total} boxes, and the machine takes {MOST_BOXES}",
            *labels,
            hint="use smaller extents, or fewer conditions that tie indices to each other",
        )
    return list(itertools.product(*groups))


def _group(statement: Statement, names: frozenset[str], constraints: tuple[Affine, ...]) -> list[_Part]:
    """Return the parts of one group of tied indices: boxes of outputs that all sum over the same points."""
    outs = [index for index in statement.indices if index.name in names]
    order = summed_names(statement.operation)
    inner = [index for index in statement.reduced if index.name in names]
    if isinstance(statement.operation, Product):
        inner.sort(key=lambda index: order.index(index.name))
    shape = [index.extent for index in (*outs, *inner)]
    mask = np.broadcast_to(satisfied(constraints, [*outs, *inner]), shape)
    written = np.broadcast_to(satisfied(applying(constraints, outs), outs), shape[: len(outs)])
    parts = []
    for box, at in _uniform(outs, (written, mask)):
        if written[at]:
            parts.append(_Part(outputs=box, summed=tuple(_filled(inner, mask[at])) if inner else ((),)))
    return parts


def _uniform(indices: Sequence[Index], arrays: Sequence[Mask]) -> Iterator[tuple[Ranges, tuple[int, ...]]]:
    """Yield boxes over which none of the arrays changes, each with one position in it."""
    if not indices:
        yield (), ()
        return
    first, begin = indices[0], 0
    for position in range(1, first.extent + 1):
        if position < first.extent and all(np.array_equal(a[position], a[begin]) for a in arrays):
            continue
        for box, at in _uniform(indices[1:], [a[begin] for a in arrays]):
            yield ((first.name, first.low + begin, first.low + position), *box), (begin, *at)
        begin = position


def _filled(indices: Sequence[Index], mask: Mask) -> Iterator[Ranges]:
    """Yield the true points of a mask as boxes, such that the points of all boxes are in lexicographic order."""
    if not indices:
        if mask:
            yield ()
        return
    first, begin = indices[0], 0
    for position in range(1, first.extent + 1):
        if position < first.extent and np.array_equal(mask[position], mask[begin]):
            continue
        rest = list(_filled(indices[1:], mask[begin]))
        # If the other axes need several boxes, a box of several values of this axis would change the order of points.
        cuts = [(begin, position)] if len(rest) < 2 else [(p, p + 1) for p in range(begin, position)]
        for low, high in cuts:
            yield from (((first.name, first.low + low, first.low + high), *box) for box in rest)
        begin = position


@dataclass(frozen=True, slots=True)
class _Split:
    """The splitting of a statement for one box of outputs, which is number `number`.

    `parts` has one part for each group of tied indices. `tensors` grows by the temporaries that are needed.
    """

    statement: Statement
    parts: tuple[_Part, ...]
    number: int
    tensors: dict[str, Tensor]
    format: Format

    def statements(self) -> list[Statement]:
        """Return the statement over this box, or several statements if its points are several boxes."""
        ranges = {name: (low, high) for part in self.parts for name, low, high in part.outputs}
        indices = tuple(_cut(index, ranges) for index in self.statement.indices)
        regions = [tuple(itertools.chain(*choice)) for choice in itertools.product(*(p.summed for p in self.parts))]
        match self.statement.operation:
            case Linear() as linear:
                return [self._made(indices, *self._sum(linear))]
            case Extreme() | Product() as reduction if reduction.reduce:
                return self._chain(indices, reduction, regions)
            case operation:
                return [self._made(indices, operation, ())]

    def _made(self, indices: tuple[Index, ...], operation: Operation, reduced: tuple[Index, ...]) -> Statement:
        return replace(self.statement, indices=indices, operation=operation, reduced=reduced, constraints=())

    def _sum(self, linear: Linear) -> tuple[Linear, tuple[Index, ...]]:
        """Return a sum with each term over its boxes, and the summed indices; a second box has indices of its own."""
        terms: list[Term] = []
        reduced: dict[str, Index] = {}
        box = self.statement.box
        groups = [names for names, _ in components(self.statement.constraints)]
        for term in linear.terms:
            tied = [part for part in self.parts if any(n in term.reduce for s in part.summed for n, _, _ in s)]
            mine = [part for part, names in zip(self.parts, groups, strict=True) if names & set(term.reduce)]
            if any(not part.summed for part in mine):
                # No point is left for the term, so it adds nothing.
                continue
            for number, choice in enumerate(itertools.product(*(part.summed for part in tied))):
                ranges = {name: (low, high) for name, low, high in itertools.chain(*choice)}
                names = {name: name if not number else f"{name}.{number}" for name in term.reduce}
                for name in term.reduce:
                    reduced[names[name]] = replace(_cut(box[name], ranges), name=names[name])
                values = {old: Affine.index(new) for old, new in names.items()}
                factors = tuple(operand_at(factor, values) for factor in term.factors)
                terms.append(replace(term, factors=factors, reduce=tuple(names[name] for name in term.reduce)))
        if not terms:
            return copy_of(Constant(value=Fraction(0))), ()
        return replace(linear, terms=tuple(terms)), tuple(reduced.values())

    def _chain(
        self, indices: tuple[Index, ...], reduction: Extreme | Product, regions: list[Ranges]
    ) -> list[Statement]:
        """Return a statement for each region of points; each begins with the word that the statement before makes."""
        box, made = self.statement.box, list[Statement]()
        initial: Operand | None = reduction.initial
        for number, region in enumerate(regions):
            ranges = {name: (low, high) for name, low, high in region}
            reduced = tuple(_cut(box[name], ranges) for name in reduction.reduce)
            step = self._made(indices, replace(reduction, initial=initial), reduced)
            if number < len(regions) - 1:
                step = self._before(step, number)
                initial = Read(tensor=step.target, subscripts=step.write)
            made.append(step)
        return made or [self._made(indices, copy_of(initial or self._neutral(reduction)), ())]

    def _before(self, step: Statement, number: int) -> Statement:
        """Return a statement that writes to a temporary instead of to its target."""
        name = f"{step.target}.b{step.id}.{self.number}.{number}"
        shape = tuple(index.extent for index in step.indices)
        self.tensors[name] = Tensor(name=name, shape=shape, role="value", origin=step.target, span=step.span)
        write = tuple(Affine.make(-index.low, {index.name: 1}) for index in step.indices)
        return replace(step, target=name, write=write)

    def _neutral(self, reduction: Extreme | Product) -> Constant:
        """Return the value of a reduction over no points."""
        if isinstance(reduction, Product):
            return Constant(value=Fraction(2) ** reduction.shift)
        word = self.format.lowest if reduction.op == "max" else self.format.highest
        return Constant(value=Fraction(word, self.format.one))


def _cut(index: Index, ranges: Mapping[str, tuple[int, int]]) -> Index:
    if index.name not in ranges:
        return index
    low, high = ranges[index.name]
    return replace(index, low=low, high=high)
