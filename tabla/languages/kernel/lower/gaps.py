"""What a statement leaves unwritten, as boxes with strides. Further statements write 0 there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tabla.graph.graph import Affine, Index

MOST_BOXES = 16
"""The most statements that write 0 to what one statement leaves. Beyond them the tensor is filled."""
Write = tuple[tuple[Affine, ...], tuple[Index, ...]]


@dataclass(frozen=True, slots=True)
class _Places:
    """``start + step * n`` for n in [0, count)."""

    start: int
    step: int
    count: int


def unwritten(write: Sequence[Affine], indices: Sequence[Index], shape: Sequence[int]) -> tuple[Write, ...] | None:
    """Return the subscripts and indices of statements over all elements of a tensor that ``tensor[write] = ...`` over
    `indices` does not write.

    The result is None where axes share an index, or where it would take many statements.
    """
    names = [subscript.names for subscript in write]
    shared = len({name for each in names for name in each}) < sum(map(len, names))
    if shared or any(len(each) > 1 for each in names):
        return None
    ranges = {index.name: index for index in indices}
    written = [_written(subscript, ranges) for subscript in write]
    boxes: list[list[_Places]] = []
    for axis, (places, extent) in enumerate(zip(written, shape, strict=True)):
        whole = [_Places(0, 1, other) for other in shape[axis + 1 :]]
        boxes += [[*written[:axis], gap, *whole] for gap in _gaps(places, extent)]
    return tuple(_write(box) for box in boxes) if len(boxes) <= MOST_BOXES else None


def _written(subscript: Affine, ranges: dict[str, Index]) -> _Places:
    low, high = subscript.bounds(ranges)
    match subscript.coefficients:
        case ((name, factor),):
            return _Places(low, abs(factor), ranges[name].extent)
        case _:
            return _Places(low, 1, 1 + high - low)


def _gaps(places: _Places, extent: int) -> Iterator[_Places]:
    """Return the gaps before the first place, behind the last one, and between two places."""
    last = places.start + places.step * (places.count - 1)
    if places.start:
        yield _Places(0, 1, places.start)
    if last + 1 < extent:
        yield _Places(last + 1, 1, extent - last - 1)
    if places.count > 1:
        for offset in range(1, places.step):
            yield _Places(places.start + offset, places.step, places.count - 1)


def _write(box: Sequence[_Places]) -> Write:
    write: list[Affine] = []
    indices: list[Index] = []
    for axis, places in enumerate(box):
        name = f"i{axis}"
        write.append(Affine.make(places.start, {name: places.step} if places.count > 1 else {}))
        if places.count > 1:
            indices.append(Index(name=name, low=0, high=places.count))
    return tuple(write), tuple(indices)
