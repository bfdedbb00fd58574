"""When the words of places are needed, and which places may have addresses in common."""

from __future__ import annotations

from collections.abc import Mapping as Map
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

import numpy as np

from tabla.schedule.mapping.mapping import Mapping
from tabla.schedule.placing.initiation_interval import touches
from tabla.schedule.placing.placed import Placed
from tabla.schedule.strands.layout import Key, Layout, Lifetime, Span, is_scratch
from tabla.schedule.strands.strand import Cycles
from tabla.schedule.strands.streams import loaded, streamed
from tabla.schedule.strands.tasks import LATE, NEVER


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Need:
    """When a place is needed: its lifetime, and the first and the last cycle in which each of its words is touched.

    A word that is never touched has a first cycle above its last one, farther than any cycles of a sample.
    """

    lifetime: Lifetime
    first: Cycles
    last: Cycles

    def apart(self, other: Need, by: int, interval: int) -> bool:
        """Say whether, at each common address, one of the two words is done before the other one begins.

        The other place begins `by` words later than this one. Samples begin `interval` cycles after each other, or
        later. Both words must be done before the next sample needs either.
        """
        words = min(len(self.first) - max(0, by), len(other.first) + min(0, by))
        own, others = slice(max(0, by), max(0, by) + words), slice(max(0, -by), max(0, -by) + words)
        first, last, later, latest = self.first[own], self.last[own], other.first[others], other.last[others]
        follow = ((last < later) | (latest < first)).all()
        return bool(follow and (np.maximum(last, latest) < np.minimum(first, later) + interval).all())


class Relation(Enum):
    """What two places may have in common."""

    FREE = "any addresses, because one of them is done before the other one begins"
    WORDS = "those at which one word is done before the other one begins"
    NOTHING = "no address, because their reads or their writes mix"


@dataclass(frozen=True, eq=False)
class Relations:
    """The relations of places that have `needs`, if samples begin `interval` cycles apart."""

    needs: Map[Key, Need]
    interval: int

    @cached_property
    def _numbers(self) -> dict[Key, int]:
        return {key: number for number, key in enumerate(self.needs)}

    @cached_property
    def _table(self) -> list[list[Relation]]:
        lifetimes = [need.lifetime for need in self.needs.values()]
        spans, written, read = (
            np.array(cycles, dtype=np.int64).reshape(-1, 2)
            for cycles in (
                [lifetime.span for lifetime in lifetimes],
                [lifetime.written for lifetime in lifetimes],
                [lifetime.read or (LATE, NEVER) for lifetime in lifetimes],
            )
        )
        last, first = np.maximum.outer(spans[:, 1], spans[:, 1]), np.minimum.outer(spans[:, 0], spans[:, 0])
        free = ~_meet(spans) & (last < first + self.interval)
        mixed = _meet(written) | _meet(read)
        found = np.where(free, 0, np.where(mixed, 2, 1))
        relations = list(Relation)
        return [[relations[number] for number in row] for row in found.tolist()]

    def between(self, one: Key, other: Key) -> Relation:
        """Return the relation of two places."""
        return self._table[self._numbers[one]][self._numbers[other]]


def _meet(spans: Cycles) -> np.typing.NDArray[np.bool_]:
    """Return, for each two spans of cycles, whether they have a cycle in common."""
    begins, ends = spans[:, 0], spans[:, 1]
    return (begins[:, None] <= ends[None, :]) & (begins[None, :] <= ends[:, None])


def needs_of(placed: Sequence[Placed], mapping: Mapping, layout: Layout) -> dict[Key, Need]:
    """Return when a sample needs each place that it fills anew.

    What is loaded or streamed, models, and the partial words of products are left out, and so are second copies of
    streamed tensors.
    """
    stays = {*loaded(layout), *streamed(layout), *mapping.updated}
    needs = {}
    for (key, twin), t in touches(placed).items():
        if twin or key in stays or is_scratch(key[1]):
            continue
        written, read = _span(t.write_first, t.write_last), _span(t.read_first, t.read_last)
        if written is not None:
            needs[key] = Need(
                lifetime=Lifetime(written=written, read=read),
                first=np.minimum(t.read_first, t.write_first),
                last=np.maximum(t.read_last, t.write_last),
            )
    return needs


def _span(first: Cycles, last: Cycles) -> Span | None:
    """Return the first and the last cycle in which any word is touched; None if none is."""
    begin, end = int(first.min()), int(last.max())
    return (begin, end) if begin < LATE // 2 and end > NEVER // 2 else None
