"""What loads an image: a whole one runs, and one that is cut, damaged, foreign or at the wrong time never does."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from amaranth.sim import Simulator
from hypothesis import given, settings
from hypothesis import strategies as st

from tabla.hw.overlay.about import About
from tabla.hw.overlay.crc import Crc32
from tabla.hw.overlay.loader import Loader
from tabla.program.overlay import Overlay, overlay_of
from tabla.program.overlay_words import MAGIC, Status, about_overlay, framed
from tabla.templates.overlays import default_room
from tabla.templates.template import presets

PACE = 5
"""The cycles from one word of the port to the next."""


@cache
def overlay() -> Overlay:
    """The least that has every memory."""
    room = replace(default_room(), strands=2, operations=2, levels=1, functions=(), shifts=(0,), body=1, cycles=8)
    return overlay_of(presets()["Pe2"], room)


@cache
def contents() -> dict[int, tuple[int, ...]]:
    """Words for all memories of the overlay, none of them 0."""
    chance = np.random.default_rng(5)
    found = {}
    for number, memory in enumerate(overlay().memories):
        bits = overlay().width(*memory)
        count = 1 if memory[1] == "timing" else 2
        found[number] = tuple(int.from_bytes(chance.bytes(64), "little") >> (512 - bits) | 1 for _ in range(count))
    return found


@cache
def words() -> tuple[int, ...]:
    return tuple(framed(contents(), overlay()))


@dataclass
class Seen:
    """What the loader wrote, by memory and address; how often it switched, and to which word of timing."""

    written: dict[tuple[int, int], int] = field(default_factory=dict)
    switches: list[int] = field(default_factory=list)
    status: Status = Status.EMPTY
    cycles: int = 0


def loaded(*images: tuple[int, ...], busy: frozenset[int] = frozenset()) -> Seen:
    """Give the loader one image after the other. In the cycles `busy` after a start a command is under way."""
    loader, seen = Loader(overlay()), Seen()
    last = len(overlay().memories) - 1

    async def bench(context: Any) -> None:
        for image in images:
            context.set(loader.start, 1)
            await context.tick()
            context.set(loader.start, 0)
            index, quiet, cycle = 0, 0, 0
            while quiet < 3 * PACE:
                context.set(loader.busy, int(cycle in busy))
                context.set(loader.valid, int(index < len(image)))
                if index < len(image):
                    context.set(loader.data, image[index])
                    index += context.get(loader.ready)
                else:
                    quiet += 1
                if context.get(loader.write):
                    memory = context.get(loader.memory)
                    word = context.get(loader.part(memory, overlay().width(*overlay().memories[memory])))
                    seen.written[memory, context.get(loader.address)] = word
                if context.get(loader.switch):
                    seen.switches.append(context.get(loader.part(last, overlay().width("timing", "timing"))))
                await context.tick()
                cycle += 1
            seen.cycles = cycle
            seen.status = Status(context.get(loader.status))

    simulator = Simulator(loader)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    return seen


def test_a_whole_image_is_written_and_runs() -> None:
    seen = loaded(words())
    held = {(number, n): word for number, held in contents().items() for n, word in enumerate(held)}
    assert seen.written == held
    assert seen.switches == list(contents()[len(overlay().memories) - 1])
    assert seen.status == Status.RUNS
    assert seen.cycles <= PACE * len(words()) + 4 * PACE


@settings(max_examples=6, deadline=None)
@given(st.data())
def test_a_flipped_bit_never_runs(data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(words()) - 1))
    bit = data.draw(st.integers(0, 31))
    damaged = tuple(word ^ (1 << bit) * (n == place) for n, word in enumerate(words()))
    seen = loaded(damaged)
    assert not seen.switches
    assert seen.status != Status.RUNS


@pytest.mark.parametrize("length", [2, len(words()) - 1])
def test_an_image_that_is_cut_never_runs_and_does_not_hinder_the_next(length: int) -> None:
    assert not loaded(words()[:length]).switches
    again = loaded(words()[:length], words())
    assert len(again.switches) == 1
    assert again.status == Status.RUNS


@pytest.mark.parametrize(
    ("place", "status"), [(0, Status.FORM), (1, Status.FOREIGN), (2, Status.FORM), (-1, Status.DAMAGED)]
)
def test_the_status_says_why(place: int, status: Status) -> None:
    """The third word is a record, here of a memory that there is not."""
    wrong = list(words())
    wrong[place] ^= 1 << 31
    seen = loaded(tuple(wrong))
    assert (seen.switches, seen.status) == ([], status)


@pytest.mark.parametrize("cycle", [0, 40, PACE * (len(words()) - 1), PACE * (len(words()) - 1) + 1])
def test_an_image_that_comes_while_a_command_runs_never_runs(cycle: int) -> None:
    """The last of these cycles is the one in which the image would begin to run."""
    seen = loaded(words(), busy=frozenset({cycle}))
    assert (seen.switches, seen.status) == ([], Status.BUSY)


def test_a_command_after_the_switch_is_no_fault() -> None:
    seen = loaded(words(), busy=frozenset(range(PACE * (len(words()) - 1) + 2, PACE * len(words()) + 20)))
    assert (len(seen.switches), seen.status) == (1, Status.RUNS)


def test_the_crc_is_that_of_zlib() -> None:
    check, chance = Crc32(), np.random.default_rng(2)
    given_words = [int(word) for word in chance.integers(0, 1 << 32, 9)]

    async def bench(context: Any) -> None:
        for count, word in enumerate(given_words, start=1):
            context.set(check.take, 1)
            context.set(check.word, word)
            await context.tick()
            context.set(check.take, 0)
            for _ in range(4):
                assert not context.get(check.idle)
                await context.tick()
            assert context.get(check.idle)
            assert context.get(check.crc) == zlib.crc32(struct.pack(f"<{count}I", *given_words[:count]))

    simulator = Simulator(check)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()


def test_the_overlay_says_what_it_has_room_for() -> None:
    about, numbers = About(overlay()), list(about_overlay(overlay()).values())
    assert numbers[:3] == [MAGIC, overlay().fingerprint, 2]
    seen = []

    async def bench(context: Any) -> None:
        for index in range(32):
            context.set(about.index, index)
            await context.tick()
            seen.append(context.get(about.word))

    simulator = Simulator(about)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    assert seen == numbers + [0] * (32 - len(numbers))
