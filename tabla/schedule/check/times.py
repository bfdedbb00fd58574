"""The laws of time of memory words: written before they are read, not while they are read, not replaced before their
last read, within a sample and between samples `initiation_interval` apart.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from tabla.schedule.check.runs import address_of, span_of
from tabla.schedule.mapping.places import Place
from tabla.schedule.placing.schedule import Schedule
from tabla.schedule.strands.layout import hollow, is_scratch
from tabla.schedule.strands.regions import (
    Region,
    Regions,
    gathers,
    reading_generators,
    refuse,
    scatters,
    writing_generators,
)
from tabla.schedule.strands.strand import Cycles, Strand
from tabla.schedule.strands.tasks import MemoryKey
from tabla.templates.template import Template, timing

_Owned = tuple[str, MemoryKey]
"""A memory, and the key of a place there."""


class _Times:
    """First and last cycles at which each address of a region is read and written."""

    def __init__(self, words: int) -> None:
        # A word that is never read or written was so long before or after all others. Differences of both still fit.
        never, late = np.iinfo(np.int64).min // 4, np.iinfo(np.int64).max // 4
        self.first = {kind: np.full(words, late, dtype=np.int64) for kind in ("read", "write")}
        self.last = {kind: np.full(words, never, dtype=np.int64) for kind in ("read", "write")}

    def add(self, kind: str, at: Cycles, cycles: Cycles) -> None:
        np.minimum.at(self.first[kind], at, cycles)
        np.maximum.at(self.last[kind], at, cycles)

    def of_addresses(self, words: int) -> tuple[Cycles, Cycles]:
        """The first and the last cycles in which each of `words` addresses is touched, in any lane."""
        first = np.minimum(self.first["read"], self.first["write"]).reshape(words, -1).min(axis=1)
        return first, np.maximum(self.last["read"], self.last["write"]).reshape(words, -1).max(axis=1)


def check_times(schedule: Schedule) -> None:
    """Words are written before they are read, not while they are read, and not replaced before their last read."""
    regions = Regions(schedule.layout)
    precise = _shared_rows(schedule, regions)
    times: dict[_Owned, _Times] = {}
    owners: dict[_Owned, Region] = {}
    for strand, slot in ((s, slot) for s in schedule.strands for slot in range(len(s.body))):
        operation, cycles = strand.body[slot], strand.cycles(slot)
        for kind, ports in (("read", reading_generators), ("write", writing_generators)):
            for generator, memory in ports(strand.unit, operation):
                at = strand.values(address_of(operation, generator, strand))
                region = regions.of(memory, int(at.min()), kind, span_of(cycles))
                refuse(int(at.max()) >= region.base + region.words, f"'{strand.comment}' leaves {region.key}")
                beside = _beside(schedule.template, strand, region)
                refuse(beside, f"'{strand.comment}' uses lanes beside those of {region.key[0][0]}")
                key = (memory, region.key)
                owners[key] = region
                row, when = at - region.base, cycles
                if gathers(operation, generator) if kind == "read" else scatters(operation):
                    row, when = _anywhere(region, cycles)
                if key in precise:
                    row, when = _per_lane(schedule.template, strand, slot, row, cycles)
                words = region.words * (schedule.template.lanes if key in precise else 1)
                times.setdefault(key, _Times(words)).add(kind, row, when)
    zeros = hollow(schedule.mapped)
    for key, t in times.items():
        _region(schedule, owners[key], t, zeros)
    for one, other in combinations(sorted(times, key=lambda key: (key[0], owners[key].base)), 2):
        if one[0] == other[0] and owners[other].base < owners[one].base + owners[one].words:
            _shared_addresses(schedule, (owners[one], times[one]), (owners[other], times[other]))


def _beside(template: Template, strand: Strand, region: Region) -> bool:
    """Whether a strand runs in lanes that are not a spread place's: there the address means nothing."""
    span, each = region.key[0][1].span, template.lanes_per_sequencer
    if not span.lanes:
        return False
    own = range(span.first // each, (span.first + span.lanes) // each)
    return not strand.sequencers or any(s not in own for s in strand.sequencers)


def _anywhere(region: Region, cycles: Cycles) -> tuple[Cycles, Cycles]:
    """Every word of a region, in the first and in the last cycle."""
    rows = np.arange(region.words, dtype=np.int64)
    return np.tile(rows, 2), np.repeat(cycles[[0, -1]], region.words)


def _shared_rows(schedule: Schedule, regions: Regions) -> frozenset[_Owned]:
    """Lane memories that several strands write: their rows are shared, so lanes must be told apart."""
    writers: dict[_Owned, int] = {}
    for strand in (s for s in schedule.strands if s.unit == "lane_write"):
        for slot, operation in enumerate(strand.body):
            for generator, memory in writing_generators("lane_write", operation):
                at = strand.values(address_of(operation, generator, strand))
                region = regions.of(memory, int(at.min()), "write", span_of(strand.cycles(slot)))
                writers[(memory, region.key)] = writers.get((memory, region.key), 0) + 1
    return frozenset(key for key, count in writers.items() if count > 1)


def _per_lane(template: Template, strand: Strand, slot: int, rows: Cycles, cycles: Cycles) -> tuple[Cycles, Cycles]:
    """Rows and cycles of each active lane: word ``row * pes + lane``."""
    operation, pes = strand.body[slot], template.lanes
    lanes = np.arange(pes, dtype=np.int64)
    if strand.sequencers:
        lanes = lanes[np.isin(lanes // template.lanes_per_sequencer, strand.sequencers)]
    low, high = (strand.values(address_of(operation, name, strand))[:, None] for name in ("low", "high"))
    active = (low <= lanes) & (lanes < high)
    words = rows[:, None] * pes + lanes
    return words[active], np.broadcast_to(cycles[:, None], active.shape)[active]


def _shared_addresses(schedule: Schedule, lower: tuple[Region, _Times], upper: tuple[Region, _Times]) -> None:
    """Two words that have one address are needed one after the other, and both before the next sample needs either.

    The next sample begins an initiation interval later, or at any time after that.
    """
    (one, own), (other, others) = lower, upper
    begin, end = other.base, min(one.base + one.words, other.base + other.words)
    first, last = (cycles[begin - one.base : end - one.base] for cycles in own.of_addresses(one.words))
    later, latest = (cycles[: end - begin] for cycles in others.of_addresses(other.words))
    names = f"{one.key[0][0]} at {one.key[0][1]} and {other.key[0][0]} at {other.key[0][1]}"
    meet = (last >= later) & (latest >= first)
    refuse(meet.any(), f"{names} share words of {one.memory}, which both need at a time")
    early = np.maximum(last, latest) >= np.minimum(first, later) + schedule.initiation_interval
    refuse(early.any(), f"{names} share words of {one.memory}, and the next sample needs them too early")


def _region(schedule: Schedule, region: Region, t: _Times, zeros: frozenset[str]) -> None:
    (tensor, spot), _ = region.key
    name = f"{tensor} at {spot}"
    model = (tensor, spot) in schedule.mapping.updated
    place: Place | None = schedule.layout.places.get((tensor, spot))
    read, written = t.last["read"] >= 0, t.last["write"] >= 0
    role = schedule.layout.graph.tensors[tensor].role
    if role in ("input", "label") and place is not None and place.banks == ("data",) and not region.key[1]:
        refuse(written.any(), f"{name} belongs to the stream")
        ready = schedule.release - timing().front
        refuse(bool(read.any()) and int(t.last["read"].max()) >= ready, f"{name} is read after its slot is free")
        return
    if model:
        refuse((t.last["read"] >= t.first["write"]).any(), f"{name} is overwritten before its last read")
        gap = t.last["write"] + 1 - t.first["read"]
        refuse(int(gap.max()) > schedule.initiation_interval, f"{name} is not updated in time")
        return
    loaded = tensor in zeros
    if not written.any() and (role == "constant" or (role == "model" and tensor not in schedule.graph.updates)):
        return
    # The first words of a product's partial ones may be loaded.
    loaded |= is_scratch(spot)
    refuse((read & ~written).any() and not loaded, f"{name} is read where nothing was written")
    refuse((t.first["read"] <= t.last["write"]).any(), f"{name} is read before it is written")
    gap = np.maximum(t.last["read"], t.last["write"])[written] + 1 - t.first["write"][written]
    early = bool(gap.size) and int(gap.max()) > schedule.initiation_interval
    refuse(early, f"{name} is overwritten by the next sample before its last read")
