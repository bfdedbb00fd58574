"""Words on their way: root to lanes over the bus, lanes to root up the tree, results out."""

from __future__ import annotations

import math
from collections.abc import Container, Sequence
from dataclasses import replace

from tabla.ir.graph import Affine
from tabla.mapping.places import EVERY, ROOT, Place, Spot
from tabla.strands.leaving import shown_as
from tabla.strands.loops import Loop, address
from tabla.strands.site import Extras, Output, Site, task_of
from tabla.strands.strand import Address, Operation, Strand
from tabla.strands.tasks import Task
from tabla.strands.uses import Uses
from tabla.templates.template import timing

Piece = tuple[int, tuple[Loop, ...]]


def pieces(low: int, high: int, pes: int) -> list[Piece]:
    """Elements [low, high) of a spread axis, in order: (first element, loops over rows, if several, and over
    lanes)."""
    out: list[Piece] = []
    at = low
    while at < high:
        lane, rows = at % pes, (high - at) // pes
        if lane == 0 and rows >= 1:
            row = (Loop(name="row", count=rows),) if rows > 1 else ()
            out.append((at, (*row, Loop(name="lane", count=pes))))
            at += rows * pes
        else:
            count = min(pes - lane, high - at)
            out.append((at, (Loop(name="lane", count=count),)))
            at += count
    return out


def _axis(loop: Loop) -> int:
    return int(loop.name.removeprefix("axis"))


def spread_nest(
    place: Place, piece: Piece, others: tuple[Loop, ...]
) -> tuple[tuple[Loop, ...], Address, dict[str, Address]]:
    """Loops (rows, other axes, lanes) of a piece, the lane memory's address and the one active lane."""
    (begin, loops), base, strides, axis, pes = piece, place.base, place.strides, place.spot.axis, place.pes
    rows, lane = loops[:-1], loops[-1]
    nest = (*rows, *others, lane)
    steps = [strides[axis]] * len(rows) + [strides[_axis(x)] for x in others] + [0]
    first = begin % pes + place.spot.span.first
    one = tuple([0] * (len(nest) - 1) + [1])
    base += sum(strides[_axis(x)] * x.low for x in others)
    at = Address(base=base + (begin // pes) * strides[axis], strides=tuple(steps))
    return nest, at, {"low": Address(base=first, strides=one), "high": Address(base=first + 1, strides=one)}


def root_nest(
    base: int, strides: Sequence[int], axis: int, piece: Piece, others: tuple[Loop, ...], pes: int
) -> Address:
    """The root's address of the same elements under the same loops."""
    begin, loops = piece
    steps = [strides[axis] * pes] * (len(loops) - 1) + [strides[_axis(x)] for x in others] + [strides[axis]]
    base += sum(strides[_axis(x)] * x.low for x in others)
    return Address(base=base + begin * strides[axis], strides=tuple(steps))


def _everywhere(place: Place, loops: Sequence[Loop]) -> dict[str, Address]:
    none, first = (0,) * len(loops), place.spot.span.first
    return {"low": Address(base=first, strides=none), "high": Address(base=first + place.pes, strides=none)}


def _take(
    site: Site,
    tensor: str,
    spot: Spot,
    nest: tuple[Loop, ...],
    at: Address,
    bounds: dict[str, Address],
    start: int,
    interval: int,
) -> Strand:
    """The lane_write strand that takes words from the bus into every bank of a place."""
    place = site.layout.place(tensor, spot)
    fields: dict[str, str | int] = {"source": "bus", **{f"to_{bank}": 1 for bank in place.banks}}
    return Strand(
        unit="lane_write",
        start=start,
        interval=interval,
        counts=tuple(x.count for x in nest),
        comment=f"{tensor} to {spot}",
        sequencers=site.sequencers(spot.span),
        body=(Operation(fields=fields, addresses={"address": at, **bounds}),),
    )


def _first(nest: tuple[Loop, ...], words: int) -> tuple[Loop, ...]:
    """As many turns of the outermost loop as the first words take; nothing if there are none."""
    turns = -(-words // math.prod(loop.count for loop in nest[1:]))
    return (replace(nest[0], count=min(nest[0].count, turns)), *nest[1:]) if turns > 0 else ()


def receive(site: Site, target: str, write: Sequence[Affine], output: Output) -> tuple[Spot | None, list[Strand]]:
    """Lane writes that take a result of at most one dimension from the bus as the root produces it."""
    wanted = [s for s in site.copies(target) if s != ROOT]
    alone = sum(1 for _ in site.graph.writers(target)) == 1
    if not wanted or not alone or len(output.loops) > 1 or len(write) > 1 or site.layout.owner(target) != target:
        return None, []
    if write and (not output.loops or write[0].coefficient(output.loops[0].name) != 1):
        return None, []
    spot = wanted[0]
    place = site.layout.place(target, spot)
    start = output.show + timing().broadcast
    if spot == EVERY:
        at, loops = address(place, write, output.loops), output.loops
        if loops:
            begin = write[0].constant + loops[0].low
            loops = _first(loops, site.words_in_every_lane(target) - begin)
            if not loops:
                return spot, []
        return spot, [_take(site, target, spot, loops, at, _everywhere(place, loops), start, output.interval)]
    low = write[0].constant + output.loops[0].low
    strands = []
    for piece in pieces(low, low + output.loops[0].count, place.pes):
        nest, at, bounds = spread_nest(place, piece, ())
        begin = start + (piece[0] - low) * output.interval
        strands.append(_take(site, target, spot, nest, at, bounds, begin, output.interval))
    return spot, strands


def _boxes(uses: Uses, tensor: str) -> list[tuple[tuple[int, int], ...]]:
    """The elements that hold words, as ranges of each axis: what each statement writes, or all of a model."""
    writers = list(uses.graph.writers(tensor))
    if not writers:
        return [tuple((0, n) for n in uses.graph.tensors[tensor].shape)]
    boxes = []
    for statement in writers:
        ends = (subscript.bounds(statement.box) for subscript in statement.write)
        boxes.append(tuple((low, high + 1) for low, high in ends))
    return boxes


def _others(box: Sequence[tuple[int, int]], axis: int) -> tuple[Loop, ...]:
    """Loops over the axes of a box but one."""
    return tuple(Loop(name=f"axis{d}", count=high - low, low=low) for d, (low, high) in enumerate(box) if d != axis)


def down_move(site: Site, tensor: str, spot: Spot) -> Task:
    """Root to lanes: each word over the bus."""
    laws = timing()
    source, place = site.layout.place(tensor, ROOT), site.layout.place(tensor, spot)
    runs: list[tuple[tuple[Loop, ...], Address, Address, dict[str, Address]]] = []
    for box in _boxes(site, tensor):
        if spot == EVERY:
            nest = _others(box, -1)
            subscripts = [Affine.make(0, {x.name: 1}) for x in nest]
            ends = address(source, subscripts, nest), address(place, subscripts, nest)
            runs.append((nest, *ends, _everywhere(place, nest)))
            continue
        others = _others(box, spot.axis)
        for piece in pieces(*box[spot.axis], place.pes):
            nest, at, bounds = spread_nest(place, piece, others)
            origin = root_nest(source.base, source.strides, spot.axis, piece, others, place.pes)
            runs.append((nest, origin, at, bounds))
    strands: list[Strand] = []
    start = 0
    name = f"{tensor} to the bus"
    for nest, origin, at, bounds in runs:
        counts = tuple(x.count for x in nest)
        fetch = Operation(fields={"a": "zero", "c": source.banks[0], "base": "addend"}, addresses={"c": origin})
        put = Operation(fields={"source": "result", "to_bus": 1})
        show = start + laws.result
        strands += [
            Strand(unit="root_issue", start=start, body=(fetch,), counts=counts, comment=name),
            Strand(unit="root_write", start=show, body=(put,), counts=counts, comment=name),
            _take(site, tensor, spot, nest, at, bounds, show + laws.broadcast, 1),
        ]
        start += strands[-1].iterations
    return task_of(site, f"move {tensor} to {spot}", strands, Extras())


def up_move(site: Site, tensor: str) -> tuple[Task, tuple[Spot, ...]]:
    """Lanes to root: one lane a cycle passes its word up the tree; on its way out if nothing else wants it there.

    Where every lane wants it too, all take it from the bus as it comes: the spots that need no move of their own.
    """
    home = site.home(tensor)
    place, name = site.layout.place(tensor, home), f"{tensor} up the tree"
    strands: list[Strand] = []
    start, shows = 0, _leaving(site, tensor)
    every = EVERY in site.copies(tensor) and site.layout.owner(tensor) == tensor and not shows
    runs = [(p, _others(b, home.axis)) for b in _boxes(site, tensor) for p in pieces(*b[home.axis], place.pes)]
    for piece, others in runs:
        nest, at, bounds = spread_nest(place, piece, others)
        fields: dict[str, str | int] = {"source": "result", "to_output": int(bool(shows))}
        to: dict[str, Address] = {}
        order = list(range(len(nest)))
        if shows:
            order = _outwards(nest, home.axis)
        else:
            target = site.layout.place(tensor, ROOT)
            fields["to_memory"] = 1
            to["address"] = root_nest(target.base, target.strides, home.axis, piece, others, place.pes)
        counts = tuple(nest[k].count for k in order)
        at, bounds = _reordered(at, order), {end: _reordered(bound, order) for end, bound in bounds.items()}
        up = start + site.word_up
        strands += [
            _send(site, place, at, bounds, counts, start, name),
            Strand(unit="root_issue", start=up, body=(TAKE,), counts=counts, comment=name),
            Strand(
                unit="root_write",
                start=up + timing().result,
                body=(Operation(fields=fields, addresses=to),),
                counts=counts,
                comment=name,
            ),
        ]
        start += strands[-1].iterations
        if every:
            copy = site.layout.place(tensor, EVERY)
            here = root_nest(copy.base, copy.strides, home.axis, piece, others, place.pes)
            strands[-1] = replace(strands[-1], body=(strands[-1].body[0].with_fields(to_bus=1),))
            show = strands[-1].start + timing().broadcast
            wanted = _first(nest, site.words_in_every_lane(tensor) - piece[0]) if not others else nest
            if wanted:
                strands.append(_take(site, tensor, EVERY, wanted, here, _everywhere(copy, wanted), show, 1))
    return task_of(site, f"move {tensor} to root", strands, Extras(shows=shows)), (EVERY,) * every


def sent_up(site: Site, tensor: str, name: str) -> Strand:
    """The lanes' part of sending up a vector that lies in one piece: a word a cycle, in order, from cycle 0 on."""
    place = site.layout.place(tensor, site.home(tensor))
    (piece,) = pieces(0, site.graph.tensors[tensor].size, place.pes)
    nest, at, bounds = spread_nest(place, piece, ())
    return _send(site, place, at, bounds, tuple(loop.count for loop in nest), 0, name)


def _send(
    site: Site, place: Place, at: Address, bounds: dict[str, Address], counts: tuple[int, ...], start: int, name: str
) -> Strand:
    """Words of a place up the tree, one lane a cycle."""
    return Strand(
        unit="lane_issue",
        start=start,
        body=(Operation(fields={"a": place.banks[0], "up": 1}, addresses={place.banks[0]: at, **bounds}),),
        counts=counts,
        comment=name,
        sequencers=site.sequencers(place.spot.span),
    )


TAKE = Operation(fields={"a": "zero", "base": "tree"})
"""What the root does with a word that comes up."""


def _leaving(uses: Uses, tensor: str) -> str:
    """The result that a tensor of the lanes is, if it can leave straight from the tree: one writer, nobody else who
    reads it at the root, and pieces of the spread axis that follow each other in the order of results.
    """
    shown, axis = shown_as(uses.graph, tensor), uses.home(tensor).axis
    if not shown or uses.wanted_at_root(tensor):
        return ""
    shape, boxes = uses.graph.tensors[tensor].shape, _boxes(uses, tensor)
    whole = boxes == [tuple((0, n) for n in shape)]
    first = all(n == 1 for n in shape[:axis])
    lanes = uses.lanes(uses.home(tensor))
    return shown if whole and (first or len(pieces(0, shape[axis], lanes)) == 1) else ""


def sent_out_from_tree(uses: Uses, rising: frozenset[str]) -> set[str]:
    """Return the names of the results that leave straight from the tree.

    `rising` has the tensors that functions take as they come up; no move of their own brings these to the root.
    """
    moved = (t for t, spot in uses.chosen.copies if spot == ROOT and ROOT in uses.copies(t) and t not in rising)
    return {name for tensor in moved if (name := _leaving(uses, tensor))}


def _outwards(nest: Sequence[Loop], axis: int) -> list[int]:
    """The loops of a piece in the order of the axes; rows and lanes make up the spread one."""

    def key(level: int) -> tuple[int, int]:
        name = nest[level].name
        return (axis, 1) if name == "lane" else (axis, 0) if name == "row" else (_axis(nest[level]), 0)

    return sorted(range(len(nest)), key=key)


def _reordered(at: Address, order: Sequence[int]) -> Address:
    return replace(at, strides=tuple(at.strides[k] for k in order))


def twin_copies(site: Site) -> list[Task]:
    """Copies within the lanes of streamed tensors that clash in `data`."""
    out = []
    for (tensor, spot), twin in sorted(site.layout.twins.items()):
        source = site.layout.place(tensor, spot)
        loops = (Loop(name="word", count=source.words),)
        bounds, own = _everywhere(source, loops), site.sequencers(spot.span)
        read = {"data": Address(base=source.base, strides=(1,), window=True), **bounds}
        name = f"copy {tensor} to interim"
        # Lanes of several roots round no result that does not count; a copy never saturates.
        op = Operation(fields={"a": "data", "half": "all", "emit": int(site.template.roots > 1)}, addresses=read)
        put = Operation(
            fields={"source": "result", "to_interim": 1},
            addresses={"address": Address(base=twin.base, strides=(1,)), **bounds},
        )
        counts = (loops[0].count,)
        strands = (
            Strand(unit="lane_issue", start=0, body=(op,), counts=counts, comment=name, sequencers=own),
            Strand(unit="lane_write", start=timing().result, body=(put,), counts=counts, comment=name, sequencers=own),
        )
        out.append(task_of(site, name, strands, Extras()))
    return out


def result_tasks(site: Site, left: Container[str]) -> list[Task]:
    """Results that have not `left` leave from a root memory, row-major, in the order of `graph.results`."""
    out = []
    for shown, tensor in site.graph.results:
        if shown in left:
            continue
        place = site.layout.place(tensor, ROOT)
        counts = (place.words,) if place.words > 1 else ()
        at = Address(base=place.base, strides=(1,) * len(counts), window=place.banks[0] == "data")
        fetch = Operation(fields={"a": "zero", "c": place.banks[0], "base": "addend"}, addresses={"c": at})
        put = Operation(fields={"source": "result", "to_output": 1})
        name = f"result {shown}"
        strands = (
            Strand(unit="root_issue", start=0, body=(fetch,), counts=counts, comment=name),
            Strand(unit="root_write", start=timing().result, body=(put,), counts=counts, comment=name),
        )
        out.append(task_of(site, name, strands, Extras(shows=shown)))
    return out
