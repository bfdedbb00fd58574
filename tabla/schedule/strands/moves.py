"""Words on their way: from the root to the lanes over the bus, from the lanes to the root up the tree."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from tabla.graph.graph import Affine, Function, Index, Read, Statement
from tabla.schedule.mapping.places import EVERY, ROOT, Place, Spot
from tabla.schedule.strands.loops import Loop, address, plain
from tabla.schedule.strands.receiving import take
from tabla.schedule.strands.results import reordered, result_from_tree, row_major
from tabla.schedule.strands.site import Extras, Site, task_of
from tabla.schedule.strands.spread import (
    LANE_LOOP,
    every_lane,
    first_words,
    other_axes,
    pieces,
    root_nest,
    spread_nest,
    written_boxes,
)
from tabla.schedule.strands.strand import Address, Operation, Strand
from tabla.schedule.strands.tasks import Task
from tabla.templates.template import timing


def down_move(site: Site, tensor: str, spot: Spot) -> Task:
    """Return the task that copies a tensor from the root to a spot in the lanes, each word over the bus."""
    laws = timing()
    source, place = site.layout.place(tensor, ROOT), site.layout.place(tensor, spot)
    # Loops, address at the root, address and guards in the lanes.
    parts: list[tuple[tuple[Loop, ...], Address, Address, dict[str, Address]]] = []
    for box in written_boxes(site, tensor):
        if spot == EVERY:
            nest = other_axes(box, -1)
            subscripts = [Affine.index(x.name) for x in nest]
            ends = address(source, subscripts, nest), address(place, subscripts, nest)
            parts.append((nest, *ends, every_lane(place, nest)))
            continue
        others = other_axes(box, spot.axis)
        for piece in pieces(*box[spot.axis], place.pes):
            nest, at, bounds = spread_nest(place, piece, others)
            origin = root_nest(source.base, source.strides, spot.axis, piece, others, place.pes)
            parts.append((nest, origin, at, bounds))
    strands: list[Strand] = []
    start = 0
    name = f"{tensor} to the bus"
    for nest, origin, at, bounds in parts:
        counts = tuple(x.count for x in nest)
        fetch = Operation(fields={"a": "zero", "c": source.banks[0], "base": "addend"}, addresses={"c": origin})
        put = Operation(fields={"source": "result", "to_bus": 1})
        show = start + laws.result
        strands += [
            Strand(unit="root_issue", start=start, body=(fetch,), counts=counts, comment=name),
            Strand(unit="root_write", start=show, body=(put,), counts=counts, comment=name),
            take(site, tensor, spot, nest, at, bounds, show + laws.broadcast, 1),
        ]
        start += strands[-1].iterations
    return task_of(site, f"move {tensor} to {spot}", strands, Extras())


def up_move(site: Site, tensor: str) -> tuple[Task, tuple[Spot, ...]]:
    """Return the task that copies a tensor from the lanes to the root, and the spots that it fills on its way.

    One lane a cycle passes its word up the tree. If the tensor is a result that nobody reads at the root, its words go
    out and no root memory holds them. If every lane needs a copy too, the root puts each word on the bus as it comes,
    and the second value names that spot.
    """
    home = site.home(tensor)
    place, name = site.layout.place(tensor, home), f"{tensor} up the tree"
    strands: list[Strand] = []
    start, shows = 0, result_from_tree(site, tensor)
    every = EVERY in site.copies(tensor) and site.layout.owner(tensor) == tensor and not shows
    boxes = written_boxes(site, tensor)
    parts = [(piece, other_axes(b, home.axis)) for b in boxes for piece in pieces(*b[home.axis], place.pes)]
    for piece, others in parts:
        nest, at, bounds = spread_nest(place, piece, others)
        fields: dict[str, str | int] = {"source": "result", "to_output": int(bool(shows))}
        to: dict[str, Address] = {}
        order = list(range(len(nest)))
        if shows:
            order = row_major(nest, home.axis)
        else:
            target = site.layout.place(tensor, ROOT)
            fields["to_memory"] = 1
            to["address"] = root_nest(target.base, target.strides, home.axis, piece, others, place.pes)
        counts = tuple(nest[k].count for k in order)
        at, bounds = reordered(at, order), {end: reordered(bound, order) for end, bound in bounds.items()}
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
            wanted = first_words(nest, site.words_in_every_lane(tensor) - piece[0]) if not others else nest
            if wanted:
                strands.append(take(site, tensor, EVERY, wanted, here, every_lane(copy, wanted), show, 1))
    return task_of(site, f"move {tensor} to root", strands, Extras(shows=shows)), (EVERY,) * every


def sent_up(site: Site, statement: Statement, tensor: str, name: str) -> Iterator[tuple[Strand, tuple[Loop, ...]]]:
    """Yield the strands in which lanes send up the operands of a function, a word a cycle from cycle 0 on.

    With each strand come the loops over the elements of the function `statement`, in the order of the words. A vector
    is one strand. Of a tensor with more axes each row of lanes is a strand.
    """
    place, shape = site.layout.place(tensor, site.home(tensor)), site.graph.tensors[tensor].shape
    assert isinstance(statement.operation, Function) and isinstance(statement.operation.operand, Read)
    # Each axis of several elements is read along an index of its own, from its first element to its last.
    along = [
        statement.box[subscript.names[0]] if subscript.names else Index(name=f"axis.{axis}", low=0, high=1)
        for axis, subscript in enumerate(statement.operation.operand.subscripts)
    ]
    axis = place.spot.axis
    others = other_axes([(0, extent) for extent in shape], axis)
    rows = pieces(0, shape[axis], place.pes)
    if others:
        starts = range(0, shape[axis], place.pes)
        rows = [(low, (Loop(name=LANE_LOOP, count=min(place.pes, shape[axis] - low)),)) for low in starts]
    for low, loops in rows:
        nest, at, bounds = spread_nest(place, (low, loops), others)
        count = math.prod(loop.count for loop in loops)
        order = [d for d in range(len(shape)) if d != axis] + [axis]
        outs = [plain(along[d]) for d in order]
        outs[-1] = replace(outs[-1], count=count, low=outs[-1].low + low)
        counts = tuple(loop.count for loop in nest)
        yield _send(site, place, at, bounds, counts, 0, name), tuple(outs)


def _send(
    site: Site, place: Place, at: Address, bounds: dict[str, Address], counts: tuple[int, ...], start: int, name: str
) -> Strand:
    """Return the strand of ``lane_issue`` that sends words of a place up the tree, one lane a cycle."""
    return Strand(
        unit="lane_issue",
        start=start,
        body=(Operation(fields={"a": place.banks[0], "up": 1}, addresses={place.banks[0]: at, **bounds}),),
        counts=counts,
        comment=name,
        sequencers=site.sequencers(place.spot.span),
    )


TAKE = Operation(fields={"a": "zero", "base": "tree"})
"""The root's operation for a word that comes up the tree: its result is the word."""


def twin_copies(site: Site) -> list[Task]:
    """Return the tasks that fill the twins: copies, in `interim`, of streamed tensors that clash in `data`.

    Each lane copies its own words, one a cycle.
    """
    out = []
    for (tensor, spot), twin in sorted(site.layout.twins.items()):
        source = site.layout.place(tensor, spot)
        loops = (Loop(name="word", count=source.words),)
        bounds, own = every_lane(source, loops), site.sequencers(spot.span)
        read = {"data": Address(base=source.base, strides=(1,), window=True), **bounds}
        name = f"copy {tensor} to interim"
        # An array with several roots rounds only results that count for overflow. A copy never saturates, so it may
        # count.
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
