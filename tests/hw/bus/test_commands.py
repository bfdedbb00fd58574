"""The sequencer of commands after a reset."""

from __future__ import annotations

from typing import Any

import pytest

from tabla.hw.bus.commands import CommandSequencer
from tabla.hw.bus.sizes import UnitSizes
from tests.hw.bus.test_parts import shape, simulated


@pytest.mark.parametrize("cleans", [0, 1, 7, 8, 9, 10, 11, 30])
def test_a_reset_ends_however_long_the_streams_need(cleans: int) -> None:
    """The streams may come to rest before the array's reset ends, or long after it."""
    cycles = 8
    component = CommandSequencer(sizes=UnitSizes.of(shape()), reset_cycles=cycles)
    levels: list[tuple[int, int]] = []

    async def bench(context: Any) -> None:
        for cycle in range(60):
            context.set(component.in_idle, int(cycle >= cleans))
            context.set(component.out_idle, int(cycle >= cleans))
            levels.append((context.get(component.busy), context.get(component.array_reset)))
            await context.tick()

    simulated(component, bench)
    resets = [reset for _, reset in levels]
    assert resets == [1] * (cycles + 1) + [0] * (59 - cycles)
    # The array has been out of its reset for a cycle when the first command can come.
    ends = max(cleans, cycles + 1) + 1
    assert [busy for busy, _ in levels] == [1] * ends + [0] * (60 - ends)
