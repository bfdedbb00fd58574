"""Flat gathers: every gather takes its positions from one table, counted in words of the row-major tensor.

A gather whose data decide the innermost axis alone reads its table as it is, unless the static part of its positions
leaves the tensor. Any other gather gets a new tensor of positions: integers, each the sum of its tables' words times
the strides of their axes, and of what the static part has outside the tensor.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from tabla.base.source import Label, TablaError
from tabla.graph.format import Format
from tabla.graph.graph import (
    Affine,
    Constant,
    Gather,
    Gathered,
    Graph,
    Index,
    Linear,
    Ordinal,
    Read,
    Scatter,
    Statement,
    Tensor,
    Term,
    landing_box,
    offsets_of,
)
from tabla.graph.passes.framework import graph_pass
from tabla.graph.passes.legalise.static_gathers import GATHERS
from tabla.graph.rewrite import new_name, operation_at, with_statements


@graph_pass(
    "flat-gathers",
    "take each position of a gather from one table, counted in words of the tensor",
    condition=GATHERS,
)
def flatten_gathers(graph: Graph, fmt: Format) -> Graph:
    """Return the graph with flat gathers.

    Raises `TablaError` for a gathered tensor with more words than the largest integer that a word can be, and for a
    static part that words cannot hold.
    """
    flat = _Flat(tensors=dict(graph.tensors), format=fmt)
    statements = [each for statement in graph.statements for each in flat.statements(statement)]
    return with_statements(replace(graph, tensors=flat.tensors, flat_gathers=True), statements)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Flat:
    """The making of flat gathers and scatters. `known` has the tensors of positions that are computed already."""

    tensors: dict[str, Tensor]
    format: Format
    known: dict[tuple[object, ...], str] = field(default_factory=dict)

    def statements(self, statement: Statement) -> Iterator[Statement]:
        """Yield the statements of new positions, and then the statement with flat positions."""
        operation = statement.operation
        match operation:
            case Gather(tensor=tensor, subscripts=subscripts):
                made, subscripts = self._subscripts(statement, tensor, subscripts, statement.indices)
                yield from made
                yield replace(statement, operation=replace(operation, subscripts=subscripts))
            case Scatter(kept=kept):
                landings = []
                for landing in operation.landings:
                    box = landing_box(statement, landing)
                    made, subscripts = self._subscripts(statement, kept.tensor, landing.subscripts, box)
                    yield from made
                    landings.append(replace(landing, subscripts=subscripts))
                yield replace(statement, operation=replace(operation, landings=tuple(landings)))
            case _:
                yield statement

    def _subscripts(
        self, statement: Statement, tensor: str, subscripts: Sequence[Affine | Gathered], box: Sequence[Index]
    ) -> tuple[list[Statement], tuple[Affine | Gathered, ...]]:
        """Return flat subscripts of a tensor over a box, and the statement of their positions if it is a new one."""
        fmt, shape, size = self.format, self.tensors[tensor].shape, self.tensors[tensor].size
        strides = [1] * len(shape)
        for axis in range(len(shape) - 1, 0, -1):
            strides[axis - 1] = strides[axis] * shape[axis]
        offsets = offsets_of(subscripts)
        pairs = zip(subscripts, strides, strict=True)
        tables = [(s.table, stride) for s, stride in pairs if isinstance(s, Gathered)]
        if not tables:
            raise AssertionError(f"statement {statement.id} gathers by no table")
        static = sum((offset * stride for offset, stride in zip(offsets, strides, strict=True)), Affine())
        lowest, highest = static.bounds({index.name: index for index in box})
        inside = lowest >= 0 and highest < size
        if len(tables) == 1 and tables[0][1] == 1 and inside:
            return [], tuple(subscripts)
        labels = (Label(statement.span, "read here"),) if statement.span else ()
        if size - 1 > fmt.highest:
            raise TablaError(
                f"'{tensor}' has {size} words, more than a word of {fmt} can count",
                *labels,
                hint="use a wider format",
            )
        # The machine adds the position to an address, and that address must lie in the tensor whatever the position is.
        # So a static part that leaves the tensor joins the sum of the positions: its lowest value if that suffices,
        # else all of it.
        joins = Affine() if inside else Affine.of(lowest) if highest - lowest < size else static
        terms = [Term(factors=(table, _integer(stride, fmt))) for table, stride in tables]
        terms += _addends(joins, statement, box, fmt, labels)
        names = {name for table, _ in tables for s in table.subscripts for name in s.names} | set(joins.names)
        own = tuple(index for index in box if index.name in names)
        made, name = self._positions(statement, own, terms)
        left = [Affine() for _ in shape] if joins == static else [*offsets[:-1], offsets[-1] - joins]
        place = tuple(Affine.make(-index.low, {index.name: 1}) for index in own)
        gathered = Gathered(table=Read(tensor=name, subscripts=place), offset=left[-1])
        return made, (*left[:-1], gathered)

    def _positions(
        self, statement: Statement, own: Sequence[Index], terms: Sequence[Term]
    ) -> tuple[list[Statement], str]:
        """Return the statement of the positions of a statement, and its tensor; no statement where it exists."""
        positions = Linear(terms=tuple(terms), shift=-self.format.fraction)
        numbers = {index.name: Affine.index(f"axis{number}") for number, index in enumerate(own)}
        key = operation_at(positions, numbers), tuple((index.low, index.high) for index in own)
        if key in self.known:
            return [], self.known[key]
        place = tuple(Affine.make(-index.low, {index.name: 1}) for index in own)
        name = new_name(f"{statement.target}.at{statement.id}", self.tensors)
        self.tensors[name] = Tensor(
            name=name,
            shape=tuple(index.extent for index in own),
            role="value",
            origin=statement.target,
            span=statement.span,
        )
        self.known[key] = name
        made = replace(
            statement, target=name, write=place, indices=tuple(own), reduced=(), operation=positions, constraints=()
        )
        return [made], name


def _addends(
    joins: Affine, statement: Statement, box: Sequence[Index], fmt: Format, labels: Sequence[Label]
) -> Iterator[Term]:
    """Yield terms whose sum is the static part that joins the positions. Raises `TablaError` if words cannot hold it.

    A position and a word of a table lie between the lowest and the highest word. So the static part between them is at
    most two words.
    """
    lowest, highest = joins.bounds({index.name: index for index in box})
    if not joins.coefficients:
        for _ in range(2):
            word = fmt.saturate(lowest)
            if word:
                yield Term(factors=(_integer(word, fmt), _integer(1, fmt)))
            lowest = highest = lowest - word
    elif fmt.lowest <= lowest and highest <= fmt.highest:
        yield Term(factors=(Ordinal(value=joins, fraction=fmt.fraction),))
        return
    if lowest or highest:
        raise TablaError(
            f"positions in '{statement.target}' lie further from the words of their table than a word of {fmt} counts",
            *labels,
            hint="use a wider format, or a table with positions nearer to those that are read",
        )


def _integer(value: int, fmt: Format) -> Constant:
    """Return the constant whose word is an integer."""
    return Constant(value=Fraction(value, fmt.one))
