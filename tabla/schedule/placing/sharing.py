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
from tabla.schedule.placing.placed import Placed
from tabla.schedule.strands.layout import Depths, Key, Layout, Lifetime, is_scratch
from tabla.schedule.strands.regions import Regions, reading_generators, writing_generators
from tabla.schedule.strands.strand import Operation, Strand
from tabla.schedule.strands.streams import loaded, streamed
from tabla.schedule.strands.tasks import LATE, NEVER


def sharing(
    placed: Sequence[Placed], mapping: Mapping, layout: Layout, initiation_interval: int, *, least: int
) -> Layout:
    """Return a layout in which places of the deep memories share addresses; `layout` itself if that saves nothing.

    A memory is deep if it has more than `least` words. The others stay as they are, because each of them takes a block
    RAM, or none, in any case.
    """
    deep = {memory for memory, words in _depths(layout.depths).items() if words > least}
    lifetimes = {
        key: lifetime
        for key, lifetime in _lifetimes(placed, mapping, layout).items()
        if deep.intersection(_memories(layout.places[key]))
    }
    if len(lifetimes) < 2:
        return layout
    shared = allocated(layout, lifetimes, initiation_interval)
    return shared if _words(shared.depths, mapping) < _words(layout.depths, mapping) else layout


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


def allocated(layout: Layout, lifetimes: dict[Key, Lifetime], initiation_interval: int) -> Layout:
    """Give every place a base address: first those that share nothing, in their order, then the largest first.

    Each of the others takes the lowest addresses that no place has which is alive at the same time.
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
    for _, key, twin in sorted(order):
        if twin:
            twins[key] = based(layout.twins[key], None)
        else:
            places[key] = based(layout.places[key], None)
    for key in sorted(lifetimes, key=lambda key: (-layout.places[key].words, key)):
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


def _apart(one: Lifetime, other: Lifetime, initiation_interval: int) -> bool:
    """Say whether two lifetimes follow each other, and both end before the next sample begins either of them anew."""
    first, second = sorted((one, other))
    return first[1] < second[0] and second[1] < first[0] + initiation_interval
