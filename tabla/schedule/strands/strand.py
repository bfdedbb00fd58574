"""Strands: the loop nests that the units of the array run, each with a start cycle.

What a unit does with a strand is in ``docs/decisions/0003-machine.md``, sections 3.2 to 3.5.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from tabla.templates.instructions import LANE_KINDS, units_of

Cycles = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """An address generator: ``base + sum(stride * counter)``, with one stride for each loop level, outermost first.

    With `window`, the hardware adds the offset of the sample's slot in the ring. Guards of lanes are generators too.
    """

    base: int = 0
    strides: tuple[int, ...] = ()
    window: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One operation of a unit: its fields and its address generators, by name.

    A field holds a number or one of the symbols of ``templates/machine.td``. A field that is not named is 0, which
    stands for the first symbol.
    """

    fields: Mapping[str, str | int]
    addresses: Mapping[str, Address] = field(default_factory=dict)

    def field(self, name: str, default: str | int = 0) -> str | int:
        """Return the value of a field, or `default` if it is not named."""
        return self.fields.get(name, default)

    def with_fields(self, **changes: str | int) -> Operation:
        """Return the operation with some fields changed."""
        return Operation(fields={**self.fields, **changes}, addresses=self.addresses)


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """What a strand is for.

    `statement` is the number of a statement of the mapped graph, or -1 for moves and results. `part` counts, from 0,
    the parts in which a statement is computed. Owners are for messages and tools; no schedule is judged by them.
    """

    statement: int = -1
    part: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Strand:
    """A loop nest over a body of operations.

    `unit` is the kind of unit that runs the strand, such as ``lane_issue``. `counts` has the turns of each loop, the
    outermost first, each at least 1. Body slot k of iteration n issues in cycle
    ``start + (n * len(body) + k) * interval``. The `reduce` innermost loops accumulate: their turns make one sum.

    `sequencers` are the sequencers that run a strand of the lanes, in step with each other; none stands for all.
    `comment` says, for people, what the strand computes or moves; a write of results says what makes them.
    `owner` is the statement that the strand belongs to.
    """

    unit: str
    start: int
    body: tuple[Operation, ...]
    counts: tuple[int, ...] = ()
    interval: int = 1
    reduce: int = 0
    comment: str = ""
    sequencers: tuple[int, ...] = ()
    owner: Owner = Owner()

    def units(self, sequencers: int) -> tuple[str, ...]:
        """Return the units that run the strand in an array of so many sequencers, such as ``lane_issue_0``."""
        if sequencers == 1 or self.unit not in LANE_KINDS:
            return (self.unit,)
        return tuple(f"{self.unit}_{s}" for s in self.sequencers or range(sequencers))

    def of(self, unit: str) -> Strand:
        """Return what one of the strand's units runs.

        In a sum that goes up the tree only the first sequencer's first lane adds the half unit for rounding.
        """
        first = self.sequencers[0] if self.sequencers else 0
        if self.unit == unit or unit == f"{self.unit}_{first}":
            return self
        whole = [o.with_fields(half="none") if o.field("half") == "lane0" else o for o in self.body]
        return replace(self, body=tuple(whole))

    @property
    def iterations(self) -> int:
        """The number of times that the body runs: the product of the counts."""
        n = 1
        for count in self.counts:
            n *= count
        return n

    @property
    def length(self) -> int:
        """The cycles for which the unit is taken, from the first operation to the last."""
        return self.final - self.start + 1

    @property
    def final(self) -> int:
        """The cycle of the last operation."""
        return self.start + (self.iterations * len(self.body) - 1) * self.interval

    @property
    def end(self) -> int:
        """The first cycle in which the unit is free again."""
        return self.start + self.length

    def at(self, start: int) -> Strand:
        """Return the strand with another start cycle."""
        return self.owned(self.owner, start)

    def owned(self, owner: Owner, start: int) -> Strand:
        """Return the strand with another owner and another start cycle."""
        # Searches ask for millions of them, and `replace` takes twice as long.
        return Strand(
            unit=self.unit,
            start=start,
            body=self.body,
            counts=self.counts,
            interval=self.interval,
            reduce=self.reduce,
            comment=self.comment,
            sequencers=self.sequencers,
            owner=owner,
        )

    def cycles(self, slot: int) -> Cycles:
        """Return the cycles in which a body slot issues, one for each iteration, in order."""
        step = len(self.body) * self.interval
        return self.start + slot * self.interval + step * np.arange(self.iterations, dtype=np.int64)

    def values(self, address: Address) -> NDArray[np.int64]:
        """Return the values of a generator, one for each iteration, in order."""
        total = np.array([address.base], dtype=np.int64)
        for count, stride in zip(self.counts, address.strides, strict=True):
            total = np.add.outer(total, stride * np.arange(count, dtype=np.int64)).reshape(-1)
        return total

    def last(self) -> NDArray[np.bool_]:
        """Mark the iterations that are the last of their sum."""
        return self._edge(-1)

    def first(self) -> NDArray[np.bool_]:
        """Mark the iterations that are the first of their sum."""
        return self._edge(0)

    def _edge(self, which: int) -> NDArray[np.bool_]:
        inner = 1
        for count in self.counts[len(self.counts) - self.reduce :]:
            inner *= count
        marks = np.zeros(inner, dtype=np.bool_)
        marks[which] = True
        return np.tile(marks, self.iterations // inner)


def by_unit(strands: Iterable[Strand], sequencers: int) -> dict[str, tuple[Strand, ...]]:
    """Return the strands of each unit, in the order given. A strand of several sequencers appears for each of them."""
    found: dict[str, list[Strand]] = {unit: [] for unit in units_of(sequencers)}
    for strand in strands:
        for unit in strand.units(sequencers):
            found[unit].append(strand.of(unit))
    return {unit: tuple(own) for unit, own in found.items()}
