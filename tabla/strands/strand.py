"""Strands: hardware loop nests with a start cycle, one list a unit (docs/decisions/0003-machine.md, 3.2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from tabla.templates.template import LANE_KINDS, units_of

Cycles = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """``base + sum(stride * counter)``, one stride per loop level, outermost first; `window` adds the sample's
    offset."""

    base: int = 0
    strides: tuple[int, ...] = ()
    window: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One operation: symbols or numbers of its fields, and its generators. A field not named is 0 (its first
    choice)."""

    fields: Mapping[str, str | int]
    addresses: Mapping[str, Address] = field(default_factory=dict)

    def field(self, name: str, default: str | int = 0) -> str | int:
        """Value of a field."""
        return self.fields.get(name, default)

    def with_fields(self, **changes: str | int) -> Operation:
        """The same operation with some fields changed."""
        return replace(self, fields={**self.fields, **changes})


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """What a strand is for: the statement of the mapped graph with this id (-1: no single statement, as for moves and
    results), and which part of it, counted from 0, where a statement runs in several.

    Owners are for messages and tools. No schedule is judged by them.
    """

    statement: int = -1
    part: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Strand:
    """A loop nest over a body of operations.

    `counts` outermost first, every count >= 1; slot k of iteration n issues at ``start + (n * len(body) + k) *
    interval``; `reduce` innermost levels accumulate. `comment` says what it computes, or for what it moves words; a
    write of results says the same as what makes them. `sequencers` run a strand of the lanes, side by side in step;
    none named: all there are. `owner` is the statement that the strand belongs to.
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
        """The units that run it in an array of so many sequencers."""
        if sequencers == 1 or self.unit not in LANE_KINDS:
            return (self.unit,)
        return tuple(f"{self.unit}_{s}" for s in self.sequencers or range(sequencers))

    def of(self, unit: str) -> Strand:
        """What one of its units runs: of a sum that goes up the tree only the first sequencer adds the half unit."""
        first = self.sequencers[0] if self.sequencers else 0
        if self.unit == unit or unit == f"{self.unit}_{first}":
            return self
        whole = [o.with_fields(half="none") if o.field("half") == "lane0" else o for o in self.body]
        return replace(self, body=tuple(whole))

    @property
    def iterations(self) -> int:
        """Product of the counts."""
        n = 1
        for count in self.counts:
            n *= count
        return n

    @property
    def length(self) -> int:
        """Cycles for which the unit is taken: to its last operation."""
        return self.final - self.start + 1

    @property
    def final(self) -> int:
        """Cycle of the last operation."""
        return self.start + (self.iterations * len(self.body) - 1) * self.interval

    @property
    def end(self) -> int:
        """First cycle in which the unit is free again."""
        return self.start + self.length

    def at(self, start: int) -> Strand:
        """The same strand at another start."""
        return replace(self, start=start)

    def cycles(self, slot: int) -> Cycles:
        """Issue cycles of a body slot, one per iteration, in order."""
        step = len(self.body) * self.interval
        return self.start + slot * self.interval + step * np.arange(self.iterations, dtype=np.int64)

    def values(self, address: Address) -> NDArray[np.int64]:
        """Values of a generator, one per iteration, in order."""
        total = np.array([address.base], dtype=np.int64)
        for count, stride in zip(self.counts, address.strides, strict=True):
            total = np.add.outer(total, stride * np.arange(count, dtype=np.int64)).reshape(-1)
        return total

    def last(self) -> NDArray[np.bool_]:
        """For each iteration, whether it is the last of its reduction."""
        return self._edge(-1)

    def first(self) -> NDArray[np.bool_]:
        """For each iteration, whether it is the first of its reduction."""
        return self._edge(0)

    def _edge(self, which: int) -> NDArray[np.bool_]:
        inner = 1
        for count in self.counts[len(self.counts) - self.reduce :]:
            inner *= count
        marks = np.zeros(inner, dtype=np.bool_)
        marks[which] = True
        return np.tile(marks, self.iterations // inner)


def by_unit(strands: Iterable[Strand], sequencers: int) -> dict[str, tuple[Strand, ...]]:
    """The strands of each unit, in the order given."""
    found: dict[str, list[Strand]] = {unit: [] for unit in units_of(sequencers)}
    for strand in strands:
        for unit in strand.units(sequencers):
            found[unit].append(strand.of(unit))
    return {unit: tuple(own) for unit, own in found.items()}
