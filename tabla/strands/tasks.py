"""Tasks: the strands of one statement or move, rigid to each other, with all that they touch."""

from __future__ import annotations

from collections.abc import Mapping as Map
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tabla.strands.layout import Key
from tabla.strands.leaving import Nest
from tabla.strands.strand import Address, Cycles, Strand, by_unit

NEVER = np.iinfo(np.int64).min // 4
LATE = np.iinfo(np.int64).max // 4

MemoryKey = tuple[Key, bool]
"""A place, and whether its twin in `interim` is meant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Footprint:
    """One generator's words: the first and the last cycle at which each address of a place is touched.

    Cycles are relative to the task, addresses to the place's base; `first` is LATE and `last` NEVER where
    nothing is touched.
    """

    key: MemoryKey
    first: Cycles
    last: Cycles

    @staticmethod
    def of(key: MemoryKey, strand: Strand, slot: int, address: Address, *, base: int, words: int) -> Footprint:
        """Collect from a strand's slot."""
        # Loops that leave the address alone touch a word from their first turn to their last: only the others are
        # gone through, so a contraction costs what its operands have, not what it multiplies.
        step = len(strand.body) * strand.interval
        at, cycles, wait = (np.array([start], dtype=np.int64) for start in (address.base - base, strand.start, 0))
        cycles = cycles + slot * strand.interval
        for count, stride in zip(reversed(strand.counts), reversed(address.strides), strict=True):
            if stride:
                turns = np.arange(count, dtype=np.int64)
                at = np.add.outer(stride * turns, at).reshape(-1)
                cycles = np.add.outer(step * turns, cycles).reshape(-1)
            else:
                wait = wait + step * (count - 1)
            step *= count
        first: NDArray[np.int64] = np.full(words, LATE, dtype=np.int64)
        last: NDArray[np.int64] = np.full(words, NEVER, dtype=np.int64)
        # Of equal addresses the last assignment counts: the earliest cycle, and the latest.
        first[at[::-1]] = cycles[::-1]
        last[at] = cycles + wait
        return Footprint(key=key, first=first, last=last)

    @staticmethod
    def anywhere(key: MemoryKey, strand: Strand, slot: int, *, words: int) -> Footprint:
        """Any word of a place may be touched in any cycle of a strand's slot."""
        cycles = strand.cycles(slot)
        first = np.full(words, cycles[0], dtype=np.int64)
        return Footprint(key=key, first=first, last=np.full(words, cycles[-1], dtype=np.int64))


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A result that shows in a root register: `show` is the cycle, `register` which one.

    Words of a short vector show every `interval` cycles, in the order of their addresses `words` (none: a scalar).
    """

    tensor: str
    register: str
    show: int
    words: tuple[int, ...] = ()
    interval: int = 1

    def wait(self, words: tuple[int, ...], interval: int) -> int | None:
        """Cycles from the first word until these begin to show, one every `interval`; None if they do not."""
        if not words or not self.words:
            return 0 if words == self.words else None
        if words[0] not in self.words:
            return None
        first = self.words.index(words[0])
        fits = self.words[first : first + len(words)] == words and (len(words) == 1 or interval == self.interval)
        return first * self.interval if fits else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ForwardableOperand:
    """An operand of a root strand that may be forwarded: where it is, and when it is needed.

    `words` and `interval`: those of the :class:`Shown` result that fits.
    """

    tensor: str
    strand: int
    slot: int
    operand: str
    cycle: int
    footprint: int
    words: tuple[int, ...] = ()
    interval: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """Strands with starts relative to the task's cycle 0.

    `bus` is (first arrival, last use) of what it puts there, `holds` the scalar tensor that then stays on the
    bus; `wants` is a scalar that must be on the bus from `wants_cycles[0]` to `wants_cycles[1]`. `function` is
    the span in which its function results show. `shows` is the result that leaves from it, or a
    part of one: `leaves` are its elements in order (none: all of them, row-major).
    """

    name: str
    strands: tuple[Strand, ...]
    reads: tuple[Footprint, ...] = ()
    writes: tuple[Footprint, ...] = ()
    bus: tuple[int, int] | None = None
    holds: str = ""
    wants: str = ""
    wants_cycles: tuple[int, int] = (0, 0)
    function: tuple[int, int] | None = None
    shown: tuple[Shown, ...] = ()
    forwardable: tuple[ForwardableOperand, ...] = ()
    fed: Task | None = None
    statement: int = -1
    produces: tuple[str, ...] = ()
    shows: str = ""
    leaves: tuple[Nest, ...] = ()
    comment: str = ""
    details: Map[str, str] = field(default_factory=dict)

    @property
    def length(self) -> int:
        """From cycle 0 to the end of its last strand."""
        return max(s.end for s in self.strands)

    def of_part(self, part: int) -> Task:
        """The same task as part number `part` of its statement."""
        strands = tuple(replace(s, owner=replace(s.owner, part=part)) for s in self.strands)
        return replace(self, strands=strands, fed=None if self.fed is None else self.fed.of_part(part))

    def clashes(self, sequencers: int) -> bool:
        """Whether two of its strands, or of those when it is fed, want a unit in the same cycle."""
        if self.fed is not None and self.fed.clashes(sequencers):
            return True
        units = by_unit(sorted(self.strands, key=lambda strand: strand.start), sequencers).values()
        return any(after.start < before.end for strands in units for before, after in pairwise(strands))
