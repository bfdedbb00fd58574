"""The serial line, the frames and the queues of a board, each against a few lines of Python."""

from __future__ import annotations

import random
import zlib
from collections.abc import Sequence
from typing import Any

import pytest
from amaranth.sim import Simulator
from hypothesis import given, settings
from hypothesis import strategies as st

from tabla.host.link.requests import Frames, body, frame
from tabla.hw.block_queue import slice_bits
from tabla.hw.board.buffer import BlockQueue
from tabla.hw.board.frames import Crc32, FrameReceiver, FrameSender
from tabla.hw.board.splitter import BeatSplitter
from tabla.hw.board.stopwatch import Stopwatch
from tabla.hw.board.uart import UartReceiver, UartTransmitter
from tests.hw.bench import played

NASTY = bytes([0x7E, 0x7D, 0x5E, 0x5D, 0x00, 0xFF, 0x7D, 0x7E])


def levels(text: bytes, divisor: int, stretch: float = 1.0) -> list[int]:
    """The line while `text` goes over it, a level a cycle, from a sender whose bits are longer by `stretch`."""
    bits = [bit for byte in text for bit in (0, *((byte >> place) & 1 for place in range(8)), 1)]
    return [bits[int(cycle / (divisor * stretch))] for cycle in range(int(len(bits) * divisor * stretch))]


@pytest.mark.parametrize(("divisor", "stretch"), [(2, 1.0), (3, 1.0), (9, 0.96), (9, 1.04), (27, 1.0)])
def test_receiver_reads_bytes_of_a_line_that_is_a_little_off(divisor: int, stretch: float) -> None:
    text = bytes(range(0, 256, 15)) + NASTY
    line = [1] * 3 * divisor + levels(text, divisor, stretch) + [1] * 2 * divisor
    seen = played(UartReceiver(divisor=divisor), [{"pin": level} for level in line])
    assert bytes(cycle["data"] for cycle in seen if cycle["valid"]) == text


def test_receiver_drops_glitches_and_bytes_without_a_stop_bit() -> None:
    broken = [0] * 10 * 8 + [1] * 16
    glitch = [0] * 2 + [1] * 30
    line = [1] * 8 + glitch + levels(b"a", 8) + broken + levels(b"b", 8) + [1] * 16
    seen = played(UartReceiver(divisor=8), [{"pin": level} for level in line])
    assert bytes(cycle["data"] for cycle in seen if cycle["valid"]) == b"ab"


@pytest.mark.parametrize("divisor", [2, 5])
def test_transmitter_sends_what_a_receiver_reads_without_pauses(divisor: int) -> None:
    text = NASTY + bytes(range(20))
    sent: list[int] = []
    transmitter = UartTransmitter(divisor=divisor)

    async def bench(context: Any) -> None:
        at = 0
        for _ in range(len(text) * 10 * divisor + 2):
            context.set(transmitter.valid, int(at < len(text)))
            context.set(transmitter.data, text[at] if at < len(text) else 0)
            at += context.get(transmitter.ready) and at < len(text)
            sent.append(context.get(transmitter.pin))
            await context.tick()

    simulator = Simulator(transmitter)
    simulator.add_clock(1e-8)
    simulator.add_testbench(bench)
    simulator.run()
    assert sent == [1, *levels(text, divisor), 1]


@given(st.binary(min_size=1, max_size=40))
@settings(max_examples=20)
def test_crc_is_the_usual_one(text: bytes) -> None:
    inputs: list[dict[str, Any]] = []
    for byte in text:
        inputs += [{"valid": 1, "data": byte, "clear": 0}] + [{"valid": 0}] * (Crc32.LATENCY - 1)
    end = played(Crc32(), inputs, more=1)[-1]
    assert end["value"] == zlib.crc32(text)
    assert end["sound"] == (zlib.crc32(text[:-4]).to_bytes(4, "little") == text[-4:])


def received(texts: Sequence[bytes]) -> list[tuple[bytes, int]]:
    """Bytes (check and all) and soundness of the frames that a receiver finds in what comes over the line."""
    inputs: list[dict[str, Any]] = []
    for byte in b"".join(texts):
        inputs += [{"line_valid": 1, "line_data": byte}] + [{"line_valid": 0}] * Crc32.LATENCY
    found, part = [], b""
    for cycle in played(FrameReceiver(), inputs, more=2):
        if cycle["ends"]:
            found.append((part, cycle["sound"]))
            part = b""
        if cycle["valid"]:
            part += bytes([cycle["data"]])
    return found


@given(st.lists(st.binary(min_size=1, max_size=12) | st.just(NASTY), min_size=1, max_size=4))
@settings(max_examples=20)
def test_frames_are_read_as_they_were_written(bodies: list[bytes]) -> None:
    found = received([frame(text) for text in bodies])
    assert [(text[:-4], sound) for text, sound in found] == [(text, 1) for text in bodies]


@given(st.binary(min_size=1, max_size=12), st.data())
@settings(max_examples=30)
def test_a_changed_byte_is_seen_by_both_sides(text: bytes, data: st.DataObject) -> None:
    sent = bytearray(frame(text))
    place = data.draw(st.integers(1, len(sent) - 2))
    sent[place] ^= data.draw(st.integers(1, 255))
    assert not any(sound for _, sound in received([bytes(sent), frame(b"")[:1]]))
    frames = Frames()
    frames.feed(bytes(sent) + b"\x7e")
    while (found := frames.next()) is not None:
        assert body(found) is None


def test_a_frame_given_up_is_not_sound_and_the_next_one_is() -> None:
    cut = frame(b"abc")[:-3]
    assert [sound for _, sound in received([cut, b"\x7d", frame(b"def")])] == [0, 1]


@given(st.lists(st.binary(min_size=1, max_size=10) | st.just(NASTY), min_size=1, max_size=3))
@settings(max_examples=20)
def test_frames_are_sent_as_python_writes_them(bodies: list[bytes]) -> None:
    sender = FrameSender()
    line = b""

    async def bench(context: Any) -> None:
        nonlocal line
        wait = 0
        for text in bodies:
            at = 0
            while at < len(text):
                context.set(sender.valid, 1)
                context.set(sender.data, text[at])
                context.set(sender.last, int(at == len(text) - 1))
                context.set(sender.line_ready, int(not wait))
                wait = Crc32.LATENCY + 1 if not wait and context.get(sender.line_valid) else max(0, wait - 1)
                at += context.get(sender.ready)
                if context.get(sender.line_valid) and context.get(sender.line_ready):
                    line += bytes([context.get(sender.line_data)])
                await context.tick()
            context.set(sender.valid, 0)
            for _ in range(20 * Crc32.LATENCY):
                context.set(sender.line_ready, int(not wait))
                wait = Crc32.LATENCY + 1 if not wait and context.get(sender.line_valid) else max(0, wait - 1)
                if context.get(sender.line_valid) and context.get(sender.line_ready):
                    line += bytes([context.get(sender.line_data)])
                await context.tick()

    simulator = Simulator(sender)
    simulator.add_clock(1e-8)
    simulator.add_testbench(bench)
    simulator.run()
    assert line == b"".join(frame(text) for text in bodies)


@given(st.binary(min_size=1, max_size=12), st.binary(max_size=3))
@settings(max_examples=20)
def test_check_counts_from_the_last_clear(text: bytes, before: bytes) -> None:
    inputs: list[dict[str, Any]] = []
    for byte in before:
        inputs += [{"valid": 1, "data": byte, "clear": 0}] + [{"valid": 0}] * (Crc32.LATENCY - 1)
    inputs += [{"valid": 0, "clear": 1}]
    for byte in text + zlib.crc32(text).to_bytes(4, "little"):
        inputs += [{"valid": 1, "data": byte, "clear": 0}] + [{"valid": 0}] * (Crc32.LATENCY - 1)
    assert played(Crc32(), inputs, more=1)[-1]["sound"]


@given(st.lists(st.sampled_from(["put", "take", "both", "commit", "rollback", "rest"]), max_size=150))
@settings(max_examples=25)
def test_queue_gives_what_was_committed_in_order(steps: list[str]) -> None:
    queue = BlockQueue(width=8, depth=4)
    tentative: list[int] = []
    committed: list[int] = []
    taken: list[int] = []

    async def bench(context: Any) -> None:
        word = 0
        for step in (*steps, "commit", *["take"] * 12):
            puts = step in ("put", "both") and context.get(queue.room)
            takes = step in ("take", "both")
            context.set(queue.put, int(puts))
            context.set(queue.word, word)
            context.set(queue.out_ready, int(takes))
            context.set(queue.commit, int(step == "commit"))
            context.set(queue.rollback, int(step == "rollback"))
            if takes and context.get(queue.out_valid):
                taken.append(context.get(queue.out_data))
            if puts:
                tentative.append(word)
                word = (word + 1) % 256
            if step == "commit":
                committed.extend(tentative)
            if step in ("commit", "rollback"):
                tentative.clear()
            assert len(committed) + len(tentative) - len(taken) <= 4 + 2
            await context.tick()

    simulator = Simulator(queue)
    simulator.add_clock(1e-8)
    simulator.add_testbench(bench)
    simulator.run()
    assert taken == committed


def test_queue_gives_a_word_a_cycle() -> None:
    queue = BlockQueue(width=8, depth=4)
    # Each word is committed a cycle after it was put.
    seen = played(queue, [{"put": 1, "word": word, "commit": int(word > 0), "out_ready": 1} for word in range(30)])
    words = [cycle["out_data"] for cycle in seen if cycle["out_valid"]]
    assert words == list(range(30 - BlockQueue.LATENCY - 1))
    assert all(cycle["room"] for cycle in seen)


@pytest.mark.parametrize("beat", [2, 4])
@pytest.mark.parametrize("share", [0.3, 1.0])
def test_splitter_gives_the_words_of_beats_in_order(beat: int, share: float) -> None:
    chance = random.Random(beat)
    splitter = BeatSplitter(width=8, beat=beat)
    sent: list[int] = []
    taken: list[int] = []

    async def bench(context: Any) -> None:
        for _ in range(200):
            words = [chance.randrange(256) for _ in range(beat)]
            puts, takes = chance.random() < share, chance.random() < share
            context.set(splitter.w_en, int(puts))
            context.set(splitter.w_data, sum(word << 8 * k for k, word in enumerate(words)))
            context.set(splitter.r_en, int(takes))
            assert context.get(splitter.r_rdy) == (len(sent) > len(taken))
            # With no pause a beat takes a cycle more than it has words.
            assert context.get(splitter.w_rdy) == (len(sent) == len(taken))
            if takes and context.get(splitter.r_rdy):
                taken.append(context.get(splitter.r_data))
            if puts and context.get(splitter.w_rdy):
                sent.extend(words)
            await context.tick()

    simulator = Simulator(splitter)
    simulator.add_clock(1e-8)
    simulator.add_testbench(bench)
    simulator.run()
    assert len(taken) > 20 and taken == sent[: len(taken)]


def test_stopwatch_counts_from_the_first_beat() -> None:
    quiet = {"restart": 0, "beat": 0, "token": 0, "update": 0, "output": 0}
    events = {3: "beat", 4: "beat", 9: "token", 15: "update", 20: "token", 31: "token", 33: "update", 35: "output"}
    inputs = [{**quiet, "restart": 1}]
    inputs += [{**quiet, events.get(cycle, "restart"): int(cycle in events)} for cycle in range(1, 40)]
    end = played(Stopwatch(), inputs, more=3)[-1]
    assert end == {"tokens": 3, "interval": 11, "last_update": 30, "last_output": 32}
    again = played(Stopwatch(), [*inputs, {**quiet, "restart": 1}, quiet, {**quiet, "token": 1}, quiet], more=3)[-1]
    assert again == {"tokens": 1, "interval": 0, "last_update": 0, "last_output": 0}


REPLAYED = ["put", "take", "both", "keep", "replay", "rollback"]


@given(st.lists(st.sampled_from(REPLAYED), max_size=80))
@settings(max_examples=40)
def test_queue_repeats_what_it_keeps_or_says_that_it_has_lost_it(steps: list[str]) -> None:
    """Words are committed as they are put. `kept` may be 1 exactly if all words since `keep` are still in the RAM."""
    queue = BlockQueue(width=8, depth=4)
    expected: list[int] = []
    taken: list[int] = []
    since: list[int] | None = None
    replays = 0

    async def bench(context: Any) -> None:
        nonlocal since, replays
        word = 0
        before: tuple[int, ...] = ()
        for step in (*steps, *["take"] * 14):
            puts = step in ("put", "both") and context.get(queue.room)
            takes = step in ("take", "both")
            kept = context.get(queue.kept)
            drained = len(taken) == len(expected)
            if not before:  # a word of the cycle before is committed in this one
                assert kept == (drained and since is not None and len(since) <= 4)
            replays_now = step == "replay" and kept and not before
            context.set(queue.put, int(puts))
            context.set(queue.word, word)
            context.set(queue.out_ready, int(takes))
            context.set(queue.commit, len(before))
            context.set(queue.rollback, int(step == "rollback" and not before))
            context.set(queue.keep, int(step == "keep" and not before))
            context.set(queue.replay, int(replays_now))
            if takes and context.get(queue.out_valid):
                taken.append(context.get(queue.out_data))
            if step == "keep" and not before:
                since = []
            if replays_now:
                assert since is not None
                expected.extend(since)
                replays += 1
            before = (word,) if puts else ()
            if puts:
                expected.append(word)
                if since is not None:
                    since.append(word)
                word = (word + 1) % 256
            await context.tick()

    simulator = Simulator(queue)
    simulator.add_clock(1e-8)
    simulator.add_testbench(bench)
    simulator.run()
    assert taken == expected


def test_queue_repeats_a_full_ram() -> None:
    """Four words, kept in a RAM of four, come out three times; a fifth word takes the place of the first."""
    puts = [{"put": 1, "word": word, "commit": 0, "keep": 0, "replay": 0, "out_ready": 1} for word in (5, 6, 7, 8)]
    quiet = {"put": 0, "commit": 0, "keep": 0, "replay": 0}
    again = [{**quiet, "replay": 1}, *[quiet] * 9]
    inputs = [{**quiet, "keep": 1}, *puts, {**quiet, "commit": 1}, *[quiet] * 9, *again, *again]
    fifth = [{**puts[0], "word": 9}, {**quiet, "commit": 1}, *[quiet] * 9]
    seen = played(BlockQueue(width=8, depth=4), [*inputs, *fifth])
    assert [cycle["out_data"] for cycle in seen if cycle["out_valid"]] == [5, 6, 7, 8] * 3 + [9]
    assert seen[len(inputs) - 1]["kept"] == 1 and seen[-1]["kept"] == 0


@pytest.mark.parametrize(("apart", "sound"), [(Crc32.LATENCY + 1, 1), (Crc32.LATENCY, 0)])
def test_the_flag_of_a_frame_comes_a_cycle_after_its_check_is_complete(apart: int, sound: int) -> None:
    rows: list[dict[str, int]] = []
    for byte in frame(b"abc"):
        rows += [{"line_valid": 1, "line_data": byte}, *[{"line_valid": 0}] * (apart - 1)]
    seen = played(FrameReceiver(), rows)
    assert [cycle["sound"] for cycle in seen if cycle["ends"]] == [sound]


@pytest.mark.parametrize(("depth", "bits"), [(16, 18), (1024, 18), (2048, 9), (4096, 4), (16384, 1), (32768, 1)])
def test_a_block_ram_holds_some_bits_of_every_word(depth: int, bits: int) -> None:
    assert slice_bits(depth) == bits


def test_a_deep_queue_gives_the_words_that_were_put() -> None:
    """Words of 10 bits lie in three block RAMs: twice four bits and two bits."""
    words = [0x3FF, 0x000, 0x155, 0x2AA, 0x201, 0x10E]
    puts = [{"put": 1, "word": word, "commit": 0, "out_ready": 1} for word in words]
    quiet = {"put": 0, "commit": 0}
    seen = played(BlockQueue(width=10, depth=4096), [*puts, {**quiet, "commit": 1}, *[quiet] * 12])
    assert [cycle["out_data"] for cycle in seen if cycle["out_valid"]] == words
