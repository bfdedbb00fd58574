"""The runs that the proof looks at: the strands of each unit, or the parts that a strand is cut into."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tabla.schedule.strands.layout import Span
from tabla.schedule.strands.strand import Address, Operation, Strand

Numbers = NDArray[np.int64]


def address_of(operation: Operation, generator: str, strand: Strand) -> Address:
    """Return a generator of an operation. A generator that the operation does not name stays at address 0."""
    return operation.addresses.get(generator) or Address(strides=(0,) * len(strand.counts))


def span_of(cycles: Numbers) -> Span:
    """Return the first and the last of some cycles."""
    return int(cycles.min()), int(cycles.max())


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Asked:
    """Words of a memory that an operation reads: their addresses, counted from the `window` if it says so.

    `when` are the first and the last cycle in which they are read.
    """

    memory: str
    at: Numbers
    when: Span
    window: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Run:
    """Iterations [begin, end) of a strand on one unit; as a rule all of them.

    Operations count from the strand's first: slot k of iteration n is operation ``n * slots + k``. `place` is which of
    the unit's strands it is, or is a part of; `before` is the run that the unit does before it, -1 if there is none.
    """

    number: int
    unit: str
    strand: Strand
    begin: int
    end: int
    place: int
    before: int

    @property
    def slots(self) -> int:
        """Operations of an iteration."""
        return len(self.strand.body)

    @property
    def inner(self) -> int:
        """Iterations that accumulate into one result."""
        strand = self.strand
        return int(np.prod(strand.counts[len(strand.counts) - strand.reduce :], dtype=np.int64))

    @property
    def goes_on(self) -> bool:
        """Whether its first operation adds to what the accumulator holds."""
        first = self.begin % self.inner == 0
        return not first or self.strand.body[0].field("base", "zero") == "accumulator"

    def cycle(self, operation: int) -> int:
        """The cycle in which an operation issues."""
        return self.strand.start + operation * self.strand.interval


def parts(strand: Strand, cut: str) -> Iterator[tuple[Strand, int, int]]:
    """Yield the runs that a strand is cut into: each is iterations [begin, end) of a strand."""
    if cut == "slots":
        for slot, operation in enumerate(strand.body):
            start, interval = strand.start + slot * strand.interval, strand.interval * len(strand.body)
            yield replace(strand, start=start, interval=interval, body=(operation,)), 0, strand.iterations
        return
    step = 1 if cut == "iterations" else strand.iterations
    yield from ((strand, begin, begin + step) for begin in range(0, strand.iterations, step))


def independent(strand: Strand) -> bool:
    """Say whether every operation of a strand starts its accumulator anew."""
    return not strand.reduce and all(o.field("base", "zero") != "accumulator" for o in strand.body)
