"""What the statements of a graph read and write, as elements of tensors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabla.base.source import Span
from tabla.graph.constraints import Mask, TooManyPoints, applying, coordinates, ends, points, possible, values
from tabla.graph.graph import Affine, Gather, Graph, Index, Operand, Read, Statement, Tensor
from tabla.graph.verify import operands_with_indices
from tabla.graph.windows import ramp


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """The elements that one operand of a statement reads, or that the statement writes, over a box of `indices`."""

    tensor: str
    subscripts: tuple[Affine, ...]
    statement: Statement
    indices: tuple[Index, ...]
    span: Span | None = None

    @property
    def constraints(self) -> tuple[Affine, ...]:
        """The constraints of the statement that mention nothing but the indices of this access."""
        return applying(self.statement.constraints, self.indices)

    def ends(self, axis: int) -> tuple[int, int] | None:
        """Return the first and the last position on an axis, or None where the constraints leave no point."""
        return ends(self.subscripts[axis], self.constraints, self.indices)

    def index(self, name: str) -> Index:
        """Return an index of the access by its name."""
        return next(index for index in self.indices if index.name == name)

    def step(self, axis: int) -> int:
        """Return how many elements a subscript moves on at once. Fewer than that may be left over at an end."""
        several = [abs(c) for name, c in self.subscripts[axis].coefficients if self.index(name).extent > 1]
        return max(several, default=1)


def is_written_whole(graph: Graph, tensor: str) -> bool:
    """Say whether the statements that write a tensor write every element of it."""
    written = sum(points(s, [index.name for index in s.indices]) for s in graph.writers(tensor))
    return written >= graph.tensors[tensor].size


def write_of(statement: Statement) -> Access:
    """Return the elements that a statement writes."""
    return Access(
        tensor=statement.target,
        subscripts=statement.write,
        statement=statement,
        indices=statement.indices,
        span=statement.span,
    )


def reads_of(statement: Statement, graph: Graph) -> Iterator[Access]:
    """Yield what a statement reads, in order. An update does not read the element that it adds to."""
    for operand, indices in operands_with_indices(statement):
        if isinstance(operand, Read) and not adds_to(statement, operand, graph):
            yield Access(
                tensor=operand.tensor,
                subscripts=operand.subscripts,
                statement=statement,
                indices=indices,
                span=operand.span,
            )
    if isinstance(statement.operation, Gather):
        # Data decide the positions, so every element may be read.
        shape = graph.tensors[statement.operation.tensor].shape
        whole = tuple(Index(name=f"axis{axis}", low=0, high=extent) for axis, extent in enumerate(shape))
        yield Access(
            tensor=statement.operation.tensor,
            subscripts=tuple(Affine.index(index.name) for index in whole),
            statement=statement,
            indices=whole,
            span=statement.span,
        )


def adds_to(statement: Statement, operand: Operand, graph: Graph) -> bool:
    """Return whether an operand is the element of the model that a statement updates."""
    if graph.tensors[statement.target].role != "next" or not isinstance(operand, Read):
        return False
    return operand.tensor == graph.owner(statement.target) and operand.subscripts == statement.write


def spread(subscripts: tuple[Affine, ...], index: str) -> tuple[int, int] | None:
    """Return the axis that spreads over lanes if `index` does, and the offset of the index there.

    One subscript must be the index plus a constant, and no other subscript may mention it; else the result is None.
    """
    axes = [d for d, s in enumerate(subscripts) if index in s.names]
    if len(axes) != 1 or subscripts[axes[0]].names != (index,) or subscripts[axes[0]].coefficient(index) != 1:
        return None
    return axes[0], subscripts[axes[0]].constant


def reached(tensor: Tensor, accesses: Iterable[Access]) -> Mask:
    """Return which elements of a tensor some access reaches.

    An access that constraints tie to more than `tabla.graph.constraints.MOST_POINTS` points counts as all elements.
    """
    mask = np.zeros(tensor.shape, dtype=np.bool_)
    for access in accesses:
        _mark(mask, access)
    return mask


def _mark(mask: Mask, access: Access) -> None:
    box = {index.name: index for index in access.indices}
    mentioned = [name for subscript in access.subscripts for name in subscript.names]
    try:
        if access.constraints and not possible(access.constraints, access.indices):
            return
        if all(set(mentioned).isdisjoint(c.names) for c in access.constraints) and len(set(mentioned)) == len(
            mentioned
        ):
            # Nothing ties two axes, so the elements are a product of positions.
            if all(len(subscript.names) <= 1 for subscript in access.subscripts):
                mask[tuple(_slice(subscript, box) for subscript in access.subscripts)] = True
            else:
                mask[np.ix_(*(_positions(subscript, box) for subscript in access.subscripts))] = True
            return
        at = coordinates(access.constraints, access.indices, set(mentioned))
    except TooManyPoints:
        mask[...] = True
        return
    if at is not None:
        mask[tuple(values(subscript, at) for subscript in access.subscripts)] = True


def _slice(subscript: Affine, box: Mapping[str, Index]) -> slice:
    """Return the positions that a subscript of at most one index takes."""
    low, high = subscript.bounds(box)
    return slice(low, high + 1, max((abs(c) for _, c in subscript.coefficients), default=1))


def _positions(subscript: Affine, box: Mapping[str, Index]) -> NDArray[np.int64]:
    """Return the positions that a subscript takes, each once."""
    return np.unique(ramp(subscript, [box[name] for name in subscript.names]))
