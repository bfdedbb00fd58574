"""Gathers in an evaluation, in words or in reals: elements at positions that other elements give."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabla.base.source import Label, TablaError
from tabla.graph.constraints import applying, satisfied
from tabla.graph.graph import Gather, Gathered, Statement
from tabla.graph.masked import Operands
from tabla.graph.windows import ramp


def gathered(operands: Operands, operation: Gather, *, flat: bool = False, fraction: int = 0) -> Callable[[], None]:
    """Return a function that fills the target of a gather; with `flat`, of one of a graph with flat gathers. A position
    outside the tensor is the user's fault (`TablaError`). Tables in float64 hold positions times 2^-`fraction`.
    """
    statement = operands.statement
    source: NDArray[Any] = operands.buffers[operation.tensor]
    outer = applying(statement.constraints, statement.indices)
    mask = satisfied(outer, statement.indices)
    axes: list[tuple[NDArray[Any] | None, NDArray[np.int64]]] = []
    for subscript in operation.subscripts:
        if isinstance(subscript, Gathered):
            axes.append((operands.outputs(subscript.table), ramp(subscript.offset, statement.indices)))
        else:
            axes.append((None, ramp(subscript, statement.indices)))

    scale = 1 << fraction

    def run() -> None:
        places = []
        for axis, (table, offset) in enumerate(axes):
            given = offset if table is None else (table * scale).astype(np.int64) + offset
            held = np.where(mask, given, 0)
            if flat:
                places.append(held)
                continue
            if held.min() < 0 or held.max() >= source.shape[axis]:
                outside = held[(held < 0) | (held >= source.shape[axis])]
                refuse(statement, operation, axis, int(outside.flat[0]), source.shape[axis])
            places.append(held)
        if flat:
            places = list(_unflat(places, source.shape, operation.tensor))
        operands.target[...] = source[tuple(places)]

    return run


def _unflat(parts: list[NDArray[np.int64]], shape: tuple[int, ...], tensor: str) -> tuple[NDArray[np.int64], ...]:
    """Return positions on each axis for the parts of positions that are counted in words of the row-major tensor."""
    strides = (prod(shape[axis + 1 :]) for axis in range(len(shape)))
    position = sum((part * stride for part, stride in zip(parts, strides, strict=True)), start=np.int64(0))
    if position.min() < 0 or position.max() >= prod(shape):
        raise TablaError(
            f"'{tensor}' is read at word {int(position.min())} to {int(position.max())}, and has {prod(shape)}",
            hint=f"positions are integers from 0 to {prod(shape) - 1}",
        )
    return np.unravel_index(position, shape)


def refuse(statement: Statement, operation: Gather, axis: int, position: int, extent: int) -> None:
    """Raise the `TablaError` of a position outside an axis of `extent` elements."""
    table = operation.subscripts[axis]
    name = table.table.tensor if isinstance(table, Gathered) else str(table)
    message = f"'{name}' gives position {position} on axis {axis} of '{operation.tensor}', which has {extent}"
    if "." in name:
        # A temporary has a name that the program does not know.
        message = f"'{operation.tensor}' is read at position {position} on axis {axis}, which has {extent}"
    raise TablaError(
        message,
        *([Label(statement.span, "read here")] if statement.span else []),
        hint=f"positions are integers from 0 to {extent - 1}; read others under a condition that leaves them out",
    )
