"""The first cycles that dependences allow, against every pair of footprints word by word."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tabla.schedule.placing.dependences import Dependences
from tabla.schedule.placing.placed import Placed
from tabla.schedule.strands.tasks import LATE, NEVER, Footprint, MemoryKey, Task

WORDS = 5
KEYS: tuple[MemoryKey, ...] = ((("root", "a"), False), (("root", "b"), False))  # type: ignore[assignment]


@st.composite
def footprints(draw: st.DrawFn) -> Footprint:
    """A footprint that touches some of the words of a place."""
    first = np.full(WORDS, LATE, dtype=np.int64)
    last = np.full(WORDS, NEVER, dtype=np.int64)
    for word in draw(st.sets(st.integers(0, WORDS - 1))):
        low, high = sorted((draw(st.integers(0, 50)), draw(st.integers(0, 50))))
        first[word], last[word] = low, high
    return Footprint(key=draw(st.sampled_from(KEYS)), first=first, last=last)


TASKS = st.lists(footprints(), min_size=1, max_size=6).map(tuple)


def first_cycle(start: int, before: Sequence[Footprint], after: Footprint) -> int:
    """The cycle after which no word is touched by both in the wrong order."""
    bound = 0
    for footprint in before:
        for word in range(WORDS if footprint.key == after.key else 0):
            if footprint.last[word] > NEVER and after.first[word] < LATE:
                bound = max(bound, start + int(footprint.last[word]) + 1 - int(after.first[word]))
    return bound


@given(TASKS, TASKS, st.integers(0, 30))
def test_reads_wait_for_writes(writes: tuple[Footprint, ...], reads: tuple[Footprint, ...], start: int) -> None:
    tasks = [Task(name="writer", strands=(), writes=writes), Task(name="reader", strands=(), reads=reads)]
    dependences = Dependences.of(tasks, frozenset())
    for read in reads:
        found = dependences.after_writes(1, read, {0: Placed(tasks[0], start)})
        assert found == first_cycle(start, writes, read)
    # However many operations a body has, their footprints are united once.
    assert len(dependences.united) <= 1
    # From so late a cycle on, whatever shares a word has to wait.
    meet = any(first_cycle(1000, writes, read) for read in reads)
    assert list(dependences.order(waves=True).edges) == ([(0, 1)] if meet else [])


@given(TASKS, TASKS, st.integers(0, 30))
def test_models_are_overwritten_after_their_reads(
    reads: tuple[Footprint, ...], writes: tuple[Footprint, ...], start: int
) -> None:
    tasks = [Task(name="reader", strands=(), reads=reads), Task(name="update", strands=(), writes=writes)]
    dependences = Dependences.of(tasks, frozenset(KEYS))
    for write in writes:
        found = dependences.after_reads(1, write, {0: Placed(tasks[0], start)})
        assert found == first_cycle(start, reads, write)
