"""Flat gathers: every gather takes its positions from one table, counted in words of the row-major tensor.

A gather whose data decide the innermost axis alone reads its table as it is, unless the static part of its positions
leaves the tensor. Any other gather gets a new tensor of positions: integers, each the sum of its tables' words times
the strides of their axes, and of what the static part has outside the tensor.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from tabla.base.source import Label, TablaError
from tabla.graph.format import Format
from tabla.graph.graph import Affine, Constant, Gather, Gathered, Graph, Linear, Ordinal, Read, Statement, Tensor, Term
from tabla.graph.passes.framework import graph_pass
from tabla.graph.passes.legalise.static_gathers import GATHERS
from tabla.graph.rewrite import with_statements


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
    tensors, statements = dict(graph.tensors), list[Statement]()
    for statement in graph.statements:
        if isinstance(statement.operation, Gather):
            statements += _gather(statement, statement.operation, tensors, fmt)
        else:
            statements.append(statement)
    return with_statements(replace(graph, tensors=tensors, flat_gathers=True), statements)


def _gather(statement: Statement, operation: Gather, tensors: dict[str, Tensor], fmt: Format) -> list[Statement]:
    """Return a gather as it is if it is flat, else the statement of its positions and the flat gather."""
    shape, size = tensors[operation.tensor].shape, tensors[operation.tensor].size
    strides = [1] * len(shape)
    for axis in range(len(shape) - 1, 0, -1):
        strides[axis - 1] = strides[axis] * shape[axis]
    offsets = [s.offset if isinstance(s, Gathered) else s for s in operation.subscripts]
    pairs = zip(operation.subscripts, strides, strict=True)
    tables = [(s.table, stride) for s, stride in pairs if isinstance(s, Gathered)]
    if not tables:
        raise AssertionError(f"statement {statement.id} gathers by no table")
    static = sum((offset * stride for offset, stride in zip(offsets, strides, strict=True)), Affine())
    lowest, highest = static.bounds(statement.box)
    inside = lowest >= 0 and highest < size
    if len(tables) == 1 and tables[0][1] == 1 and inside:
        return [statement]
    labels = (Label(statement.span, "read here"),) if statement.span else ()
    if size - 1 > fmt.highest:
        raise TablaError(
            f"'{operation.tensor}' has {size} words, more than a word of {fmt} can count",
            *labels,
            hint="use a wider format",
        )
    # The machine adds the position to an address, and that address must lie in the tensor whatever the position is. So
    # a static part that leaves the tensor joins the sum of the positions: its lowest value if that suffices, else all
    # of it.
    joins = Affine() if inside else Affine.of(lowest) if highest - lowest < size else static
    terms = [Term(factors=(table, _integer(stride, fmt))) for table, stride in tables]
    terms += _addends(joins, statement, fmt, labels)
    names = {name for table, _ in tables for s in table.subscripts for name in s.names} | set(joins.names)
    own = tuple(index for index in statement.indices if index.name in names)
    place = tuple(Affine.make(-index.low, {index.name: 1}) for index in own)
    name = f"{statement.target}.at{statement.id}"
    tensors[name] = Tensor(
        name=name, shape=tuple(i.extent for i in own), role="value", origin=statement.target, span=statement.span
    )
    positions = replace(
        statement,
        target=name,
        write=place,
        indices=own,
        operation=Linear(terms=tuple(terms), shift=-fmt.fraction),
        constraints=(),
    )
    left = [Affine() for _ in shape] if joins == static else [*offsets[:-1], offsets[-1] - joins]
    gathered = Gathered(table=Read(tensor=name, subscripts=place), offset=left[-1])
    return [positions, replace(statement, operation=replace(operation, subscripts=(*left[:-1], gathered)))]


def _addends(joins: Affine, statement: Statement, fmt: Format, labels: Sequence[Label]) -> Iterator[Term]:
    """Yield terms whose sum is the static part that joins the positions. Raises `TablaError` if words cannot hold it.

    A position and a word of a table lie between the lowest and the highest word. So the static part between them is at
    most two words.
    """
    lowest, highest = joins.bounds(statement.box)
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
