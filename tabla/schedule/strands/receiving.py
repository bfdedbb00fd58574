"""Words from the bus: the lanes that take what the root puts there, a word a cycle."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace

from tabla.graph.graph import Affine
from tabla.schedule.mapping.places import EVERY, Place, Spot
from tabla.schedule.strands.loops import Loop, address
from tabla.schedule.strands.site import Output, Site
from tabla.schedule.strands.spread import Piece, every_lane, first_words, pieces
from tabla.schedule.strands.strand import Address, Operation, Strand
from tabla.templates.template import timing

MOST_STRANDS = 64
"""Strands that take one tensor from the bus, at the most: each is two words of microcode."""


def take(
    site: Site,
    tensor: str,
    spot: Spot,
    nest: tuple[Loop, ...],
    at: Address,
    bounds: dict[str, Address],
    start: int,
    interval: int,
) -> Strand:
    """Return the strand of ``lane_write`` that takes words from the bus into every bank of a place.

    `nest` are its loops, `at` the address under them, `bounds` the guards, and `start` the cycle in which the first
    word stands on the bus.
    """
    place = site.layout.place(tensor, spot)
    fields: dict[str, str | int] = {"source": "bus", **{f"to_{bank}": 1 for bank in place.banks}}
    if site.layout.owner(tensor) != tensor:
        fields["model"] = 1
    return Strand(
        unit="lane_write",
        start=start,
        interval=interval,
        counts=tuple(x.count for x in nest),
        comment=f"{tensor} to {spot}",
        sequencers=site.sequencers(spot.span),
        body=(Operation(fields=fields, addresses={"address": at, **bounds}),),
    )


def receive(site: Site, target: str, write: Sequence[Affine], output: Output) -> tuple[Spot | None, list[Strand]]:
    """Return the strands of the lanes that take a result from the bus as the root makes it, and the spot they fill.

    `target` and `write` say which elements the root makes, `output` when they show. The spot is None, and there are no
    strands, unless one statement makes the result, each of its axes of several elements runs along a loop of its own,
    and lanes need a copy. Loops that run over an axis together count as one. An axis that is spread over lanes must be
    the slowest, or its words must come in whole rows or within a row. If there is one slower axis, each of its turns
    may have strands of its own instead.
    """
    wanted = site.taken(target)
    write, loops = _in_one_loop(write, output.loops)
    alone = sum(1 for _ in site.graph.writers(target)) == 1
    if not wanted or not alone or not _along(write, loops, site.graph.tensors[target].shape):
        return None, []
    spot = wanted[0]
    place, start = site.layout.place(target, spot), output.show + timing().broadcast
    if spot == EVERY:
        at = address(place, write, loops)
        if len(loops) == 1:
            begin = next(subscript.constant for subscript in write if subscript.names) + loops[0].low
            loops = first_words(loops, site.words_in_every_lane(target) - begin)
            if not loops:
                return spot, []
        return spot, [take(site, target, spot, loops, at, every_lane(place, loops), start, output.interval)]
    along = write[spot.axis]
    if not along.names:
        return None, []
    level = next(k for k, loop in enumerate(loops) if along.coefficient(loop.name))
    before, spread, after = loops[:level], loops[level], loops[level + 1 :]
    low = along.constant + spread.low
    found = pieces(low, low + spread.count, place.pes)
    turns = [before]
    if before and len(found) > 1:
        if len(before) > 1 or before[0].count * len(found) > MOST_STRANDS:
            return None, []
        turns = [(replace(before[0], low=before[0].low + turn, count=1),) for turn in range(before[0].count)]
    strands = []
    inner = output.interval * math.prod(loop.count for loop in after)
    for turn, outer in enumerate(turns):
        for piece in found:
            nest, at, bounds = _nest_of_piece(place, piece, outer, after, write)
            first = start + (turn * spread.count + piece[0] - low) * inner
            strands.append(take(site, target, spot, nest, at, bounds, first, output.interval))
    return spot, strands


def _in_one_loop(write: Sequence[Affine], loops: tuple[Loop, ...]) -> tuple[tuple[Affine, ...], tuple[Loop, ...]]:
    """Return what is written with one loop for each two that run over an axis together, as in ``4*group + row``.

    The inner one is the next loop, and its turns fill the step of the outer one.
    """
    for position, (outer, inner) in enumerate(itertools.pairwise(loops)):
        together = Affine.index(outer.name) * inner.count + Affine.index(inner.name)
        mentions = [subscript for subscript in write if {outer.name, inner.name} & set(subscript.names)]
        if len(mentions) == 1 and mentions[0].coefficients == together.coefficients:
            low = outer.low * inner.count + inner.low
            both = Loop(name=inner.name, count=outer.count * inner.count, low=low)
            alone = Affine.index(inner.name) + mentions[0].constant
            changed = tuple(alone if subscript is mentions[0] else subscript for subscript in write)
            return _in_one_loop(changed, (*loops[:position], both, *loops[position + 2 :]))
    return tuple(write), loops


def _along(write: Sequence[Affine], loops: Sequence[Loop], shape: Sequence[int]) -> bool:
    """Say whether each axis of what is written runs along a loop of its own, a word further in each turn.

    An axis of a single element needs no loop.
    """
    run = [subscript for subscript, extent in zip(write, shape, strict=True) if subscript.names or extent > 1]
    names = [name for subscript in run for name, coefficient in subscript.coefficients if coefficient == 1]
    alone = all(len(subscript.names) == 1 for subscript in run)
    return alone and len(names) == len(run) and sorted(names) == sorted(loop.name for loop in loops)


def _nest_of_piece(
    place: Place, piece: Piece, before: tuple[Loop, ...], after: tuple[Loop, ...], write: Sequence[Affine]
) -> tuple[tuple[Loop, ...], Address, dict[str, Address]]:
    """Return the loops of a piece that comes over the bus between other loops, its address, and the guards of one lane.

    `before` and `after` are the loops outside and inside of the spread axis, and `write` the subscripts of the words.
    """
    (begin, loops), axis = piece, place.spot.axis
    nest = (*before, *loops, *after)
    names = [loop.name for loop in nest]
    base = place.base + begin // place.pes * place.strides[axis]
    strides, one = [0] * len(nest), [0] * len(nest)
    strides[len(before) : len(before) + len(loops) - 1] = [place.strides[axis]] * (len(loops) - 1)
    one[len(before) + len(loops) - 1] = 1
    for d, subscript in enumerate(write):
        if d != axis:
            base += place.strides[d] * subscript.constant
            for name in subscript.names:
                level = names.index(name)
                strides[level] = place.strides[d]
                base += place.strides[d] * nest[level].low
    first = begin % place.pes + place.spot.span.first
    guards = {
        "low": Address(base=first, strides=tuple(one)),
        "high": Address(base=first + 1, strides=tuple(one)),
    }
    return nest, Address(base=base, strides=tuple(strides)), guards
