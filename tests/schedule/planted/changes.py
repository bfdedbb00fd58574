"""How a fault is planted: changes of the strands and operations of a schedule, and the table of all kinds of fault."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from tabla.schedule.placing.schedule import Schedule
from tabla.schedule.strands.strand import Address, Operation, Strand

Fault = Callable[[Schedule], Iterator[Schedule]]
FAULTS: dict[str, Fault] = {}
"""By name: all the ways in which a fault can be planted into a schedule."""
COMPARED = ("<", "<=", ">", ">=", "==", "!=")


def fault(plant: Fault) -> Fault:
    FAULTS[plant.__name__.replace("_", " ")] = plant
    return plant


def with_strand(schedule: Schedule, number: int, strand: Strand) -> Schedule:
    """The schedule with another strand at a position."""
    strands = (*schedule.strands[:number], strand, *schedule.strands[number + 1 :])
    return replace(schedule, strands=tuple(sorted(strands, key=lambda s: (s.unit, s.start))))


def operations(schedule: Schedule, *units: str) -> Iterator[tuple[int, int, Strand, Operation]]:
    """Every operation of some units: the position of its strand, its slot, the strand and itself."""
    for number, strand in enumerate(schedule.strands):
        if strand.unit in units:
            for slot, operation in enumerate(strand.body):
                yield number, slot, strand, operation


def with_operation(schedule: Schedule, number: int, slot: int, operation: Operation) -> Schedule:
    """The schedule with another operation in a slot."""
    strand = schedule.strands[number]
    return with_strand(schedule, number, replace(strand, body=put(strand.body, slot, operation)))


def put(body: tuple[Operation, ...], slot: int, operation: Operation) -> tuple[Operation, ...]:
    return (*body[:slot], operation, *body[slot + 1 :])


def moved(operation: Operation, changes: Mapping[str, Address]) -> Operation:
    return replace(operation, addresses={**operation.addresses, **changes})


def shifted(operation: Operation, generator: str, step: int) -> Operation:
    address = operation.addresses[generator]
    return moved(operation, {generator: replace(address, base=address.base + step)})


def reading(operation: Operation, *generators: str) -> list[str]:
    """The generators of memories that an operation reads."""
    return [g for g in operation.addresses if g in generators]


def fields(schedule: Schedule, unit: str, name: str, old: object, new: str | int) -> Iterator[Schedule]:
    """Each operation of a unit that says `old` says `new`."""
    for number, slot, _, operation in operations(schedule, unit):
        if operation.field(name) == old:
            yield with_operation(schedule, number, slot, operation.with_fields(**{name: new}))


def true_product(operation: Operation) -> bool:
    return operation.field("a", "zero") != "zero" and operation.field("b", "one") not in ("one", "position", 0)


def writes_memory(operation: Operation) -> bool:
    return any(operation.field(name) for name in ("to_memory", "to_model", "to_interim"))


def rounded(operation: Operation) -> bool:
    """Whether a product is rounded there: half a unit makes a difference."""
    return true_product(operation) and operation.field("post", "none") == "none"
