"""Loop nests of statements, and addresses as strides over them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tabla.ir.graph import Affine, Index, Statement
from tabla.mapping.fit import Fit
from tabla.mapping.places import Place
from tabla.strands.strand import Address


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """A counter from 0. The index is ``low + counter``; for the lane index, ``low`` and the counter count rows
    of P."""

    name: str
    count: int
    low: int = 0
    lane: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Lanes:
    """The index over lanes: element ``index + offset`` lies in lane ``mod pes``, counted from lane `first`."""

    index: Index
    offset: int
    pes: int
    first: int = 0

    @staticmethod
    def of(statement: Statement, fit: Fit, pes: int) -> Lanes:
        """Those of a statement in an array of `pes` lanes."""
        span = fit.span
        return Lanes(index=statement.box[fit.index], offset=fit.offset, pes=span.lanes or pes, first=span.first)

    @property
    def loop(self) -> Loop:
        """The loop over rows."""
        low = (self.index.low + self.offset) // self.pes
        high = (self.index.high - 1 + self.offset) // self.pes
        return Loop(name=self.index.name, count=high - low + 1, low=low, lane=True)

    def bounds(self, loops: Sequence[Loop]) -> dict[str, Address]:
        """Generators `low` and `high`: which lanes are active in each row that the loops go through."""
        strides = tuple(-self.pes if loop.lane else 0 for loop in loops)
        row = next((loop.low for loop in loops if loop.lane), self.loop.low)
        moved = self.offset - row * self.pes + self.first
        return {
            "low": Address(base=self.index.low + moved, strides=strides),
            "high": Address(base=self.index.high + moved, strides=strides),
        }


def plain(index: Index) -> Loop:
    """The loop of an index that runs in time."""
    return Loop(name=index.name, count=index.extent, low=index.low)


def address(
    place: Place,
    subscripts: Sequence[Affine],
    loops: Sequence[Loop],
    lanes: Lanes | None = None,
    *,
    window: bool = False,
) -> Address:
    """Address of a read or a write at `place` under `loops`."""
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
    """(levels kept, iterations folded): the innermost loops on which the address does not depend, folded away."""
    kept = len(loops)
    folded = 1
    while kept and address_.strides[kept - 1] == 0:
        kept -= 1
        folded *= loops[kept].count
    return kept, folded


def nest_of(statement: Statement, lanes: Lanes | None, fit: Fit) -> tuple[tuple[Loop, ...], tuple[Loop, ...]]:
    """(output loops, reduction loops). Output loops on which the bus word depends go first, rows of lanes last, unless
    the fit wants them first.
    """
    riding = {n for r in statement.reads if r.tensor == fit.bus for s in r.subscripts for n in s.names}
    over = lanes.index.name if lanes else ""

    def loop(name: str) -> Loop:
        return lanes.loop if lanes and name == over else plain(statement.box[name])

    # Beyond that in the order of the target's axes: then a result can leave as it is made.
    axes = [name for subscript in statement.write for name in subscript.names]
    outs = sorted(
        statement.indices, key=lambda i: ((i.name == over) != fit.rows_first, i.name not in riding, axes.index(i.name))
    )
    reduced = sorted(statement.reduced, key=lambda i: i.name == over)
    return tuple(loop(i.name) for i in outs), tuple(loop(i.name) for i in reduced)


def parts_of(statement: Statement, fit: Fit, pes: int) -> list[Statement]:
    """The statement on `fit.parts` ranges of its slowest loop, over rows of `pes` lanes or another; or as it is."""
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
