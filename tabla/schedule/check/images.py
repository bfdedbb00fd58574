"""What lies where: the residue that the layout puts at each address of each memory, and which addresses are touched."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from tabla.schedule.check.expected import Expected, element_name
from tabla.schedule.check.residues import POISON, Residues, upper
from tabla.schedule.mapping.mapping import static_tensors
from tabla.schedule.mapping.places import Place
from tabla.schedule.placing.schedule import Schedule
from tabla.schedule.strands.layout import Key, Span, is_scratch
from tabla.schedule.strands.regions import Region, Regions, ScheduleFault
from tabla.schedule.strands.streams import loaded, streamed
from tabla.schedule.strands.tasks import MemoryKey

Marks = NDArray[np.bool_]


def addresses(place: Place) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each element of a place, row-major, its address from the place's base on, and its lane.

    The lane is 0 where a place is not spread over lanes.
    """
    at: NDArray[np.int64] = np.zeros((), dtype=np.int64)
    lane: NDArray[np.int64] = np.zeros((), dtype=np.int64)
    spread = place.spot.axis if place.spot.kind == "lane" else -1
    for axis, (extent, stride) in enumerate(zip(place.shape, place.strides, strict=True)):
        along = np.arange(extent, dtype=np.int64)
        rows = along // place.pes if axis == spread else along
        at = at[..., None] + stride * rows
        lane = lane[..., None] + (place.spot.span.first + along % place.pes if axis == spread else 0 * along)
    return at.reshape(-1), lane.reshape(-1)


def image(place: Place, elements: Residues, lanes: int) -> Residues:
    """The words of a place, of shape [words, groups, lanes], one lane where all have the same; of `elements` with their
    axis of groups. Addresses that hold no element hold `POISON`.
    """
    at, lane = addresses(place)
    out = np.full((place.words, len(elements), lanes if place.spot.kind == "lane" else 1), POISON, dtype=np.int64)
    out[at, :, lane] = elements.reshape(len(elements), -1).T
    return out


def _mix(one: Span, other: Span) -> bool:
    """Say whether two spans of cycles have a cycle in common."""
    return one[0] <= other[1] and other[0] <= one[1]


@dataclass(slots=True, eq=False)
class Images:
    """The memories of a schedule, as every sample finds them and as it leaves them."""

    schedule: Schedule
    expected: Expected
    regions: Regions = field(init=False)
    read: dict[MemoryKey, Marks] = field(default_factory=dict)
    written: dict[MemoryKey, Marks] = field(default_factory=dict)
    _left: frozenset[MemoryKey] = field(init=False)
    _images: dict[tuple[MemoryKey, bool], Residues] = field(default_factory=dict)
    _upper: dict[MemoryKey, Residues] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.regions = Regions(self.schedule.layout)
        self._left = frozenset((key, False) for key in self.schedule.mapping.updated)
        for memory, held in self.regions.all().items():
            for before, after in combinations(held, 2):  # in the order of their bases
                if after.base < before.base + before.words and not self._told_apart(before, after):
                    names = " and ".join(f"{r.key[0][0]} at {r.key[0][1]}" for r in (before, after))
                    raise ScheduleFault(f"{names} share words of {memory}")

    def _told_apart(self, one: Region, other: Region) -> bool:
        """Say whether the cycle of each access tells which of two places with common addresses it reads or writes.

        What is loaded, streamed or updated stays from sample to sample, so it shares nothing. Whether words that have
        one address are needed at the same time is for `tabla.schedule.check.times` to say.
        """
        if one.lifetime is None or other.lifetime is None:
            return False
        stays = self._streamed | self._loaded
        if any(region.key[0] in stays or region.key in self._left for region in (one, other)):
            return False
        if _mix(one.lifetime.written, other.lifetime.written):
            return False
        return (
            one.lifetime.read is None or other.lifetime.read is None or not _mix(one.lifetime.read, other.lifetime.read)
        )

    def place(self, key: MemoryKey) -> Place:
        """The place of a region."""
        layout = self.schedule.layout
        return layout.twins[key[0]] if key[1] else layout.places[key[0]]

    def updated(self, key: MemoryKey) -> bool:
        """Whether a sample leaves the next values of a model there."""
        return key in self._left

    def wide(self, key: MemoryKey) -> bool:
        """Whether stored integers of a wide model lie there, guard bits included."""
        return self.updated(key) and bool(self.schedule.mapped.tensors[key[0][0]].guard)

    def words(self, key: MemoryKey, *, left: bool = False) -> Residues:
        """The image of a region: as operations find it, or as the sample leaves it (`left`). Of a wide model these are
        stored integers.
        """
        left = left and self.updated(key)
        if (key, left) not in self._images:
            (tensor, spot), _ = key
            if is_scratch(spot):
                elements = self.expected.partials[spot.axis]
            elif not self.updated(key) and tensor in self.expected.words:
                elements = self.expected.words[tensor]
            else:
                elements = self.expected.elements[self.schedule.mapped.updates[tensor] if left else tensor]
            self._images[(key, left)] = image(self.place(key), elements, self.schedule.template.lanes)
        return self._images[(key, left)]

    def found(self, key: MemoryKey, stored: bool, name: str) -> Residues:
        """The image of a region as an operand finds it: words, or stored integers with `stored`. `name` is who asks."""
        if stored and not self.wide(key):
            raise ScheduleFault(f"'{name}' takes guard bits from {key[0][0]}, which has none")
        if stored or not self.wide(key):
            return self.words(key)
        if key not in self._upper:
            self._upper[key] = upper(self.words(key))
        return self._upper[key]

    def mark(
        self,
        table: dict[MemoryKey, Marks],
        region: Region,
        at: NDArray[np.int64],
        lanes: slice,
        active: Marks | None,
    ) -> None:
        """Note that words are touched: rows `at`, in all `lanes` or where `active`, of shape [rows, lanes], says so."""
        wide = self.schedule.template.lanes if not region.memory.startswith("root ") else 1
        marks = table.setdefault(region.key, np.zeros((region.words, wide), dtype=np.bool_))
        if active is None:
            rows = np.zeros(region.words, dtype=np.bool_)
            rows[at] = True
            marks[rows, lanes] = True
        else:
            rows_at, lane = np.nonzero(active)
            marks[at[rows_at], lane + (lanes.start or 0)] = True

    def name(self, key: MemoryKey, at: int, lane: int, *, left: bool = False) -> str:
        """The element at an address, for messages: the one found there, or the one that the sample leaves (`left`)."""
        place, (tensor, spot) = self.place(key), key[0]
        tensor = self.schedule.mapped.updates[tensor] if left and self.updated(key) else tensor
        where, lanes = addresses(place)
        found = np.flatnonzero((where == at) & ((lanes == lane) | (place.spot.kind != "lane")))
        if not len(found):
            return f"no element of {tensor}"
        index = [int(n) for n in np.unravel_index(found[0], place.shape)] if place.shape else []
        return element_name(f"{tensor} after steps" if is_scratch(spot) else tensor, index)

    def unwritten(self) -> Iterator[tuple[MemoryKey, int, int]]:
        """Words that are read though no sample writes them and nothing loads them: region, address, lane."""
        for key in sorted(self.read.keys() | self.written.keys() | self._left):
            wide = self.schedule.template.lanes if key[0][1].kind != "root" else 1
            shape = (self.place(key).words, wide)
            none = np.zeros(shape, dtype=np.bool_)
            # Every next value must be written, whether this sample reads it again or not.
            wanted = self.read.get(key, none) if not self.updated(key) else np.ones(shape, dtype=np.bool_)
            missing = wanted & ~self.written.get(key, none) & self._needs(key)
            for at, lane in np.argwhere(missing)[:1].tolist():
                yield key, at, lane

    def _needs(self, key: MemoryKey) -> Marks:
        """The words, of shape [words, lanes] or broadcast to it, that each sample has to write before it reads them."""
        (tensor, spot), twin = key
        place, mapped = self.place(key), self.schedule.mapped
        role = mapped.tensors[tensor].role
        if is_scratch(spot):
            statement = mapped.statements[spot.axis]
            needs: Marks = self.words(key)[:, 0, :] != POISON
            if getattr(statement.operation, "initial", None) is None:
                needs = needs & (np.arange(place.words) % place.shape[-1] > 0)[:, None]
            return needs
        if self.updated(key):
            needed = self.expected.written[mapped.updates[tensor]]
        elif (key[0] in self._streamed and not twin) or tensor in static_tensors(mapped):
            needed = np.zeros(place.shape, dtype=np.bool_)
        elif key[0] in self._loaded and role not in ("model", "input", "label"):
            # The place is loaded with zeros once. They stay in the elements that no statement writes.
            needed = self.expected.written[tensor]
        else:
            needed = np.ones(place.shape, dtype=np.bool_)
        at, lane = addresses(place)
        out = np.zeros((place.words, self.schedule.template.lanes if spot.kind == "lane" else 1), dtype=np.bool_)
        out[at, lane] = needed.reshape(-1)
        return out

    @property
    def _streamed(self) -> frozenset[Key]:
        return frozenset(streamed(self.schedule.layout))

    @property
    def _loaded(self) -> frozenset[Key]:
        return frozenset(loaded(self.schedule.layout))
