"""Words on their way: from the root to the lanes over the bus, from the lanes to the root up the tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tabla.ir.graph import Affine
from tabla.mapping.places import EVERY, ROOT, Place, Spot
from tabla.strands.loops import Loop, address
from tabla.strands.results import reordered, result_from_tree, row_major
from tabla.strands.site import Extras, Output, Site, task_of
from tabla.strands.spread import every_lane, first_words, other_axes, pieces, root_nest, spread_nest, written_boxes
from tabla.strands.strand import Address, Operation, Strand
from tabla.strands.tasks import Task
from tabla.templates.template import timing


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
    """Return the strand of ``lane_write`` that takes words from the bus into every bank of a place.

    `nest` are its loops, `at` the address under them, `bounds` the guards, and `start` the cycle in which the first
    word stands on the bus.
    """
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


def receive(site: Site, target: str, write: Sequence[Affine], output: Output) -> tuple[Spot | None, list[Strand]]:
    """Return the strands of the lanes that take a result from the bus as the root makes it, and the spot they fill.

    `target` and `write` say which elements the root makes, `output` when they show. The spot is None, and there are no
    strands, unless the result is a scalar or a vector that one statement makes and that lanes need a copy of.
    """
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
            loops = first_words(loops, site.words_in_every_lane(target) - begin)
            if not loops:
                return spot, []
        return spot, [_take(site, target, spot, loops, at, every_lane(place, loops), start, output.interval)]
    low = write[0].constant + output.loops[0].low
    strands = []
    for piece in pieces(low, low + output.loops[0].count, place.pes):
        nest, at, bounds = spread_nest(place, piece, ())
        begin = start + (piece[0] - low) * output.interval
        strands.append(_take(site, target, spot, nest, at, bounds, begin, output.interval))
    return spot, strands


def down_move(site: Site, tensor: str, spot: Spot) -> Task:
    """Return the task that copies a tensor from the root to a spot in the lanes, each word over the bus."""
    laws = timing()
    source, place = site.layout.place(tensor, ROOT), site.layout.place(tensor, spot)
    # Loops, address at the root, address and guards in the lanes.
    parts: list[tuple[tuple[Loop, ...], Address, Address, dict[str, Address]]] = []
    for box in written_boxes(site, tensor):
        if spot == EVERY:
            nest = other_axes(box, -1)
            subscripts = [Affine.make(0, {x.name: 1}) for x in nest]
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
            _take(site, tensor, spot, nest, at, bounds, show + laws.broadcast, 1),
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
                strands.append(_take(site, tensor, EVERY, wanted, here, every_lane(copy, wanted), show, 1))
    return task_of(site, f"move {tensor} to root", strands, Extras(shows=shows)), (EVERY,) * every


def sent_up(site: Site, tensor: str, name: str) -> Strand:
    """Return the strand in which lanes send up a vector that is one piece: a word a cycle from cycle 0 on, in order."""
    place = site.layout.place(tensor, site.home(tensor))
    (piece,) = pieces(0, site.graph.tensors[tensor].size, place.pes)
    nest, at, bounds = spread_nest(place, piece, ())
    return _send(site, place, at, bounds, tuple(loop.count for loop in nest), 0, name)


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
