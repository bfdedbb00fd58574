"""The queue at the port of several roots: order, cycles, and beats that wait."""

from __future__ import annotations

import random
from typing import Any

import pytest
from amaranth.sim import Simulator

from tabla.hw.border_queue import BeatQueue, BorderQueue
from tabla.templates.template import timing


def played(queue: BorderQueue, puts: list[list[int] | None], readies: list[bool]) -> list[tuple[int, int]]:
    """(cycle, word) of every word taken; `waits` is high from a put until its last word has left."""
    taken: list[tuple[int, int]] = []

    async def bench(context: Any) -> None:
        inside = 0
        for cycle, ready in enumerate(readies):
            row = puts[cycle] if cycle < len(puts) else None
            context.set(queue.put, int(row is not None))
            for port, word in zip(queue.words, row or [0] * queue.roots, strict=True):
                context.set(port, word)
            context.set(queue.out_ready, int(ready))
            inside += queue.roots * (row is not None)
            assert context.get(queue.waits) == (inside > 0)
            if context.get(queue.out_valid):
                assert context.get(queue.taken) == int(ready)
                if ready:
                    beat = context.get(queue.out_data)
                    taken.extend((cycle, (beat >> k * queue.width) % (1 << queue.width)) for k in range(queue.beat))
                    inside -= queue.beat
            await context.tick()

    simulator = Simulator(queue)
    simulator.add_clock(1e-8)
    simulator.add_testbench(bench)
    simulator.run()
    return taken


@pytest.mark.parametrize(("roots", "beat"), [(2, 1), (3, 1), (4, 1), (4, 2), (6, 2), (8, 4)])
@pytest.mark.parametrize("depth", [8, 12, 96])
@pytest.mark.parametrize("share", [0.2, 0.6, 1.0])
def test_words_leave_in_order_a_beat_a_cycle(roots: int, beat: int, depth: int, share: float) -> None:
    chance = random.Random(depth)
    kind = BorderQueue if beat == 1 else BeatQueue
    queue = kind(width=8, depth=depth, roots=roots, beat=beat)
    readies = [chance.random() < share for _ in range(300)] + [True] * 200
    puts: list[list[int] | None] = []
    expected: list[tuple[int, int]] = []
    for cycle in range(300):
        # Credit is a row's at a time, as words that have left give it.
        room = depth - sum(at >= cycle for at, _ in expected) >= roots
        put = chance.random() < 0.4 * beat and room
        row = [chance.randrange(256) for _ in range(roots)] if put else None
        puts.append(row)
        for first in range(0, len(row or ()), beat):
            at = max(cycle + BorderQueue.LATENCY, expected[-1][0] + 1 if expected else 0)
            while not readies[at]:
                at += 1
            expected += [(at, word) for word in (row or ())[first : first + beat]]
    assert len(expected) > depth
    assert played(queue, puts, readies) == expected


def test_its_latency_is_that_of_the_records() -> None:
    assert 1 + BorderQueue.LATENCY == timing().broadcast + timing().queue
