"""Every scalar operation of a small graph, one by one: the witness of `tabla.graph.operations`, which counts them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod
from typing import assert_never

import networkx as nx

from tabla.graph.constraints import applying
from tabla.graph.graph import (
    Affine,
    Compare,
    Constant,
    Divide,
    Extreme,
    Function,
    Gather,
    Graph,
    Index,
    Linear,
    Operand,
    Ordinal,
    Product,
    Read,
    Statement,
    Term,
)
from tabla.graph.operations import Operations, count_statement, kind_of, mentioned, outer, zero_or_one

MOST_SCALARS = 100_000
"""Beyond this many nodes a test would take minutes."""


def count(graph: Graph) -> Operations:
    """All statements' operations; the time grows with the text of the graph, not with its extents."""
    flags = zero_or_one(graph)
    return sum((count_statement(statement, flags) for statement in graph.statements), Operations())


@dataclass(frozen=True, slots=True, kw_only=True)
class Scalar:
    """One scalar operation on `operands` (node names, in order).

    `operation` is ``element`` (given from outside), ``constant``, ``ordinal``, ``multiply``, ``select``, ``scale`` (a
    product with a constant 0, 1 or -1), ``sum`` (of `weights` times operands, rounded), ``compare``, ``pi``,
    ``divide``, ``max``, ``min`` or a function's name. `detail` is what a reader wants beside it: the value, the
    comparison, the shift.
    """

    operation: str
    operands: tuple[str, ...] = ()
    weights: tuple[int, ...] = ()
    detail: str = ""
    statement: int | None = None


def expand(graph: Graph, most: int = MOST_SCALARS) -> nx.DiGraph[str]:
    """Every scalar operation: nodes carry a :class:`Scalar` as ``scalar``, edges lead from operand to operation.

    ``tensor[i][j]`` names the node of an element that is given from outside, and the graph attribute ``elements``
    maps every element that a statement writes to its node. More than `most` nodes: ValueError.
    """
    made = _Expansion(graph, most)
    for statement in graph.statements:
        made.statement(statement)
    made.dag.graph["elements"] = made.elements
    return made.dag


class _Expansion:
    def __init__(self, graph: Graph, most: int) -> None:
        self.dag: nx.DiGraph[str] = nx.DiGraph()
        self.elements: dict[str, str] = {}
        self._flags = zero_or_one(graph)
        self._most = most

    def statement(self, statement: Statement) -> None:
        """All its points. What does not depend on an index is made once."""
        names = outer(statement)
        for point in _inside(applying(statement.constraints, statement.indices), _points(statement.indices)):
            place = _place(statement, point, names)
            if place not in self.dag:
                self._compute(statement, point, place)
            self.elements[_element(statement.target, statement.write, point)] = place

    def _compute(self, statement: Statement, point: Mapping[str, int], place: str) -> None:
        operation = statement.operation
        match operation:
            case Linear(terms=terms, shift=shift, test=test):
                summands: list[tuple[str, int]] = []
                for number, term in enumerate(terms):
                    for whole, repeats in _reduced(statement, point, term.reduce, mentioned(term.factors)):
                        summands.append((self._term(statement, number, term, whole), term.sign * repeats))
                nodes, weights = tuple(n for n, _ in summands), tuple(w for _, w in summands)
                detail = f"2^{-shift}" if shift else ""
                added = Scalar(operation="sum", operands=nodes, weights=weights, detail=detail)
                if test is None:
                    self._add(place, added, statement)
                else:
                    self._add(f"{place}.sum", added, statement)
                    compared = Scalar(operation="compare", operands=(f"{place}.sum",), detail=f"{test} 0")
                    self._add(place, compared, statement)
            case Product(operand=operand, reduce=reduce, initial=initial, shift=shift):
                steps = [self._operand(operand, p) for p, _ in _reduced(statement, point, reduce, set(reduce))]
                before = [] if initial is None else [self._operand(initial, point)]
                scaled = f"2^{-shift}" if shift else ""
                self._add(place, Scalar(operation="pi", operands=(*before, *steps), detail=scaled), statement)
            case Extreme(op=extreme, operands=operands, reduce=reduce, initial=initial):
                words = [] if initial is None else [self._operand(initial, point)]
                for operand in operands:
                    inner = _reduced(statement, point, reduce, mentioned([operand]))
                    words += [self._operand(operand, whole) for whole, _ in inner]
                self._add(place, Scalar(operation=extreme, operands=tuple(words)), statement)
            case Compare(op=op, left=left, right=right):
                sides = self._operand(left, point), self._operand(right, point)
                self._add(place, Scalar(operation="compare", operands=sides, detail=op), statement)
            case Divide(left=left, right=right, unit=unit):
                sides = self._operand(left, point), self._operand(right, point)
                self._add(place, Scalar(operation=unit, operands=sides), statement)
            case Gather(tensor=tensor):
                # Which element it is, data decide: the tensor as a whole is the last operand.
                tables = tuple(self._operand(table, point) for table in statement.operands)
                given = self._leaf(tensor, "element", "")
                self._add(place, Scalar(operation="gather", operands=(*tables, given)), statement)
            case Function(name=name, operand=operand):
                self._add(place, Scalar(operation=name, operands=(self._operand(operand, point),)), statement)
            case _:
                assert_never(operation)

    def _term(self, statement: Statement, number: int, term: Term, point: Mapping[str, int]) -> str:
        nodes = tuple(self._operand(factor, point) for factor in term.factors)
        if len(nodes) == 1:
            return nodes[0]
        kind = {"none": "scale"}.get(kind_of(term, self._flags), kind_of(term, self._flags))
        names = sorted(mentioned(term.factors))
        place = f"{statement.id}.{number}({', '.join(f'{name}={point[name]}' for name in names)})"
        if place not in self.dag:
            self._add(place, Scalar(operation=kind, operands=nodes), statement)
        return place

    def _operand(self, operand: Operand, point: Mapping[str, int]) -> str:
        match operand:
            case Read(tensor=tensor, subscripts=subscripts):
                element = _element(tensor, subscripts, point)
                return self.elements.get(element) or self._leaf(element, "element", "")
            case Constant(value=value):
                return self._leaf(f"#{value}", "constant", str(value))
            case Ordinal(value=value, fraction=fraction):
                number = Fraction(value.at(point), 1 << fraction)
                return self._leaf(f"<{number}>", "ordinal", str(number))
            case _:
                assert_never(operand)

    def _leaf(self, name: str, operation: str, detail: str) -> str:
        if name not in self.dag:
            self.dag.add_node(name, scalar=Scalar(operation=operation, detail=detail))
        return name

    def _add(self, name: str, scalar: Scalar, statement: Statement) -> None:
        if len(self.dag) >= self._most:
            raise ValueError(f"more than {self._most} scalar operations")
        placed = Scalar(
            operation=scalar.operation,
            operands=scalar.operands,
            weights=scalar.weights,
            detail=scalar.detail,
            statement=statement.id,
        )
        self.dag.add_node(name, scalar=placed)
        self.dag.add_edges_from((operand, name) for operand in scalar.operands)


def _points(indices: Sequence[Index]) -> Iterator[dict[str, int]]:
    """Every point of a box, lexicographic."""
    names = [index.name for index in indices]
    for values in product(*(range(index.low, index.high) for index in indices)):
        yield dict(zip(names, values, strict=True))


def _reduced(
    statement: Statement, point: Mapping[str, int], reduce: Sequence[str], named: set[str]
) -> list[tuple[dict[str, int], int]]:
    """Points of a sum at an output point, of those that differ in nothing mentioned one, and how many it stands for."""
    box = statement.box
    over = [box[name] for name in reduce]
    tied = applying(statement.constraints, [*statement.indices, *over])
    if not tied:
        repeats = prod(index.extent for index in over if index.name not in named)
        return [({**point, **p}, repeats) for p in _points([index for index in over if index.name in named])]
    found: Counter[tuple[int, ...]] = Counter()
    kept = [index.name for index in over if index.name in named]
    for whole in _inside(tied, ({**point, **p} for p in _points(over))):
        found[tuple(whole[name] for name in kept)] += 1
    return [({**point, **dict(zip(kept, at, strict=True))}, repeats) for at, repeats in found.items()]


def _element(tensor: str, subscripts: Sequence[Affine], point: Mapping[str, int]) -> str:
    return tensor + "".join(f"[{subscript.at(point)}]" for subscript in subscripts)


def _place(statement: Statement, point: Mapping[str, int], names: set[str]) -> str:
    inside = ", ".join(f"{name}={value}" for name, value in point.items() if name in names)
    return f"{statement.id}({inside})"


def _inside(constraints: Sequence[Affine], at: Iterable[dict[str, int]]) -> Iterator[dict[str, int]]:
    """Those of some points at which all constraints hold."""
    return (point for point in at if all(constraint.at(point) >= 0 for constraint in constraints))
