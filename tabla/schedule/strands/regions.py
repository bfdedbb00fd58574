"""Which place an address belongs to, and which words an operation touches: both are found from the strands alone."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tabla.schedule.mapping.capacity import LARGEST_PLACE
from tabla.schedule.strands.layout import Layout, Lifetime, Span
from tabla.schedule.strands.strand import Address, Operation, Strand
from tabla.schedule.strands.tasks import Footprint, MemoryKey

LANE_BANKS = ("model", "data", "interim")


class TooLarge(Exception):
    """Raised for a place of more than `LARGEST_PLACE` words, such as the partial words of a long product."""


class ScheduleFault(AssertionError):
    """Raised for a schedule that breaks a law of the machine. It is a fault of this program, never of the user."""


def refuse(fault: bool | np.bool_, message: str) -> None:
    """Raise `ScheduleFault` with a message if there is a fault."""
    if fault:
        raise ScheduleFault(message)


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """The addresses [base, base + words) of a memory, which belong to one place.

    `memory` is ``model``, ``data`` or ``interim`` for the lanes, ``root data`` or ``root memory`` for the root. With a
    `lifetime` its reads and its writes are those of certain cycles, and others belong to other places.
    """

    memory: str
    base: int
    words: int
    key: MemoryKey
    lifetime: Lifetime | None = None

    def holds(self, at: int, kind: str, when: Span | None) -> bool:
        """Say whether accesses of a `kind`, ``read`` or ``write``, to an address in cycles `when` are to the place."""
        if not self.base <= at < self.base + self.words:
            return False
        if self.lifetime is None:
            return True
        own = self.lifetime.of(kind)
        return own is not None and when is not None and own[0] <= when[0] <= when[1] <= own[1]


class Regions:
    """All regions of a layout whose places have their base addresses."""

    def __init__(self, layout: Layout) -> None:
        found: dict[str, list[Region]] = {}
        for twin, table in ((False, layout.places), (True, layout.twins)):
            for key, place in sorted(table.items()):
                for bank in place.banks:
                    memory = f"root {bank}" if place.spot.kind == "root" else bank
                    lifetime = None if twin else layout.lifetimes.get(key)
                    region = Region(
                        memory=memory, base=place.base, words=place.words, key=(key, twin), lifetime=lifetime
                    )
                    found.setdefault(memory, []).append(region)
        self._regions = {m: sorted(r, key=lambda x: x.base) for m, r in found.items()}
        self._bases = {m: [r.base for r in rs] for m, rs in self._regions.items()}
        self._shared = {m for m, rs in self._regions.items() if any(r.lifetime for r in rs)}

    def all(self) -> dict[str, list[Region]]:
        """Return the regions of each memory, in the order of their addresses."""
        return self._regions

    def of(self, memory: str, at: int, kind: str = "read", when: Span | None = None) -> Region:
        """Return the region to which an address belongs in the cycles `when`, for accesses of a kind.

        The kind is ``read`` or ``write``. Cycles are needed where places share addresses. Raises `ScheduleFault` for an
        address that belongs to no place.
        """
        if memory in self._shared:
            for region in self._regions[memory]:
                if region.holds(at, kind, when):
                    return region
            cycles = "" if when is None else f" for a {kind} in cycles {when[0]} to {when[1]}"
            raise ScheduleFault(f"{memory}[{at}] belongs to nothing{cycles}")
        position = bisect_right(self._bases.get(memory, []), at) - 1
        if position < 0 or at >= (region := self._regions[memory][position]).base + region.words:
            raise ScheduleFault(f"{memory}[{at}] belongs to nothing")
        return region

    def footprint(
        self, memory: str, strand: Strand, slot: int, generator: Address, *, anywhere: bool = False
    ) -> Footprint:
        """Return the footprint of one address generator of body slot `slot` of a strand.

        With `anywhere`, data decide which word of the place is read. Raises `TooLarge` for a place that no memory can
        hold.
        """
        lowest = generator.base + sum(
            min(0, stride * (count - 1)) for stride, count in zip(generator.strides, strand.counts, strict=True)
        )
        region = self.of(memory, lowest)
        if region.words > LARGEST_PLACE:
            raise TooLarge
        if anywhere:
            return Footprint.anywhere(region.key, strand, slot, words=region.words)
        return Footprint.of(region.key, strand, slot, generator, base=region.base, words=region.words)


def reading_generators(unit: str, operation: Operation) -> Iterator[tuple[str, str]]:
    """Yield the address generators with which an operation reads, each with the memory that it reads.

    `unit` is the kind of the unit that issues the operation, such as ``lane_issue``.
    """
    used = {operation.field("a", "zero"), operation.field("b", "one")}
    if operation.field("base", "zero") == "addend":
        used.add(operation.field("c"))
    if unit == "lane_issue":
        yield from ((bank, bank) for bank in LANE_BANKS if bank in used)
    elif unit == "root_issue":
        for operand in ("a", "b", "c"):
            symbol = str(operation.field(operand)).removeprefix("gathered_")
            if symbol in ("data", "memory") and (operand != "c" or operation.field("base", "zero") == "addend"):
                yield operand, f"root {symbol}"


def gathers(operation: Operation, generator: str) -> bool:
    """Say whether data decide the address of an operand: the position register is then added to the generator."""
    return str(operation.field(generator)).startswith("gathered_")


def scatters(operation: Operation) -> bool:
    """Say whether data decide the address of a write: the position register is then added to the generator."""
    return bool(operation.field("scattered"))


def writing_generators(unit: str, operation: Operation) -> Iterator[tuple[str, str]]:
    """Yield the address generators with which an operation writes, each with the memory that it writes."""
    if unit == "lane_write":
        if operation.field("to_model"):
            yield "address", "model"
        if operation.field("to_interim"):
            yield "address", "interim"
    elif unit == "root_write" and operation.field("to_memory"):
        yield "address", "root memory"
