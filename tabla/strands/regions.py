"""Which place an address belongs to, and the accesses of strands, found from the strands alone."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from tabla.mapping.capacity import LARGEST_PLACE
from tabla.strands.layout import Layout
from tabla.strands.strand import Address, Operation, Strand
from tabla.strands.tasks import Access, MemoryKey

LANE_BANKS = ("model", "data", "interim")


class TooLarge(Exception):
    """A place of more than `LARGEST_PLACE` words, such as the partial words of a long product."""


class ScheduleFault(AssertionError):
    """A schedule that breaks a law: our fault, never the user's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """Addresses [base, base + words) of a memory."""

    memory: str
    base: int
    words: int
    key: MemoryKey


class Regions:
    """All regions of an allocated layout."""

    def __init__(self, layout: Layout) -> None:
        found: dict[str, list[Region]] = {}
        for twin, table in ((False, layout.places), (True, layout.twins)):
            for key, place in sorted(table.items()):
                for bank in place.banks:
                    memory = f"root {bank}" if place.spot.kind == "root" else bank
                    region = Region(memory=memory, base=place.base, words=place.words, key=(key, twin))
                    found.setdefault(memory, []).append(region)
        self._regions = {m: sorted(r, key=lambda x: x.base) for m, r in found.items()}
        self._bases = {m: [r.base for r in rs] for m, rs in self._regions.items()}

    def all(self) -> dict[str, list[Region]]:
        """The regions of each memory, by their addresses."""
        return self._regions

    def of(self, memory: str, at: int) -> Region:
        """The region that holds an address."""
        position = bisect_right(self._bases.get(memory, []), at) - 1
        if position < 0 or at >= (region := self._regions[memory][position]).base + region.words:
            raise ScheduleFault(f"{memory}[{at}] belongs to nothing")
        return region

    def access(self, memory: str, strand: Strand, slot: int, generator: Address, *, anywhere: bool = False) -> Access:
        """The access of one generator of one slot; `anywhere`: data decide which word of the place it is."""
        lowest = generator.base + sum(
            min(0, stride * (count - 1)) for stride, count in zip(generator.strides, strand.counts, strict=True)
        )
        region = self.of(memory, lowest)
        if region.words > LARGEST_PLACE:
            raise TooLarge
        if anywhere:
            return Access.anywhere(region.key, strand, slot, words=region.words)
        return Access.of(region.key, strand, slot, generator, base=region.base, words=region.words)


def read_ports(unit: str, operation: Operation) -> Iterator[tuple[str, str]]:
    """(generator, memory) of every word an operation reads."""
    used = {operation.field("a", "zero"), operation.field("b", "one")}
    if operation.field("base", "zero") == "addend":
        used.add(operation.field("c"))
    if unit == "lane_issue":
        yield from ((bank, bank) for bank in LANE_BANKS if bank in used)
    elif unit == "root_issue":
        for port in ("a", "b", "c"):
            symbol = str(operation.field(port)).removeprefix("gathered_")
            if symbol in ("data", "memory") and (port != "c" or operation.field("base", "zero") == "addend"):
                yield port, f"root {symbol}"


def gathers(operation: Operation, generator: str) -> bool:
    """Whether data decide the address of a port."""
    return str(operation.field(generator)).startswith("gathered_")


def write_ports(unit: str, operation: Operation) -> Iterator[tuple[str, str]]:
    """(generator, memory) of every word an operation writes."""
    if unit == "lane_write":
        if operation.field("to_model"):
            yield "address", "model"
        if operation.field("to_interim"):
            yield "address", "interim"
    elif unit == "root_write" and operation.field("to_memory"):
        yield "address", "root memory"
