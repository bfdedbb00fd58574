"""Which words of its memories an array needs: each lane's own, and those that each operand of a root reads.

Lanes run in lockstep, so a memory has the same addresses in all of them. But a tensor that is spread over twelve lanes
lies in twelve memories, and the other lanes need none of its addresses. A root has a copy of its memories for each
operand, and a copy needs the addresses that its operand reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Mapping as Map
from itertools import pairwise

from tabla.schedule.mapping.places import Place
from tabla.schedule.strands.layout import Layout, Ranges
from tabla.schedule.strands.regions import gathers, reading_generators
from tabla.schedule.strands.strand import Strand
from tabla.schedule.strands.streams import loaded
from tabla.templates.instructions import OPERANDS
from tabla.templates.memories import FEW_WORDS
from tabla.templates.template import Template


def needed(
    strands: Iterable[Strand], dump: Iterable[Strand], layout: Layout, template: Template, slots: int
) -> Map[str, tuple[Ranges, ...]]:
    """Return the addresses that are needed of each memory, as `Layout.needed` has them.

    Every lane has all words of a memory of few words: it takes a block RAM, or none, in any case.

    The depths that the user sets are those of all lanes, so memories with such a depth are left out. The ring has
    `slots` slots.
    """
    depths = layout.depths
    lanes = {
        "model": (depths.model, template.model_words),
        "data": (depths.data * slots, template.data_words),
        "interim": (depths.interim, template.interim_words),
    }
    found = {
        memory: words_of_lanes(layout, memory, template)
        for memory, (words, asked) in lanes.items()
        if words > FEW_WORDS and not asked
    }
    roots = {"root data": depths.root_data * slots, "root memory": depths.root_memory}
    read = _read_at_roots((*strands, *dump), layout)
    found |= {
        memory: tuple(merged(read[memory, operand]) for operand in OPERANDS)
        for memory, words in roots.items()
        if words > FEW_WORDS
    }
    return found


def merged(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """Return ranges of addresses in order, those that touch each other as one."""
    found: list[tuple[int, int]] = []
    for begin, end in sorted(ranges):
        if found and begin <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((begin, end))
    return tuple(found)


def in_all_slots(ranges: Ranges, slots: int, window: int) -> Ranges:
    """Return ranges of the first slot of a ring of `slots` slots, of `window` words each, in all of its slots."""
    return merged((slot * window + begin, slot * window + end) for slot in range(slots) for begin, end in ranges)


def words_of_lanes(layout: Layout, memory: str, template: Template) -> tuple[Ranges, ...]:
    """Return the addresses that each lane of the array needs of a memory, in the order of the lanes."""
    held = [
        (*lanes_of(place, template.lanes), place.base, place.base + place.words)
        for place in (*layout.places.values(), *layout.twins.values())
        if place.spot.kind != "root" and memory in place.banks and place.words
    ]
    borders = sorted({0, template.lanes, *(lane for first, end, _, _ in held for lane in (first, end))})
    own: list[Ranges] = []
    for first, end in pairwise(borders):
        ranges = merged((begin, stop) for one, other, begin, stop in held if one <= first and end <= other)
        own += [ranges] * (end - first)
    return tuple(own) * max(1, template.roots)


def blocks_of(ranges: Ranges, words: int) -> int:
    """Count the block RAMs of `words` words for some addresses. Those of a block RAM of which a few adjacent words are
    needed lie in LUTs, as `tabla.hw.banks` says.
    """
    parts = [
        (number, max(begin, number * words) // FEW_WORDS, (min(end, (number + 1) * words) - 1) // FEW_WORDS)
        for begin, end in ranges
        if begin < end
        for number in range(begin // words, (end - 1) // words + 1)
    ]
    runs: dict[int, set[int]] = {}
    for number, first, last in parts:
        runs.setdefault(number, set()).update((first, last))
    return sum(len(own) > 1 for own in runs.values())


def lanes_of(place: Place, lanes: int) -> tuple[int, int]:
    """Return the lanes [first, end) of a tap group that hold an element of a place."""
    if place.spot.kind == "every":
        return 0, lanes
    first = place.spot.span.first
    return first, first + min(place.pes, place.shape[place.spot.axis])


def _read_at_roots(strands: Sequence[Strand], layout: Layout) -> dict[tuple[str, str], list[tuple[int, int]]]:
    """Return the ranges of addresses that each operand reads of the memories of a root; those of the ring's first slot.

    An operand that gathers may read every word of its place. A dump reads the models that are loaded.
    """
    found: dict[tuple[str, str], list[tuple[int, int]]] = {
        (memory, operand): [] for memory in ("root data", "root memory") for operand in OPERANDS
    }
    dumped = tuple(_dumped(layout)) if layout.depths.root_memory > FEW_WORDS else ()
    for strand in strands:
        for operation in strand.body:
            for operand, memory in reading_generators(strand.unit, operation):
                if not memory.startswith("root "):
                    continue
                address, counts = operation.addresses[operand], strand.counts
                reach = [stride * (count - 1) for stride, count in zip(address.strides, counts, strict=True)]
                begin, end = (address.base + sum(f(0, step) for step in reach) for f in (min, max))
                if gathers(operation, operand):
                    found[memory, operand] += _around(layout, memory, begin)
                elif address.window and memory == "root memory":
                    found[memory, operand] += dumped
                else:
                    found[memory, operand].append((begin, end + 1))
    return found


def _dumped(layout: Layout) -> Iterator[tuple[int, int]]:
    """Yield the addresses of the models in the memory of a root."""
    for key in loaded(layout):
        place = layout.places[key]
        if place.spot.kind == "root" and layout.graph.tensors[key[0]].role == "model":
            yield place.base, place.base + place.words


def _around(layout: Layout, memory: str, at: int) -> Iterator[tuple[int, int]]:
    """Yield the addresses of the places at a root that an address may belong to."""
    for place in layout.places.values():
        if place.spot.kind == "root" and f"root {place.banks[0]}" == memory:
            if place.base <= at < place.base + place.words:
                yield place.base, place.base + place.words
