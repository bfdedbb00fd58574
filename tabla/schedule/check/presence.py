"""Presence: no word is touched where the array does not have it.

`Layout.needed` says which addresses a lane has, and which the copies that the operands of a root read. The proof has
noted the words that active lanes touch. An idle lane may touch a word that holds no element: the proof takes it for
poison, so nothing depends on it. What the host reads back, the loaded models, must be there too.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tabla.schedule.check.images import Images, Marks, addresses
from tabla.schedule.check.runs import address_of, span_of
from tabla.schedule.mapping.places import Place
from tabla.schedule.strands.layout import Ranges
from tabla.schedule.strands.regions import ScheduleFault, gathers, reading_generators
from tabla.schedule.strands.streams import loaded
from tabla.schedule.strands.tasks import MemoryKey
from tabla.templates.instructions import OPERANDS


def check_presence(images: Images) -> None:
    """Raise `ScheduleFault` for the first word that is touched, or read back, where the array does not have it."""
    schedule = images.schedule
    for memory, has in schedule.layout.needed.items():
        if memory.startswith("root "):
            for operand, ranges in zip(OPERANDS, has, strict=True):
                _check_operand(images, memory, operand, ranges)
        elif len(has) != schedule.template.pes:
            raise ScheduleFault(f"{len(has)} lanes have words of {memory}, of {schedule.template.pes}")
        else:
            _check_lanes(images, memory, has)


def _check_lanes(images: Images, memory: str, has: tuple[Ranges, ...]) -> None:
    lanes = images.schedule.template.lanes
    for key, marks in _touched(images):
        place = images.place(key)
        if memory not in place.banks or place.spot.kind == "root":
            continue
        elements = marks & _elements(place, lanes)
        for first in range(0, len(has), lanes):
            there = np.array([_marked(ranges, place) for ranges in has[first : first + lanes]]).T
            for at, lane in np.argwhere(elements & ~there)[:1].tolist():
                name, where = images.name(key, at, lane), f"{memory}[{place.base + at}]"
                raise ScheduleFault(f"{name} is touched at {where} of lane {first + lane}, which has no such word")


def _touched(images: Images) -> Iterator[tuple[MemoryKey, Marks]]:
    """Yield the words of each place that a sample touches, and those of the models that a dump reads back."""
    for table in (images.read, images.written):
        yield from table.items()
    layout = images.schedule.layout
    for key in loaded(layout):
        if layout.graph.tensors[key[0]].role == "model":
            yield (key, False), np.ones((1, 1), dtype=np.bool_)


def _elements(place: Place, lanes: int) -> Marks:
    """Return which words of a place hold an element, of shape [words, lanes]."""
    marks = np.zeros((place.words, lanes), dtype=np.bool_)
    at, lane = addresses(place)
    marks[at, lane if place.spot.kind == "lane" else slice(None)] = True
    return marks


def _marked(ranges: Ranges, place: Place) -> NDArray[np.bool_]:
    """Return which words of a place lie in some ranges of addresses."""
    marks = np.zeros(place.words, dtype=np.bool_)
    for begin, end in ranges:
        marks[max(0, begin - place.base) : max(0, end - place.base)] = True
    return marks


def _check_operand(images: Images, memory: str, operand: str, ranges: Ranges) -> None:
    """Raise `ScheduleFault` for an operand of a root that reads an address which its copy does not have."""
    schedule = images.schedule
    for strand in schedule.strands:
        for slot, operation in enumerate(strand.body):
            if (operand, memory) not in reading_generators(strand.unit, operation):
                continue
            at = strand.values(address_of(operation, operand, strand))
            if gathers(operation, operand):
                region = images.regions.of(memory, int(at.min()), "read", span_of(strand.cycles(slot)))
                at = np.arange(region.base, region.base + region.words)
            _refuse_absent(at, ranges, f"'{strand.comment}' reads {memory} as operand {operand}")
    if memory == "root memory" and operand == "c":
        for key in loaded(schedule.layout):
            place = schedule.layout.places[key]
            if place.spot.kind == "root" and schedule.layout.graph.tensors[key[0]].role == "model":
                at = np.arange(place.base, place.base + place.words)
                _refuse_absent(at, ranges, f"{key[0]} is read back as operand {operand}")


def _refuse_absent(at: NDArray[np.int64], ranges: Ranges, what: str) -> None:
    there = np.zeros(len(at), dtype=np.bool_)
    for begin, end in ranges:
        there |= (begin <= at) & (at < end)
    for wrong in at[~there][:1].tolist():
        raise ScheduleFault(f"{what}, at address {wrong}, which its copy does not have")
