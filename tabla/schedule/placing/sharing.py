"""Places share addresses where their lifetimes allow it: tensors between layers need a memory one after the other.

Lifetimes are known when every task has its cycle, so strands are made and placed with an address for each word. Then
places whose words nobody needs at the same time get the same addresses. That changes constants in address generators
and nothing else: no strand begins earlier or later, and every word is written and read in the same cycle as before.

Two words may have one address if the first one's last read comes before the second one's first write, and the second
one's last read before the first write of the first one by the next sample. The next sample may begin an initiation
interval later, or at any time after that. So an elementwise statement works in place: each of its words takes the
address of the word that it is made from. What a convolution makes of a row may take the addresses of rows that are
done.

Two places may have addresses in common. Then all reads of one come before all reads of the other, and so do writes. So
the cycle of an access says which place is meant, and the checker needs no more to know it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from tabla.schedule.mapping.mapping import Mapping
from tabla.schedule.mapping.places import Place
from tabla.schedule.placing.needed import blocks_of, merged, words_of_lanes
from tabla.schedule.placing.placed import Placed
from tabla.schedule.placing.word_lifetimes import Relation, Relations, needs_of
from tabla.schedule.strands.layout import Depths, Key, Layout, Ranges
from tabla.schedule.strands.regions import Regions, reading_generators, writing_generators
from tabla.schedule.strands.strand import Operation, Strand

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
    needs = {
        key: need
        for key, need in needs_of(placed, mapping, layout).items()
        if deep.intersection(_memories(layout.places[key]))
    }
    if not deep.intersection(LANE_MEMORIES) and len(needs) < 2:
        return layout
    shared = needs if len(needs) > 1 else {}
    relations = Relations(shared, initiation_interval)
    found = [
        allocated(layout, relations, wide_models=wide_models, wide_first=wide_first)
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


@dataclass(frozen=True, slots=True)
class _Held:
    """The addresses [begin, end) of a memory that a place has, with its key if it may share them."""

    begin: int
    end: int
    key: Key | None


@dataclass(frozen=True, slots=True)
class _Memories:
    """The memories while places get their addresses. `held` has the places of each memory so far."""

    relations: Relations
    held: dict[str, list[_Held]] = field(default_factory=dict)

    def added(self, place: Place, key: Key | None) -> Place:
        """Return a place at the lowest base address that is tried and free. It shares addresses if it has a `key`."""
        blocked, near = [], []
        for memory in _memories(place):
            for other in self.held.get(memory, ()):
                relation = self.relations.between(key, other.key) if key and other.key else Relation.NOTHING
                if relation is Relation.NOTHING:
                    blocked.append((other.begin, other.end))
                elif relation is Relation.WORDS:
                    near.append(other)
        taken = merged(blocked)
        base = next(
            base
            for base in _bases(place, taken, near)
            if not any(begin < base + place.words and base < end for begin, end in taken)
            and (key is None or all(self._apart(place, key, base, other) for other in near))
        )
        for memory in _memories(place):
            self.held.setdefault(memory, []).append(_Held(base, base + place.words, key))
        return replace(place, base=base)

    def _apart(self, place: Place, key: Key, base: int, other: _Held) -> bool:
        if other.key is None or other.end <= base or base + place.words <= other.begin:
            return True
        needs = self.relations.needs
        return needs[key].apart(needs[other.key], other.begin - base, self.relations.interval)

    @property
    def depths(self) -> Depths:
        """The words of each memory."""
        deep = {memory: max(held.end for held in every) for memory, every in self.held.items() if every}
        return Depths(
            model=deep.get("model", 0),
            data=deep.get("data", 0),
            interim=deep.get("interim", 0),
            root_data=deep.get("root data", 0),
            root_memory=deep.get("root memory", 0),
        )


def _bases(place: Place, taken: Ranges, near: Sequence[_Held]) -> list[int]:
    """Return the base addresses that are tried for a place, the lowest first. The last one is always free.

    These are address 0, the ends of other places, the addresses of the places `near`, and one or two rows before them.
    """
    bases = {0, *(end for _, end in taken), *(held.end for held in near)}
    if near:
        rows = {stride * turns for stride in place.strides for turns in (0, 1, 2)}
        bases |= {held.begin - row for held in near for row in rows}
    return sorted(base for base in bases if base >= 0)


def allocated(
    layout: Layout,
    relations: Relations,
    *,
    wide_models: bool = False,
    wide_first: bool = False,
) -> Layout:
    """Give every place a base address: first those that share nothing, in their order, then the largest first.

    Each of the others takes the lowest addresses of which nobody needs one at the same time. Places in many lanes come
    before those in few lanes with `wide_first`; with `wide_models`, those that share nothing do so among neighbours in
    as many banks and with the same role. The lanes of the latter alone then have the highest addresses.
    """
    needs, memories = relations.needs, _Memories(relations)
    order = sorted((place.base, key, False) for key, place in layout.places.items() if key not in needs)
    order += sorted((place.base, key, True) for key, place in layout.twins.items())
    places, twins = {}, {}
    for _, key, twin in _widest_first(sorted(order), layout) if wide_models else sorted(order):
        if twin:
            twins[key] = memories.added(layout.twins[key], None)
        else:
            places[key] = memories.added(layout.places[key], None)
    for key in sorted(
        needs, key=lambda key: (-_lanes(layout.places[key]) * wide_first, -layout.places[key].words, key)
    ):
        places[key] = memories.added(layout.places[key], key)
    # The stream follows the order of the places, so it stays.
    return replace(
        layout,
        places={key: places[key] for key in layout.places},
        twins={key: twins[key] for key in layout.twins},
        depths=memories.depths,
        lifetimes={key: need.lifetime for key, need in needs.items()},
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
