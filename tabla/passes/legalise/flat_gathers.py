"""Flat gathers: every gather takes its positions from one table, counted in words of the row-major tensor.

A gather whose data decide the innermost axis alone reads its table as it is. Any other gather gets a new tensor of
positions: integers, each the sum of its tables' words times the strides of their axes.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from tabla.ir.format import Format
from tabla.ir.graph import Affine, Constant, Gather, Gathered, Graph, Linear, Read, Statement, Tensor, Term
from tabla.ir.rewrite import with_statements
from tabla.source import Label, TablaError


def flatten_gathers(graph: Graph, fmt: Format) -> Graph:
    """Return the graph with flat gathers.

    Raises `TablaError` for a gathered tensor with more words than the largest integer that a word can be.
    """
    if not any(isinstance(statement.operation, Gather) for statement in graph.statements):
        return graph
    tensors, statements = dict(graph.tensors), list[Statement]()
    for statement in graph.statements:
        if isinstance(statement.operation, Gather):
            statements += _gather(statement, statement.operation, tensors, fmt)
        else:
            statements.append(statement)
    return with_statements(replace(graph, tensors=tensors), statements)


def _gather(statement: Statement, operation: Gather, tensors: dict[str, Tensor], fmt: Format) -> list[Statement]:
    """Return a gather as it is if it is flat, else the statement of its positions and the flat gather."""
    shape = tensors[operation.tensor].shape
    strides = [1] * len(shape)
    for axis in range(len(shape) - 1, 0, -1):
        strides[axis - 1] = strides[axis] * shape[axis]
    offsets = [s.offset if isinstance(s, Gathered) else s for s in operation.subscripts]
    pairs = list(zip(operation.subscripts, strides, strict=True))
    tables = [(s.table, stride) for s, stride in pairs if isinstance(s, Gathered)]
    lowest = sum(o.bounds(statement.box)[0] * stride for o, stride in zip(offsets, strides, strict=True))
    if not tables:
        raise AssertionError(f"statement {statement.id} gathers by no table")
    if len(tables) == 1 and tables[0][1] == 1 and lowest >= 0:
        return [statement]
    if tensors[operation.tensor].size - 1 > fmt.highest:
        labels = (Label(statement.span, "read here"),) if statement.span else ()
        raise TablaError(
            f"'{operation.tensor}' has {tensors[operation.tensor].size} words, more than a word of {fmt} can count",
            *labels,
            hint="use a wider format",
        )
    name = f"{statement.target}.at{statement.id}"
    own = tuple(
        index
        for index in statement.indices
        if any(index.name in s.names for table, _ in tables for s in table.subscripts)
    )
    place = tuple(Affine.make(-index.low, {index.name: 1}) for index in own)
    tensors[name] = Tensor(
        name=name, shape=tuple(i.extent for i in own), role="value", origin=statement.target, span=statement.span
    )
    terms = [Term(factors=(table, _integer(stride, fmt))) for table, stride in tables]
    if lowest < 0:
        # The machine's addresses are not negative. So an offset that lies before the first word joins the sum of the
        # positions, and is taken off the gather's own offset.
        terms.append(Term(factors=(_integer(lowest, fmt), _integer(1, fmt))))
    positions = replace(
        statement,
        target=name,
        write=place,
        indices=own,
        operation=Linear(terms=tuple(terms), shift=-fmt.fraction),
        constraints=(),
    )
    moved = list[Affine | Gathered](offsets)
    last = offsets[-1]
    if lowest < 0:
        last = Affine(constant=last.constant - lowest, coefficients=last.coefficients)
    moved[-1] = Gathered(table=Read(tensor=name, subscripts=place), offset=last)
    return [positions, replace(statement, operation=replace(operation, subscripts=tuple(moved)))]


def _integer(value: int, fmt: Format) -> Constant:
    """Return the constant whose word is an integer."""
    return Constant(value=Fraction(value, fmt.one))
