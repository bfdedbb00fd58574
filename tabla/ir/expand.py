"""Scalar operations: how many a graph has, in closed form, and, for small graphs, each of them.

What is counted is the least that any machine must do. An operation whose operands do not mention an index gives the
same for all its values and counts once. Per statement:

- a term of two factors is a *multiply*; with a factor that is always 0 or 1 (a comparison's result, or a product or
  copy of such) it is a *select*, with a constant 0, 1 or -1 neither;
- a sum of n summands makes n - 1 *additions*; a summed index that a term does not mention scales its summand;
- `pi` over n points makes n - 1 multiplies (n with an initial word), the largest or smallest of n words n - 1
  comparisons; comparisons, functions and divisions count as themselves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from math import prod
from typing import assert_never

import networkx as nx
import numpy as np

from tabla.ir.constraints import applying, inside, reached
from tabla.ir.constraints import points as points_of
from tabla.ir.graph import (
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

MOST_SCALARS = 100_000
"""Beyond this many nodes neither a reader nor a picture is served."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operations:
    """Numbers of scalar operations; `functions` by name, divisions under ``divide``, of integers ``quotient``."""

    multiplies: int = 0
    selects: int = 0
    additions: int = 0
    comparisons: int = 0
    functions: Mapping[str, int] = field(default_factory=dict)

    def __add__(self, other: Operations) -> Operations:
        functions = Counter(self.functions)
        functions.update(other.functions)
        return Operations(
            multiplies=self.multiplies + other.multiplies,
            selects=self.selects + other.selects,
            additions=self.additions + other.additions,
            comparisons=self.comparisons + other.comparisons,
            functions=dict(sorted(functions.items())),
        )


def count(graph: Graph) -> Operations:
    """All statements' operations; the time grows with the text of the graph, not with its extents."""
    flags = zero_or_one(graph)
    return sum((count_statement(statement, flags) for statement in graph.statements), Operations())


def count_statement(statement: Statement, flags: frozenset[str]) -> Operations:
    """The operations of one statement; `flags` are the tensors that :func:`zero_or_one` names."""
    outputs = _outer(statement)
    points = points_of(statement, outputs)
    operation = statement.operation
    match operation:
        case Linear(terms=terms, test=test):
            made = Counter({kind: 0 for kind in ("multiply", "select", "none")})
            for term in terms:
                mentioned = _mentioned(term.factors) & set(statement.box)
                made[_kind(term, flags)] += points_of(statement, mentioned, term.reduce)
            additions = _joined(statement, [(_mentioned(term.factors), term.reduce) for term in terms])
            return Operations(
                multiplies=made["multiply"],
                selects=made["select"],
                additions=additions,
                comparisons=points if test is not None else 0,
            )
        case Product(reduce=reduce, initial=initial):
            return Operations(multiplies=_joined(statement, [(set(reduce), reduce), *_alone(initial)]))
        case Extreme(operands=operands, reduce=reduce, initial=initial):
            words = [(_mentioned([operand]), reduce) for operand in operands]
            return Operations(comparisons=_joined(statement, [*words, *_alone(initial)]))
        case Compare():
            return Operations(comparisons=points)
        case Function(name=name):
            return Operations(functions={name: points})
        case Divide(unit=unit):
            return Operations(functions={unit: points})
        case Gather():
            return Operations()
        case _:
            assert_never(operation)


def _outer(statement: Statement) -> set[str]:
    """The output indices on which the words depend: what operands mention, and what ties their sums."""
    summed = {index.name for index in statement.reduced}
    tied = {name for c in statement.constraints if summed.intersection(c.names) for name in c.names}
    return (_mentioned(statement.operands) | tied) - summed


def _alone(initial: Operand | None) -> list[tuple[set[str], tuple[str, ...]]]:
    """An initial word is one more, for itself."""
    return [] if initial is None else [(set(), ())]


def _joined(statement: Statement, parts: Sequence[tuple[set[str], tuple[str, ...]]]) -> int:
    """How many operations join n words into one, n - 1 each; `parts` are what a word mentions and is reduced over."""
    outputs = _outer(statement)
    words = sum(points_of(statement, outputs | (set(reduce) & mentioned), reduce) for mentioned, reduce in parts)
    if not statement.constraints:
        return words - points_of(statement, outputs)
    begun = np.broadcast_to(
        reached(statement, [reduce for _, reduce in parts]), [index.extent for index in statement.indices]
    )
    away = tuple(axis for axis, index in enumerate(statement.indices) if index.name not in outputs)
    return words - int(np.count_nonzero(begun.any(axis=away)))


def zero_or_one(graph: Graph) -> frozenset[str]:
    """Tensors whose words are all 0 or 1: written by comparisons, or by copies and products of such."""
    written: set[str] = set()
    flags: set[str] = set()
    for statement in graph.statements:
        match statement.operation:
            case Compare() | Linear(test="<" | ">="):
                flag = True
            case Linear(terms=(Term(sign=1, reduce=(), factors=factors),), shift=0):
                flag = all(_is_flag(factor, flags) for factor in factors)
            case _:
                flag = False
        if not flag:
            flags.discard(statement.target)
        elif statement.target not in written:
            flags.add(statement.target)
        written.add(statement.target)
    values = {name for name, tensor in graph.tensors.items() if tensor.role == "value"}
    return frozenset(flags & values)


def _is_flag(operand: Operand, flags: Set[str]) -> bool:
    match operand:
        case Read(tensor=tensor):
            return tensor in flags
        case Constant(value=value):
            return value in (0, 1)
        case Ordinal():
            return False
        case _:
            assert_never(operand)


def _kind(term: Term, flags: frozenset[str]) -> str:
    if len(term.factors) == 1 or any(isinstance(f, Constant) and f.value in (0, 1, -1) for f in term.factors):
        return "none"
    return "select" if any(_is_flag(factor, flags) for factor in term.factors) else "multiply"


def _mentioned(operands: Sequence[Operand]) -> set[str]:
    """The indices that operands depend on."""
    names: set[str] = set()
    for operand in operands:
        match operand:
            case Read(subscripts=subscripts):
                names.update(name for subscript in subscripts for name in subscript.names)
            case Ordinal(value=value):
                names.update(value.names)
            case Constant():
                pass
            case _:
                assert_never(operand)
    return names


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
        names = _outer(statement)
        for point in inside(applying(statement.constraints, statement.indices), _points(statement.indices)):
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
                    for whole, repeats in _reduced(statement, point, term.reduce, _mentioned(term.factors)):
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
                    inner = _reduced(statement, point, reduce, _mentioned([operand]))
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
        kind = {"none": "scale"}.get(_kind(term, self._flags), _kind(term, self._flags))
        mentioned = sorted(_mentioned(term.factors))
        place = f"{statement.id}.{number}({', '.join(f'{name}={point[name]}' for name in mentioned)})"
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
    statement: Statement, point: Mapping[str, int], reduce: Sequence[str], mentioned: set[str]
) -> list[tuple[dict[str, int], int]]:
    """Points of a sum at an output point, of those that differ in nothing mentioned one, and how many it stands for."""
    box = statement.box
    over = [box[name] for name in reduce]
    tied = applying(statement.constraints, [*statement.indices, *over])
    if not tied:
        repeats = prod(index.extent for index in over if index.name not in mentioned)
        return [({**point, **p}, repeats) for p in _points([index for index in over if index.name in mentioned])]
    found: Counter[tuple[int, ...]] = Counter()
    kept = [index.name for index in over if index.name in mentioned]
    for whole in inside(tied, ({**point, **p} for p in _points(over))):
        found[tuple(whole[name] for name in kept)] += 1
    return [({**point, **dict(zip(kept, at, strict=True))}, repeats) for at, repeats in found.items()]


def _element(tensor: str, subscripts: Sequence[Affine], point: Mapping[str, int]) -> str:
    return tensor + "".join(f"[{subscript.at(point)}]" for subscript in subscripts)


def _place(statement: Statement, point: Mapping[str, int], names: set[str]) -> str:
    inside = ", ".join(f"{name}={value}" for name, value in point.items() if name in names)
    return f"{statement.id}({inside})"
