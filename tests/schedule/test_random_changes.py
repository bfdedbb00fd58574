"""Whatever is changed in a right schedule: what the checker accepts still computes every word on the cycle model."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from typing import TypeVar

import pytest

from tabla.schedule.check import ScheduleFault, check
from tabla.schedule.placing.schedule import Schedule
from tabla.schedule.strands.strand import Address, Operation, Strand
from tabla.templates.instructions import operation_format
from tests.schedule.agreement import agree_on
from tests.schedule.planted import with_strand
from tests.schedule.test_planted_faults import right

CHANGES = 60
T = TypeVar("T")


@pytest.mark.parametrize("name", ["gauges", "svm", "small bank", "padded", "running both", "network on four roots"])
def test_what_is_accepted_computes_the_same(name: str) -> None:
    schedule, draw = right(name), random.Random(name)
    refused = accepted = 0
    for changed in _changes(schedule, draw):
        try:
            check(changed)
        except ScheduleFault:
            refused += 1
        else:
            agree_on(changed, samples=3, seed=accepted)
            accepted += 1
    # Marks on copies, guards of idle lanes and the like change nothing.
    assert refused > accepted > 0


def _changes(schedule: Schedule, draw: random.Random) -> Iterator[Schedule]:
    count = 0
    while count < CHANGES:
        number = draw.randrange(len(schedule.strands))
        strand = schedule.strands[number]
        changed = _changed(schedule, strand, draw)
        if changed is not None and changed != strand:
            count += 1
            yield with_strand(schedule, number, changed)


def _changed(schedule: Schedule, strand: Strand, draw: random.Random) -> Strand | None:
    """A strand with one number or symbol of it changed; None if what was drawn cannot be."""
    slot = draw.randrange(len(strand.body))
    operation = strand.body[slot]
    match draw.choice(["field", "field", "address", "counts", "reduce", "interval", "body"]):
        case "field":
            body = _field(schedule, strand, operation, draw)
        case "address" if operation.addresses:
            body = _address(operation, draw)
        case "counts" if strand.counts:
            level = draw.randrange(len(strand.counts))
            count = strand.counts[level] + draw.choice([-1, 1])
            return replace(strand, counts=_put(strand.counts, level, count)) if count else None
        case "reduce":
            reduce = strand.reduce + draw.choice([-1, 1])
            return replace(strand, reduce=reduce) if 0 <= reduce <= len(strand.counts) else None
        case "interval":
            return replace(strand, interval=strand.interval + 1)
        case "body":
            alike = [s for s in schedule.strands if s.unit == strand.unit and s.counts == strand.counts]
            return replace(strand, body=draw.choice(alike).body)
        case _:
            return None
    return replace(strand, body=_put(strand.body, slot, body))


def _put(items: tuple[T, ...], position: int, item: T) -> tuple[T, ...]:
    return (*items[:position], item, *items[position + 1 :])


def _field(schedule: Schedule, strand: Strand, operation: Operation, draw: random.Random) -> Operation:
    field = draw.choice(operation_format(strand.unit).fields)
    if field.choices:
        return operation.with_fields(**{field.name: draw.choice(field.choices)})
    most = {"shift": len(schedule.shifts), "gate": len(strand.counts) + 1, "function": 8}
    return operation.with_fields(**{field.name: draw.randrange(most.get(field.name, 2))})


def _address(operation: Operation, draw: random.Random) -> Operation:
    generator = draw.choice(sorted(operation.addresses))
    address, step = operation.addresses[generator], draw.choice([-1, 1])
    changed = replace(address, base=address.base + step)
    if address.strides and draw.random() < 0.5:
        level = draw.randrange(len(address.strides))
        changed = replace(address, strides=_put(address.strides, level, address.strides[level] + step))
    addresses: dict[str, Address] = {**operation.addresses, generator: changed}
    return replace(operation, addresses=addresses)
