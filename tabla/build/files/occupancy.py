"""How many block RAMs of a part a design takes, and which tensors take most of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from tabla.build.cost.capacity import Part, Room, named_part, room
from tabla.build.stages import Stages
from tabla.schedule.placing.needed import lanes_of
from tabla.schedule.placing.schedule import Schedule
from tabla.schedule.strands.layout import Layout

USUAL = "LFE5U-85F"
"""The part that the block RAMs are compared with if the user names none."""
MOST_NAMED = 3
"""The most tensors that a line names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Occupancy:
    """The block RAMs that a design `takes` of those that the `part` `has`. The family calls them `title`.

    `tensors` are those that take a block RAM or more, with their number, the largest first. A memory is shared among
    its tensors by their words. What is left is taken by microcode, tables of functions, and words that leave.
    """

    part: str
    title: str
    takes: int
    has: int
    tensors: tuple[tuple[str, int], ...]

    def line(self) -> str:
        """Return the line that ``tabla gen`` prints."""
        beyond = ", more than there are" if self.takes > self.has else ""
        most = ", ".join(f"{name} {blocks:,}" for name, blocks in self.tensors[:MOST_NAMED])
        return (
            f"block RAMs   {self.takes:,} of the {self.has:,} ({self.title}) of {self.part}{beyond}"
            f"{f'; most are for {most}' if most else ''}"
        )

    def as_json(self) -> dict[str, Any]:
        """Return the entry of ``tabla gen --json``."""
        return {"part": self.part, "taken": self.takes, "available": self.has, "tensors": dict(self.tensors)}


def occupancy(build: Stages) -> Occupancy | None:
    """Return what a build takes of the part of its options, or of the usual one.

    Return None for a program for an overlay, which has memories of its own, and for a part whose records do not say
    what a block RAM holds.
    """
    if build.overlay is not None:
        return None
    part: Part = named_part(build.options.part or USUAL, build.options.records)
    taken = room(build.image, part)
    if taken is None:
        return None
    return Occupancy(
        part=part[1].part,
        title=part[0].title_of("RAM"),
        takes=taken.blocks,
        has=taken.has_blocks,
        tensors=tensors_of(build.schedule, taken),
    )


def tensors_of(schedule: Schedule, taken: Room) -> tuple[tuple[str, int], ...]:
    """Return the tensors that take a block RAM or more, with their number, the largest first."""
    depths, lanes = schedule.layout.depths, schedule.template.lanes
    used = {
        "model": depths.model * lanes,
        "data": depths.data * lanes,
        "interim": depths.interim * lanes,
        "root data": depths.root_data,
        "root memory": depths.root_memory,
    }
    for memory, needed in schedule.layout.needed.items():
        if memory in ("model", "data", "interim"):
            used[memory] = sum(end - begin for ranges in needed[:lanes] for begin, end in ranges)
    shares = Counter[str]()
    for name, memory, words in _held(schedule.layout, lanes):
        if blocks := taken.blocks_of.get(memory, 0):
            shares[name] += blocks * words / used[memory]  # type: ignore[assignment]
    whole = [(name, int(share + 0.5)) for name, share in shares.items()]
    return tuple(sorted(((n, count) for n, count in whole if count), key=lambda each: (-each[1], each[0])))


def _held(layout: Layout, lanes: int) -> list[tuple[str, str, int]]:
    """Return each place of a tensor: the user's name of it, the memory, and the words in all lanes of a tap group."""
    held = []
    for (tensor, _), place in [*layout.places.items(), *layout.twins.items()]:
        name = layout.graph.tensors[tensor].origin or tensor
        if place.spot.kind == "root":
            held += [(name, f"root {bank}", place.words) for bank in place.banks]
        else:
            first, end = lanes_of(place, lanes)
            held += [(name, bank, place.words * (end - first)) for bank in place.banks]
    return held
