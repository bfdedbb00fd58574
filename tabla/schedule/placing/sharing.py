"""Places share addresses where their lifetimes allow it: tensors between layers need a memory one after the other.

Lifetimes are known when every task has its cycle, so strands are made and placed with an address for each word. Then
places whose words nobody needs at the same time get the same addresses. That changes constants in address generators
and nothing else: no strand begins earlier or later, and every word is written and read in the same cycle as before.

Two places may share addresses if the first one's last read comes before the second one's first write, and the second
one's last read before the first write of the first one by the next sample. The next sample may begin an initiation
interval later, or at any time after that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tabla.schedule.mapping.mapping import Mapping
from tabla.schedule.mapping.places import Place
from tabla.schedule.placing.initiation_interval import touches
from tabla.schedule.placing.needed import blocks_of, words_of_lanes
from tabla.schedule.placing.placed import Placed
from tabla.schedule.strands.layout import Depths, Key, Layout, Lifetime, is_scratch
from tabla.schedule.strands.regions import Regions, reading_generators, writing_generators
from tabla.schedule.strands.strand import Operation, Strand
from tabla.schedule.strands.streams import loaded, streamed
from tabla.schedule.strands.tasks import LATE, NEVER

LANE_MEMORIES = ("model", "interim")
"""The memories of lanes in which addresses may be shared."""


def sharing(
    placed: Sequence[Placed], mapping: Mapping, layout: Layout, initiation_interval: int, *, least: int
) -> Layout:
    """Return a layout in which places of the deep memories share addresses; `layout` itself if that saves nothing.

    A memory is deep if it has more than `least` words, those of a block RAM. The others stay as they are, because each
    of them takes a block RAM, or none, in any case. Addresses are found in several orders, and those that take the
    fewest block RAMs are taken.
    """
    deep = {memory for memory, words in _depths(layout.depths).items() if words > least}
    lifetimes = {
        key: lifetime
        for key, lifetime in _lifetimes(placed, mapping, layout).items()
        if deep.intersection(_memories(layout.places[key]))
    }
    if not deep.intersection(LANE_MEMORIES) and len(lifetimes) < 2:
        return layout
    shared = lifetimes if len(lifetimes) > 1 else {}
    found = [
        allocated(layout, shared, initiation_interval, wide_models=wide_models, wide_first=wide_first)
        for wide_models, wide_first in ((False, False), (False, True), (True, False), (True, True))
        if shared or wide_models or wide_first
    ]

    def cost(made: Layout) -> tuple[int, int]:
        return _blocks(made, mapping, max(1, least)), _words(made.depths, mapping)

    return min((layout, *found), key=cost)


def with_addresses_of(placed: Sequence[Placed], before: Layout, after: Layout) -> list[Placed]:
    """Return placed tasks whose strands have the addresses of another layout of the same places."""
    if before is after:
        return list(placed)
    regions = Regions(before)
    return [
        replace(p, task=replace(p.task, strands=tuple(_moved(strand, regions, after) for strand in p.task.strands)))
        for p in placed
    ]


def _moved(strand: Strand, regions: Regions, after: Layout) -> Strand:
    return replace(strand, body=tuple(_readdressed(operation, strand, regions, after) for operation in strand.body))


def _readdressed(operation: Operation, strand: Strand, regions: Regions, after: Layout) -> Operation:
    addresses = dict(operation.addresses)
    for ports in (reading_generators, writing_generators):
        for generator, memory in ports(strand.unit, operation):
            address = operation.addresses[generator]
            lowest = address.base + sum(
                min(0, stride * (count - 1)) for stride, count in zip(address.strides, strand.counts, strict=True)
            )
            region = regions.of(memory, lowest)
            key, twin = region.key
            place = after.twins[key] if twin else after.places[key]
            addresses[generator] = replace(address, base=address.base + place.base - region.base)
    return replace(operation, addresses=addresses)


def _depths(depths: Depths) -> dict[str, int]:
    return {
        "model": depths.model,
        "data": depths.data,
        "interim": depths.interim,
        "root data": depths.root_data,
        "root memory": depths.root_memory,
    }


def _words(depths: Depths, mapping: Mapping) -> int:
    """Return the words of the array's memories that may be shared."""
    lanes = mapping.template.pes * (depths.model + depths.interim)
    return lanes + max(1, mapping.template.roots) * depths.root_memory


def _blocks(layout: Layout, mapping: Mapping, words: int) -> int:
    """Return the block RAMs, of `words` words each, of the array's memories that may be shared."""
    template, depths = mapping.template, layout.depths
    total = max(1, template.roots) * -(-depths.root_memory // words)
    for memory in LANE_MEMORIES:
        lanes = words_of_lanes(layout, memory, template)
        blocks = {own: blocks_of(own, words) for own in set(lanes)}
        total += sum(blocks[own] for own in lanes)
    return total


def _memories(place: Place) -> tuple[str, ...]:
    return tuple(f"root {bank}" if place.spot.kind == "root" else bank for bank in place.banks)


def _lifetimes(placed: Sequence[Placed], mapping: Mapping, layout: Layout) -> dict[Key, Lifetime]:
    """Return the first and the last cycle in which a sample touches each place that it fills anew.

    What is loaded or streamed, models, and the partial words of products are left out, and so are second copies of
    streamed tensors.
    """
    stays = {*loaded(layout), *streamed(layout), *mapping.updated}
    lifetimes = {}
    for (key, twin), t in touches(placed).items():
        if twin or key in stays or is_scratch(key[1]):
            continue
        first = int(min(t.read_first.min(), t.write_first.min()))
        last = int(max(t.read_last.max(), t.write_last.max()))
        if first < LATE // 2 and last > NEVER // 2:
            lifetimes[key] = (first, last)
    return lifetimes


def allocated(
    layout: Layout,
    lifetimes: dict[Key, Lifetime],
    initiation_interval: int,
    *,
    wide_models: bool = False,
    wide_first: bool = False,
) -> Layout:
    """Give every place a base address: first those that share nothing, in their order, then the largest first.

    Each of the others takes the lowest addresses that no place has which is alive at the same time. Places in many
    lanes come before those in few lanes with `wide_first`; with `wide_models`, those that share nothing do so among
    neighbours in as many banks and with the same role. The lanes of the latter alone then have the highest addresses.
    """
    taken: dict[str, list[tuple[int, int, Lifetime | None]]] = {}

    def based(place: Place, lifetime: Lifetime | None) -> Place:
        held = sorted(
            (begin, end)
            for memory in _memories(place)
            for begin, end, other in taken.get(memory, [])
            if lifetime is None or other is None or not _apart(lifetime, other, initiation_interval)
        )
        base = 0
        for begin, end in held:
            if begin >= base + place.words:
                break
            base = max(base, end)
        for memory in _memories(place):
            taken.setdefault(memory, []).append((base, base + place.words, lifetime))
        return replace(place, base=base)

    order = sorted((place.base, key, False) for key, place in layout.places.items() if key not in lifetimes)
    order += sorted((place.base, key, True) for key, place in layout.twins.items())
    places, twins = {}, {}
    for _, key, twin in _widest_first(sorted(order), layout) if wide_models else sorted(order):
        if twin:
            twins[key] = based(layout.twins[key], None)
        else:
            places[key] = based(layout.places[key], None)
    for key in sorted(
        lifetimes, key=lambda key: (-_lanes(layout.places[key]) * wide_first, -layout.places[key].words, key)
    ):
        places[key] = based(layout.places[key], lifetimes[key])
    deep = {memory: max(end for _, end, _ in held) for memory, held in taken.items() if held}
    depths = Depths(
        model=deep.get("model", 0),
        data=deep.get("data", 0),
        interim=deep.get("interim", 0),
        root_data=deep.get("root data", 0),
        root_memory=deep.get("root memory", 0),
    )
    # The stream follows the order of the places, so it stays.
    return replace(
        layout,
        places={key: places[key] for key in layout.places},
        twins={key: twins[key] for key in layout.twins},
        depths=depths,
        lifetimes=lifetimes,
    )


_Fixed = tuple[int, Key, bool]


def _widest_first(order: list[_Fixed], layout: Layout) -> list[_Fixed]:
    """Return places that share nothing, which are in an order, with those in many lanes first. Places in two banks stay
    before those in one, and models before others, or the other way round.
    """

    def kind(fixed: _Fixed) -> tuple[bool, int, bool]:
        _, key, twin = fixed
        place = (layout.twins if twin else layout.places)[key]
        role = layout.graph.tensors[key[0]].role
        # Those of a root stay in their order.
        return (True, 0, False) if place.spot.kind == "root" else (False, len(place.banks), role == "model")

    def few(fixed: _Fixed) -> int:
        place = (layout.twins if fixed[2] else layout.places)[fixed[1]]
        return 0 if place.spot.kind == "root" else -_lanes(place)

    kinds = list(dict.fromkeys(map(kind, order)))
    return sorted(order, key=lambda fixed: (kinds.index(kind(fixed)), few(fixed)))


def _lanes(place: Place) -> int:
    """Return in how many lanes of its spot a place has words; those of a root or of every lane have all."""
    return min(place.pes, place.shape[place.spot.axis]) if place.spot.kind == "lane" else place.pes


def _apart(one: Lifetime, other: Lifetime, initiation_interval: int) -> bool:
    """Say whether two lifetimes follow each other, and both end before the next sample begins either of them anew."""
    first, second = sorted((one, other))
    return first[1] < second[0] and second[1] < first[0] + initiation_interval
