"""Tasks: what a scheduler gives a cycle.

A task is the strands of a statement, of several statements that belong together, of a move, or of a result. Its strands
keep their distances in time, so one start cycle places all of them. A task says which words it touches and when, what
it puts on the bus, and which results it shows in registers, so that a scheduler need not look into its strands.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping as Map
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tabla.schedule.strands.layout import Key
from tabla.schedule.strands.leaving import Nest
from tabla.schedule.strands.strand import Address, Cycles, Strand, by_unit

NEVER = np.iinfo(np.int64).min // 4
"""The last cycle of an address that is not touched."""
LATE = np.iinfo(np.int64).max // 4
"""The first cycle of an address that is not touched."""

MemoryKey = tuple[Key, bool]
"""The key of a place, and whether its twin in `interim` is meant."""


def _touches(
    counts: tuple[int, ...], strides: tuple[int, ...], at: int, cycle: int, step: int, words: int
) -> tuple[Cycles, Cycles]:
    """Return the first and the last cycle in which a loop nest touches each word of a place.

    `counts` and `strides` are those of the loops, the outermost first. The first turn touches the address `at` in the
    cycle `cycle`; turns of the innermost loop are `step` cycles apart.
    """
    # A loop that does not change the address touches the same word from its first turn to its last. Only the other
    # loops are unrolled, so a contraction costs as many steps as its operand has words, not as many as it multiplies.
    addresses, cycles, wait = np.array([at], dtype=np.int64), np.array([cycle], dtype=np.int64), 0
    for count, stride in zip(reversed(counts), reversed(strides), strict=True):
        if stride and count > 1:
            turns = np.arange(count, dtype=np.int64)
            addresses = np.add.outer(stride * turns, addresses).reshape(-1)
            cycles = np.add.outer(step * turns, cycles).reshape(-1)
        else:
            wait += step * (count - 1)
        step *= count
    first: NDArray[np.int64] = np.full(words, LATE, dtype=np.int64)
    last: NDArray[np.int64] = np.full(words, NEVER, dtype=np.int64)
    # Where an address comes several times, the last assignment counts: the earliest cycle, then the latest.
    first[addresses[::-1]] = cycles[::-1]
    last[addresses] = cycles + wait
    first.setflags(write=False)
    last.setflags(write=False)
    return first, last


_FEW_WORDS = 1024
"""The most words of a place whose touches are kept. A search asks for the same ones again with every mapping."""
_kept_touches = lru_cache(maxsize=2048)(_touches)


@dataclass(frozen=True, slots=True, kw_only=True)
class Footprint:
    """The words that one address generator touches: the first and the last cycle for each address of a place.

    `first` and `last` have an element for each word of the place. Cycles count from the task's cycle 0, addresses from
    the base of the place. Where a word is not touched, `first` is LATE and `last` is NEVER.
    """

    key: MemoryKey
    first: Cycles
    last: Cycles

    @staticmethod
    def of(key: MemoryKey, strand: Strand, slot: int, address: Address, *, base: int, words: int) -> Footprint:
        """Return the footprint of a generator of one body slot of a strand; the place has `words` words from `base`."""
        at, cycle = address.base - base, strand.start + slot * strand.interval
        step = len(strand.body) * strand.interval
        touched = _kept_touches if words <= _FEW_WORDS else _touches
        first, last = touched(strand.counts, address.strides, at, cycle, step, words)
        return Footprint(key=key, first=first, last=last)

    @staticmethod
    def anywhere(key: MemoryKey, strand: Strand, slot: int, *, words: int) -> Footprint:
        """Return the footprint of a gathered operand: any word may be touched in any cycle of the strand's slot."""
        cycles = strand.cycles(slot)
        first = np.full(words, cycles[0], dtype=np.int64)
        return Footprint(key=key, first=first, last=np.full(words, cycles[-1], dtype=np.int64))


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A result that shows in a register of the root, from which another task may take it.

    `show` is the cycle in which the first word shows. `register` is ``result`` or ``function``. A short vector has the
    addresses of its words in `words`, in the order in which they show, one every `interval` cycles; a scalar has none.
    """

    tensor: str
    register: str
    show: int
    words: tuple[int, ...] = ()
    interval: int = 1

    def wait(self, words: tuple[int, ...], interval: int) -> int | None:
        """Return the cycles from the first word until `words` begin to show, one every `interval` cycles.

        The result is None if these words do not show in this order and at this distance.
        """
        if not words or not self.words:
            return 0 if words == self.words else None
        if words[0] not in self.words:
            return None
        first = self.words.index(words[0])
        fits = self.words[first : first + len(words)] == words and (len(words) == 1 or interval == self.interval)
        return first * self.interval if fits else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ForwardableOperand:
    """An operand of a root strand that may be forwarded: taken from a register of the root instead of from its memory.

    `strand` and `slot` say which operation of the task takes it, `operand` whether it is ``a``, ``b`` or ``c``, and
    `footprint` which of the task's reads it saves. `cycle` is the cycle, from the task's cycle 0, in which the first
    word must show. `words` and `interval` are as those of the :class:`Shown` result that fits.
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
    """Strands that are placed together; all cycles count from the task's cycle 0.

    Memories: `reads` and `writes` are the footprints. `produces` has the tensors that the task makes.

    The bus: `bus` has the cycles of the first arrival and of the last use of the words that the task puts there. If
    such a word is a scalar, which stays until another word comes, `holds` names it. A task with `wants` needs that
    scalar on the bus from cycle ``wants_cycles[0]`` to ``wants_cycles[1]``, whoever put it there; its variant `fed`
    brings the scalar itself.

    Registers of the root: `function` is the span of cycles in which results of functions show. `shown` has the results
    that others may take from a register, and `forwardable` the operands that the task may take from one.

    Results: `shows` is the name of the result that leaves from the task, wholly or in part. `leaves` has its elements
    in the order in which they leave; without any, all of them leave, row-major.

    `statement` is the number of the statement that the task computes, of the last one if there are several, and -1 for
    moves and results. Tasks of one statement are its parts.
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
        """The cycles from cycle 0 to the end of the last strand."""
        return max(s.end for s in self.strands)

    def taken(self, sequencers: int) -> Iterator[tuple[str, int, int]]:
        """Yield what the task takes of the array, with the first cycle and the one after the last: units, the ``bus``,
        and the end of the ``function`` unit.
        """
        for strand in self.strands:
            for unit in strand.units(sequencers):
                yield unit, strand.start, strand.end
        for name, cycles in (("bus", self.bus), ("function", self.function)):
            if cycles:
                yield name, cycles[0], cycles[1] + 1

    def of_part(self, part: int) -> Task:
        """Return the task with its strands labelled as part number `part` of their statement."""
        # Most tasks are the first part of their statement, and are made as such.
        if self.fed is None and all(s.owner.part == part for s in self.strands):
            return self
        strands = tuple(replace(s, owner=replace(s.owner, part=part)) for s in self.strands)
        return replace(self, strands=strands, fed=None if self.fed is None else self.fed.of_part(part))

    def clashes(self, sequencers: int) -> bool:
        """Say whether two strands of the task, or of its fed variant, want the same unit in the same cycle."""
        if self.fed is not None and self.fed.clashes(sequencers):
            return True
        units = by_unit(sorted(self.strands, key=lambda strand: strand.start), sequencers).values()
        return any(after.start < before.end for strands in units for before, after in pairwise(strands))
