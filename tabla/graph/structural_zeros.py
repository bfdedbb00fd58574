"""Elements that are 0 whatever the data are: no statement writes them, or only a 0 or a sum of products with such a 0.

A derivative is 0 where the loss does not depend on an element, and the graph shows it so.
"""

from __future__ import annotations

import numpy as np

from tabla.graph.accesses import adds_to, reached, write_of
from tabla.graph.constraints import MOST_POINTS, Mask
from tabla.graph.graph import Constant, Graph, Index, Linear, Operand, Read, Statement
from tabla.graph.windows import ramp


def changing(graph: Graph) -> dict[str, Mask]:
    """Return, for each tensor, at which elements data may decide what it holds. All others are 0.

    For the next value of a model, they are the elements to which its update may add something else than 0. A statement
    with constraints, and a larger one than `tabla.graph.constraints.MOST_POINTS` points, counts as one that may write
    anything.
    """
    found: dict[str, Mask] = {}
    for name, tensor in graph.tensors.items():
        given = tensor.role in ("input", "label", "model", "constant")
        found[name] = np.full(tensor.shape, given, dtype=np.bool_)
    for statement in graph.statements:
        target = found[statement.target]
        mask = _changes(statement, graph, found)
        if mask is None:
            target |= reached(graph.tensors[statement.target], [write_of(statement)])
        elif mask.any():
            places = tuple(ramp(subscript, statement.indices) for subscript in statement.write)
            shape = tuple(index.extent for index in statement.indices)
            chosen = np.broadcast_to(mask, shape)
            target[tuple(np.broadcast_to(place, shape)[chosen] for place in places)] = True
    return found


def _changes(statement: Statement, graph: Graph, found: dict[str, Mask]) -> Mask | None:
    """Return at which points of its outputs a statement may compute something else than 0, or None for all points."""
    operation = statement.operation
    if not isinstance(operation, Linear) or operation.test is not None or statement.constraints:
        return None
    box = statement.box
    total: Mask = np.zeros((1,) * len(statement.indices), dtype=np.bool_)
    plain = [t for t in operation.terms if len(t.factors) == 1 and t.sign == 1 and not t.reduce]
    added = [t for t in plain if adds_to(statement, t.factors[0], graph)]
    if graph.tensors[statement.target].role == "next" and len(added) != 1:
        return None
    for term in operation.terms:
        if term in added:
            continue
        if all(_whole(factor, found) for factor in term.factors):
            return None
        over = [*statement.indices, *(box[name] for name in term.reduce)]
        points = 1
        for index in over:
            points *= index.extent
        if points > MOST_POINTS:
            return None
        mask: Mask = np.ones((1,) * len(over), dtype=np.bool_)
        for factor in term.factors:
            mask = mask & _at(factor, over, found)
        total = total | mask.any(axis=tuple(range(len(statement.indices), len(over))))
    return total


def _whole(factor: Operand, found: dict[str, Mask]) -> bool:
    """Return whether no element of an operand is known to be 0."""
    match factor:
        case Read(tensor=tensor):
            return bool(found[tensor].all())
        case Constant(value=value):
            return value != 0
        case _:
            return True


def _at(factor: Operand, over: list[Index], found: dict[str, Mask]) -> Mask:
    """Return at which points of a box an operand may be something else than 0."""
    match factor:
        case Read(tensor=tensor, subscripts=subscripts):
            return np.asarray(found[tensor][tuple(ramp(subscript, over) for subscript in subscripts)])
        case Constant(value=value):
            return np.full((1,) * len(over), value != 0, dtype=np.bool_)
        case _:
            return np.ones((1,) * len(over), dtype=np.bool_)
