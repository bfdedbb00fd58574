"""Words of a spread axis, one after the other: which lane has each, and where it lies in the lane and at the root.

Element e of a spread axis lies in lane ``e mod P``, row ``e div P``. A strand that moves such words one by one needs
loops over rows and lanes, an address in the lanes, guards that keep one lane active, and an address at the root. An
axis that begins or ends in the middle of a row takes several strands, one for each *piece*.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from tabla.schedule.mapping.places import Place
from tabla.schedule.strands.loops import Loop
from tabla.schedule.strands.strand import Address
from tabla.schedule.strands.uses import Uses

ROW_LOOP, LANE_LOOP = "row of lanes", "lane of row"
"""The names of the loops over the rows of a piece and over the lanes of a row. No index of a program is called so."""
Piece = tuple[int, tuple[Loop, ...]]
"""A first element, and the loops over the elements from it on: over rows, if there are several, and over lanes."""


def pieces(low: int, high: int, pes: int) -> list[Piece]:
    """Divide the elements [low, high) of an axis that is spread over `pes` lanes into pieces, in order.

    All whole rows that follow each other are one piece; a part of a row is a piece of its own. With 8 lanes the
    elements [6, 26) are three pieces: 6 and 7, then the rows from 8 to 23, then 24 and 25.
    """
    out: list[Piece] = []
    at = low
    while at < high:
        lane, rows = at % pes, (high - at) // pes
        if lane == 0 and rows >= 1:
            row = (Loop(name=ROW_LOOP, count=rows),) if rows > 1 else ()
            out.append((at, (*row, Loop(name=LANE_LOOP, count=pes))))
            at += rows * pes
        else:
            count = min(pes - lane, high - at)
            out.append((at, (Loop(name=LANE_LOOP, count=count),)))
            at += count
    return out


def axis_of(loop: Loop) -> int:
    """Return the axis that a loop of `other_axes` runs over."""
    return int(loop.name.removeprefix("axis"))


def other_axes(box: Sequence[tuple[int, int]], axis: int) -> tuple[Loop, ...]:
    """Return the loops over the axes of a box, given as a range [low, high) each, but for one axis (-1: over all)."""
    return tuple(Loop(name=f"axis{d}", count=high - low, low=low) for d, (low, high) in enumerate(box) if d != axis)


def spread_nest(
    place: Place, piece: Piece, others: tuple[Loop, ...]
) -> tuple[tuple[Loop, ...], Address, dict[str, Address]]:
    """Return the loops (rows, other axes, lanes) of a piece, its address in the lanes, and the guards of one lane."""
    (begin, loops), base, strides, axis, pes = piece, place.base, place.strides, place.spot.axis, place.pes
    rows, lane = loops[:-1], loops[-1]
    nest = (*rows, *others, lane)
    steps = [strides[axis]] * len(rows) + [strides[axis_of(x)] for x in others] + [0]
    first = begin % pes + place.spot.span.first
    one = tuple([0] * (len(nest) - 1) + [1])
    base += sum(strides[axis_of(x)] * x.low for x in others)
    at = Address(base=base + (begin // pes) * strides[axis], strides=tuple(steps))
    return nest, at, {"low": Address(base=first, strides=one), "high": Address(base=first + 1, strides=one)}


def root_nest(
    base: int, strides: Sequence[int], axis: int, piece: Piece, others: tuple[Loop, ...], pes: int
) -> Address:
    """Return the address of a piece's words in a memory that holds all elements, under the loops of `spread_nest`.

    `base` and `strides` are those of the tensor's place in that memory.
    """
    begin, loops = piece
    steps = [strides[axis] * pes] * (len(loops) - 1) + [strides[axis_of(x)] for x in others] + [strides[axis]]
    base += sum(strides[axis_of(x)] * x.low for x in others)
    return Address(base=base + begin * strides[axis], strides=tuple(steps))


def every_lane(place: Place, loops: Sequence[Loop]) -> dict[str, Address]:
    """Return the guards that keep all lanes of a place active, under some loops."""
    none, first = (0,) * len(loops), place.spot.span.first
    return {"low": Address(base=first, strides=none), "high": Address(base=first + place.pes, strides=none)}


def first_words(nest: tuple[Loop, ...], words: int) -> tuple[Loop, ...]:
    """Return a nest with as many turns of its outermost loop as its first `words` words take; () for no words."""
    turns = -(-words // math.prod(loop.count for loop in nest[1:]))
    return (replace(nest[0], count=min(nest[0].count, turns)), *nest[1:]) if turns > 0 else ()


def written_boxes(uses: Uses, tensor: str) -> list[tuple[tuple[int, int], ...]]:
    """Return the elements of a tensor that hold words, as boxes: a range [low, high) of each axis.

    There is a box for what each statement writes, and one box of all elements for a tensor that no statement writes.
    """
    writers = list(uses.graph.writers(tensor))
    if not writers:
        return [tuple((0, n) for n in uses.graph.tensors[tensor].shape)]
    boxes = []
    for statement in writers:
        ends = (subscript.bounds(statement.box) for subscript in statement.write)
        boxes.append(tuple((low, high + 1) for low, high in ends))
    return boxes
