"""A reset of the streams in any cycle: on the way out an open packet ends, and on the way in it is swallowed."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tabla.hw.bus.stream_in import StreamInput
from tabla.hw.bus.stream_out import StreamOutput
from tests.hw.bus.test_parts import shape, simulated

MOMENTS = range(24)


def beats_around(moment: int, slow: float) -> tuple[list[tuple[int, int]], int]:
    """Reset the way out in a cycle of a command that sends packets of two units of two words, two words a beat.

    Return TKEEP and TLAST of all beats, and how many of them came before the reset. `slow` is how often the host waits.
    """
    chance, component = random.Random(moment), StreamOutput(shape=shape(run_words=2))
    beats: list[tuple[int, int]] = []
    before: list[int] = []

    async def bench(context: Any) -> None:
        for name, value in {"start": 1, "packets": 1, "packet_units": 2}.items():
            context.set(getattr(component, name), value)
        await context.tick()
        context.set(component.start, 0)
        for cycle in range(moment + 12):
            context.set(component.word_valid, cycle <= moment)
            context.set(component.reset, cycle == moment)
            context.set(component.tready, cycle > moment or chance.random() >= slow)
            if context.get(component.tvalid) and context.get(component.tready):
                beats.append((context.get(component.tkeep), context.get(component.tlast)))
            if cycle == moment:
                before.append(len(beats))
            await context.tick()
        assert context.get(component.idle)

    simulated(component, bench)
    return beats, before[0]


@pytest.mark.parametrize("slow", [0, 0.5])
def test_a_reset_ends_the_packet_that_has_begun_and_begins_none(slow: float) -> None:
    behind = set[int]()
    for moment in MOMENTS:
        beats, before = beats_around(moment, slow)
        begins = [True, *(bool(last) for _, last in beats)]
        assert begins[-1], f"reset in cycle {moment}: the packet stays open"
        empty = [begin for begin, (keep, _) in zip(begins, beats, strict=False) if not keep]
        assert not any(empty), f"reset in cycle {moment}: a packet without words"
        behind.add(len(beats) - before)
    assert behind >= {0, 1}


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_reset_swallows_the_packet_that_has_begun_and_no_other(moment: int) -> None:
    """Packets of six beats. The next command takes a packet from its beginning, whenever the reset comes."""
    component = StreamInput(shape=shape(width=16, stream_words=2, run_beats=6))
    given = list[tuple[int, int]]()
    taken: list[int] = []

    async def bench(context: Any) -> None:
        context.set(component.alive, 1)
        context.set(component.tkeep, 15)
        packet, beat = 0, 0
        for cycle in range(moment + 60):
            starts = cycle in (0, moment + 24)
            for name, value in {"start": starts, "count": 2, "reset": cycle == moment + 2}.items():
                context.set(getattr(component, name), value)
            context.set(component.clear, cycle == moment + 3)
            context.set(component.out_ready, cycle > moment + 3)
            # Behind the packet that the reset met, the host waits for the next command.
            waits = moment + 2 < cycle < moment + 24 and beat == 0
            context.set(component.tvalid, not waits)
            context.set(component.tdata, (packet << 8 | beat) * 0x10001)
            context.set(component.tlast, beat == 5)
            if cycle == moment + 23:
                assert context.get(component.idle) and not beat
                given.append((packet, beat))
            if cycle > moment + 24 and context.get(component.out_valid):
                taken.append(context.get(component.out_data) & 0xFFFF)
            if not waits and context.get(component.tready):
                packet, beat = (packet, beat + 1) if beat < 5 else (packet + 1, 0)
            await context.tick()

    simulated(component, bench)
    ((packet, _),) = given
    assert taken[:6] == [packet << 8 | beat for beat in range(6)]
