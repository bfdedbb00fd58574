"""The loop nest of a statement, and addresses as strides over its loops."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tabla.graph.graph import Affine, Index, Statement
from tabla.schedule.mapping.fit import Fit, read_from_bus
from tabla.schedule.mapping.places import Place
from tabla.schedule.strands.strand import Address


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """One loop of a strand: its counter runs from 0 to ``count - 1``, and the index `name` is ``low + counter``.

    With `lane`, the index runs over lanes: the loop then counts rows of P elements, from row `low` on.
    """

    name: str
    count: int
    low: int = 0
    lane: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Lanes:
    """The index that runs over lanes: its value i is in lane ``first + (i + offset) mod pes``.

    `pes` is the number of lanes that compute, and `first` the first of them.
    """

    index: Index
    offset: int
    pes: int
    first: int = 0

    @staticmethod
    def of(statement: Statement, fit: Fit, pes: int) -> Lanes:
        """Return the lanes of a statement in an array, or tap group, of `pes` lanes."""
        span = fit.span
        return Lanes(index=statement.box[fit.index], offset=fit.offset, pes=span.lanes or pes, first=span.first)

    @property
    def loop(self) -> Loop:
        """The loop over rows of lanes."""
        low = (self.index.low + self.offset) // self.pes
        high = (self.index.high - 1 + self.offset) // self.pes
        return Loop(name=self.index.name, count=high - low + 1, low=low, lane=True)

    def bounds(self, loops: Sequence[Loop]) -> dict[str, Address]:
        """Return the guards `low` and `high`: in each row, the lanes in [low, high) are active."""
        strides = tuple(-self.pes if loop.lane else 0 for loop in loops)
        row = next((loop.low for loop in loops if loop.lane), self.loop.low)
        moved = self.offset - row * self.pes + self.first
        return {
            "low": Address(base=self.index.low + moved, strides=strides),
            "high": Address(base=self.index.high + moved, strides=strides),
        }


def plain(index: Index) -> Loop:
    """Return the loop of an index whose values follow each other in time."""
    return Loop(name=index.name, count=index.extent, low=index.low)


def address(
    place: Place,
    subscripts: Sequence[Affine],
    loops: Sequence[Loop],
    lanes: Lanes | None = None,
    *,
    window: bool = False,
) -> Address:
    """Return the address generator of a read or a write at a place.

    `subscripts` say which element is meant, in terms of the indices of `loops`; at a place in the lanes, `lanes` is
    needed to tell the row of an element.
    """
    base, strides = place.base, [0] * len(loops)
    position = {loop.name: level for level, loop in enumerate(loops)}
    for axis, (subscript, stride) in enumerate(zip(subscripts, place.strides, strict=True)):
        if place.spot.kind == "lane" and axis == place.spot.axis:
            assert lanes is not None and subscript.names == (lanes.index.name,)
            level = position[lanes.index.name]
            base += stride * ((subscript.constant - lanes.offset) // lanes.pes + loops[level].low)
            strides[level] += stride
            continue
        base += stride * subscript.constant
        for name, coefficient in subscript.coefficients:
            level = position[name]
            base += stride * coefficient * loops[level].low
            strides[level] += stride * coefficient
    return Address(base=base, strides=tuple(strides), window=window)


def trimmed(address_: Address, loops: Sequence[Loop]) -> tuple[int, int]:
    """Return how many outer loops an address needs, and how many iterations the other, innermost loops make.

    The address does not depend on the innermost loops, so one word serves all of their iterations.
    """
    kept = len(loops)
    folded = 1
    while kept and address_.strides[kept - 1] == 0:
        kept -= 1
        folded *= loops[kept].count
    return kept, folded


def nest_of(statement: Statement, lanes: Lanes | None, fit: Fit) -> tuple[tuple[Loop, ...], tuple[Loop, ...]]:
    """Return the loops over the outputs of a statement, and those over its summed indices.

    Among the outputs, the loops on which the word of the bus depends are the slowest, and the loop over rows of lanes
    is the fastest; with ``fit.rows_first`` it is the slowest of all. Other loops keep the order of the target's axes,
    so that a result can leave as it is made. `lanes` is None at the root.
    """
    on_bus = {n for s in read_from_bus(statement, fit).subscripts for n in s.names} if fit.bus else set()
    over = lanes.index.name if lanes else ""

    def loop(name: str) -> Loop:
        return lanes.loop if lanes and name == over else plain(statement.box[name])

    axes = [name for subscript in statement.write for name in subscript.names]
    outs = sorted(
        statement.indices, key=lambda i: ((i.name == over) != fit.rows_first, i.name not in on_bus, axes.index(i.name))
    )
    reduced = sorted(statement.reduced, key=lambda i: i.name == over)
    return tuple(loop(i.name) for i in outs), tuple(loop(i.name) for i in reduced)


def parts_of(statement: Statement, fit: Fit, pes: int) -> list[Statement]:
    """Return a statement as `fit.parts` statements, each on a range of the slowest loop; as it is if there is one part.

    `pes` is the number of lanes; a range of rows is a range of multiples of it. With ``fit.early`` the first part has
    just so many turns, and the others share the rest evenly.
    """
    if fit.parts == 1:
        return [statement]
    lanes = None if fit.way == "root" else Lanes.of(statement, fit, pes)
    slowest = nest_of(statement, lanes, fit)[0][0]
    number = next(n for n, index in enumerate(statement.indices) if index.name == slowest.name)
    index = statement.indices[number]
    first, rest = (fit.early, fit.parts - 1) if fit.early else (0, fit.parts)
    turns = [first + (slowest.count - first) * part // rest for part in range(rest)]
    turns = [slowest.low + turn for turn in turns if turn]
    inner = [turn * lanes.pes - lanes.offset for turn in turns] if lanes and slowest.lane else turns
    ends = [index.low, *inner, index.high]
    ranges = [replace(index, low=low, high=high) for low, high in itertools.pairwise(ends)]
    before, after = statement.indices[:number], statement.indices[number + 1 :]
    return [replace(statement, indices=(*before, each, *after)) for each in ranges]
