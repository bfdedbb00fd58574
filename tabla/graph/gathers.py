"""Gathers in an evaluation, in words or in reals: elements at positions that other elements give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabla.base.source import Label, TablaError
from tabla.graph.constraints import applying, satisfied
from tabla.graph.graph import Affine, Gather, Gathered, Index, Scatter, Statement, landing_box
from tabla.graph.masked import Operands
from tabla.graph.windows import ramp


def gathered(operands: Operands, operation: Gather, *, flat: bool = False, fraction: int = 0) -> Callable[[], None]:
    """Return a function that fills the target of a gather; with `flat`, of one of a graph with flat gathers. A position
    outside the tensor is the user's fault (`TablaError`). Tables in float64 hold positions times 2^-`fraction`.
    """
    source: NDArray[Any] = operands.buffers[operation.tensor]
    placed = _Places(operands, operation.tensor, operation.subscripts, operands.statement.indices, flat, 1 << fraction)

    def run() -> None:
        operands.target[...] = source[placed.now()]

    return run


def scattered(operands: Operands, operation: Scatter, *, flat: bool = False, fraction: int = 0) -> Callable[[], None]:
    """Return a function that fills the target of a scatter, as `gathered` does for a gather."""
    statement, kept = operands.statement, operands.outputs(operation.kept)
    whole: NDArray[Any] = operands.buffers[statement.target]
    landings = []
    for landing in operation.landings:
        box = landing_box(statement, landing)
        placed = _Places(operands, operation.kept.tensor, landing.subscripts, box, flat, 1 << fraction)
        shape = tuple(index.extent for index in box)
        landings.append((placed, operands.array(landing.value, box), shape))

    def run() -> None:
        operands.target[...] = kept
        for placed, words, shape in landings:
            # Of several words for one place, numpy leaves the last.
            whole[tuple(np.broadcast_to(at, shape) for at in placed.now())] = np.broadcast_to(words, shape)

    return run


class _Places:
    """The places that subscripts name over a box: one array for each axis of the tensor."""

    def __init__(
        self,
        operands: Operands,
        tensor: str,
        subscripts: Sequence[Affine | Gathered],
        box: Sequence[Index],
        flat: bool,
        scale: int,
    ) -> None:
        statement = operands.statement
        self.statement, self.tensor, self.subscripts, self.flat, self.scale = statement, tensor, subscripts, flat, scale
        self.shape = operands.buffers[tensor].shape
        self.mask = satisfied(applying(statement.constraints, box), box)
        self.axes: list[tuple[NDArray[Any] | None, NDArray[np.int64]]] = []
        for subscript in subscripts:
            if isinstance(subscript, Gathered):
                self.axes.append((operands.array(subscript.table, box), ramp(subscript.offset, box)))
            else:
                self.axes.append((None, ramp(subscript, box)))

    def now(self) -> tuple[NDArray[np.int64], ...]:
        """Return the places for the words that the tables hold. One outside the tensor is a `TablaError`."""
        places = []
        for axis, (table, offset) in enumerate(self.axes):
            given = offset if table is None else (table * self.scale).astype(np.int64) + offset
            held = np.where(self.mask, given, 0)
            if not self.flat and (held.min() < 0 or held.max() >= self.shape[axis]):
                outside = held[(held < 0) | (held >= self.shape[axis])]
                refuse(self.statement, self.tensor, self.subscripts[axis], axis, int(outside.flat[0]), self.shape[axis])
            places.append(held)
        return _unflat(places, self.shape, self.tensor) if self.flat else tuple(places)


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


def refuse(
    statement: Statement, tensor: str, subscript: Affine | Gathered, axis: int, position: int, extent: int
) -> None:
    """Raise the `TablaError` of a position outside an axis of `extent` elements."""
    name = subscript.table.tensor if isinstance(subscript, Gathered) else str(subscript)
    message = f"'{name}' gives position {position} on axis {axis} of '{tensor}', which has {extent}"
    if "." in name:
        # A temporary has a name that the program does not know.
        message = f"'{tensor}' is read at position {position} on axis {axis}, which has {extent}"
    raise TablaError(
        message,
        *([Label(statement.span, "read here")] if statement.span else []),
        hint=f"positions are integers from 0 to {extent - 1}; read others under a condition that leaves them out",
    )
