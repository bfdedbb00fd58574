"""The parts of the wrapper, each by itself, against models in Python."""

from __future__ import annotations

import random
from collections import deque
from typing import Any

import pytest
from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.sim import Simulator

from tabla.base.source import TablaError
from tabla.hw.bus.axi_lite import OKAY, SLVERR
from tabla.hw.bus.cycles import CycleCounter
from tabla.hw.bus.registers import ERRORS, RegisterFile
from tabla.hw.bus.slice import InputSlice
from tabla.hw.bus.stream_out import StreamOutput
from tabla.hw.bus.unit_buffer import UnitBuffer
from tabla.program.bus import BUS_WIDTHS, BusShape
from tabla.templates.bus import register, registers


def simulated(component: wiring.Component, bench: Any, *others: Any) -> None:
    """Run a bench, which is given the simulator's context, and others beside it until it ends."""
    module = Module()
    module.submodules.component = component
    simulator = Simulator(module)
    simulator.add_clock(1e-8)
    simulator.add_testbench(bench)
    for other in others:
        simulator.add_testbench(other, background=True)
    simulator.run()


def shape(**sizes: int) -> BusShape:
    """A small wrapper."""
    usual = {"width": 12, "stream_words": 2, "load_beats": 4, "run_beats": 3, "run_words": 2, "dump_count": 1}
    return BusShape(**{"bus_bits": 32, **usual, **sizes})


def test_sizes_follow_from_the_words_and_the_bus() -> None:
    assert [shape(width=width).container for width in (8, 9, 16, 17, 32)] == [8, 16, 16, 32, 32]
    for bits in BUS_WIDTHS:
        for words in (1, 2, 8, 128):
            made = shape(bus_bits=bits, stream_words=words)
            assert made.group * made.groups == made.containers == bits // 16
            assert made.group * made.parts == words
            assert min(made.groups, made.parts) == 1
            assert made.buffer_beats >= max(2 * made.run_beats, made.run_beats + made.groups)
            assert not made.buffer_beats & (made.buffer_beats - 1)
    largest = shape().largest_beats
    assert shape(run_beats=largest).buffer_beats == 2 * largest
    with pytest.raises(TablaError, match="two steps"):
        shape(run_beats=largest + 1)
    with pytest.raises(ValueError, match="3 words do not leave"):
        shape(run_words=3, output_words=2)
    with pytest.raises(TablaError, match="48 bits is not supported"):
        shape(bus_bits=48)


@pytest.mark.parametrize("seed", range(3))
def test_the_slice_gives_every_beat_once_and_none_behind_the_end_of_a_packet(seed: int) -> None:
    chance = random.Random(seed)
    beats = [(chance.getrandbits(32), chance.getrandbits(4), chance.random() < 0.2) for _ in range(200)]
    sent, seen = 0, []

    async def bench(context: Any) -> None:
        nonlocal sent
        resume_in = -1
        for _ in range(2000):
            offers = sent < len(beats) and chance.random() < 0.8
            data, keep, last = beats[sent] if offers else (chance.getrandbits(32), 15, 1)
            take = chance.random() < 0.7 and context.get(component.valid)
            resume = resume_in == 0
            resume_in -= 1
            values = {"tdata": data, "tkeep": keep, "tlast": last, "tvalid": offers, "take": take, "resume": resume}
            for name, value in {**values, "want": 1}.items():
                context.set(getattr(component, name), value)
            if take:
                seen.append(tuple(context.get(getattr(component, name)) for name in ("data", "keep", "last")))
                if seen[-1][2]:
                    assert sent == len(seen), "a beat behind the end of a packet was taken"
                    resume_in = chance.randrange(3)
            if offers and context.get(component.tready):
                sent += 1
            assert context.get(component.open) == (sent > 0 and not beats[sent - 1][2])
            await context.tick()

    component = InputSlice(bits=32)
    simulated(component, bench)
    assert seen == [(data, keep, int(last)) for data, keep, last in beats]


@pytest.mark.parametrize("seed", range(3))
def test_the_buffer_shows_committed_units_only(seed: int) -> None:
    chance = random.Random(seed)
    shown: deque[int] = deque()
    hidden: list[int] = []
    whole = taken = 0
    since_rollback = 0

    async def bench(context: Any) -> None:
        nonlocal whole, taken, since_rollback
        for cycle in range(3000):
            room, held = context.get(component.room), len(shown) + len(hidden)
            # Two more places are behind the memory.
            assert held < 18 or not room
            # `room` knows a cycle late what has left, and two cycles late what a rollback has forgotten.
            assert room or held >= 14 or since_rollback < 2
            put, ends = room and chance.random() < 0.7, chance.random() < 0.3
            commit, rollback = chance.random() < 0.15, chance.random() < 0.05
            ready = chance.random() < 0.6
            values = {"put": put, "word": cycle & 0xFFFF, "ends": ends, "commit": commit, "out_ready": ready}
            for name, value in {**values, "rollback": rollback}.items():
                context.set(getattr(component, name), value)
            if context.get(component.out_valid) and ready:
                assert context.get(component.out_data) == shown.popleft()
                taken += 1
            if commit:
                shown.extend(hidden[:whole])
                del hidden[:whole]
                whole = 0
            if put:
                hidden.append(cycle & 0xFFFF)
                whole = len(hidden) if ends else whole
            since_rollback += 1
            if rollback:
                # What is committed in the cycle of a rollback is shown before.
                since_rollback = 0
                hidden.clear()
                whole = 0
            await context.tick()

    component = UnitBuffer(width=16, depth=16)
    simulated(component, bench)
    assert taken > 500


def test_the_counter_of_cycles_carries_in_the_right_cycle() -> None:
    chance = random.Random(7)
    component = CycleCounter(width=8)

    async def bench(context: Any) -> None:
        count = 0
        for cycle in range(3000):
            run, clear = chance.random() < 0.8, cycle in (1000, 1007)
            context.set(component.run, run)
            context.set(component.clear, clear)
            assert context.get(component.count) == count
            count = 0 if clear else (count + run) % 256
            await context.tick()

    simulated(component, bench)


@pytest.mark.parametrize(
    ("bus_bits", "width", "run_words", "packet_units", "output_words"),
    [
        (32, 12, 3, 0, 1),
        (32, 12, 3, 2, 1),
        (32, 20, 1, 1, 1),
        (64, 8, 5, 3, 1),
        (128, 16, 3, 0, 1),
        # The beats of the array are narrower than those of the bus, as wide, and wider; one word fills a beat.
        (64, 8, 6, 3, 2),
        (128, 18, 12, 2, 4),
        (32, 12, 8, 0, 8),
        (32, 12, 24, 1, 8),
        (32, 32, 4, 3, 4),
    ],
)
def test_words_leave_in_packets(
    bus_bits: int, width: int, run_words: int, packet_units: int, output_words: int
) -> None:
    chance = random.Random(bus_bits + width)
    made = shape(bus_bits=bus_bits, width=width, run_words=run_words, output_words=output_words)
    component = StreamOutput(shape=made)
    mask, full = (1 << made.container) - 1, (1 << width) - 1
    packets: list[list[int]] = [[]]
    wanted: list[list[int]] = []

    async def bench(context: Any) -> None:
        for units in (5, 0, 1, 6):
            words = [chance.randrange(-(1 << (width - 1)), 1 << (width - 1)) for _ in range(units * run_words)]
            size = packet_units * run_words or max(1, len(words))
            wanted.extend([words[at : at + size] for at in range(0, len(words), size)] or [[0] * made.containers])
            for name, value in {"packets": 1, "packet_units": packet_units, "start": 1}.items():
                context.set(getattr(component, name), value)
            await context.tick()
            context.set(component.start, 0)
            finished, before, waits = False, None, False
            while not (finished and context.get(component.idle)):
                # A beat that was offered stays.
                offers, ready = bool(words) and (waits or chance.random() < 0.7), chance.random() < 0.7
                context.set(component.word_valid, offers)
                offered = words[:output_words] if offers else [chance.getrandbits(width)] * output_words
                context.set(component.word, sum((word & full) << width * k for k, word in enumerate(offered)))
                context.set(component.tready, ready)
                finish = not words and not finished and chance.random() < 0.6
                context.set(component.finish, finish)
                finished |= finish
                beat = tuple(context.get(getattr(component, name)) for name in ("tdata", "tkeep", "tlast"))
                if before is not None:
                    assert context.get(component.tvalid) and beat == before, "a beat was taken back"
                before = beat if context.get(component.tvalid) and not ready else None
                waits = offers and not context.get(component.word_ready)
                if offers and not waits:
                    del words[:output_words]
                if context.get(component.tvalid) and ready:
                    data, keep, last = beat
                    count = keep.bit_count() * 8 // made.container
                    assert keep == (1 << (count * made.container // 8)) - 1 and count > 0
                    assert last or count == made.containers
                    for place in range(count):
                        word = data >> (place * made.container) & mask
                        packets[-1].append(word - (mask + 1) if word >> (made.container - 1) else word)
                    if last:
                        packets.append([])
                await context.tick()
            context.set(component.finish, 0)

    simulated(component, bench)
    assert packets == [*wanted, []]


class Lite:
    """A master of the registers' port."""

    def __init__(self, component: RegisterFile, context: Any, chance: random.Random) -> None:
        self.component, self.context, self.chance = component, context, chance

    async def write(self, address: int, word: int, strobe: int = 15) -> int:
        """Write with AW and W in random order; the answer, which comes within 8 cycles of both."""
        context, c = self.context, self.component
        delays = {"aw": self.chance.randrange(3), "w": self.chance.randrange(3)}
        context.set(c.awaddr, address)
        context.set(c.wdata, word)
        context.set(c.wstrb, strobe)
        context.set(c.bready, 0)
        waited = 0
        while not context.get(c.bvalid):
            for channel, delay in delays.items():
                context.set(getattr(c, f"{channel}valid"), delay == 0)
            gone = [n for n, d in delays.items() if d == 0 and context.get(getattr(c, f"{n}ready"))]
            await context.tick()
            delays = {n: max(0, d - 1) for n, d in delays.items() if n not in gone}
            for channel in gone:
                context.set(getattr(c, f"{channel}valid"), 0)
            waited += not delays
            assert waited <= 8
        answer = context.get(c.bresp)
        context.set(c.bready, 1)
        await context.tick()
        context.set(c.bready, 0)
        return int(answer)

    async def read(self, address: int) -> tuple[int, int]:
        """Read; the word and the answer, which comes within 8 cycles."""
        context, c = self.context, self.component
        context.set(c.araddr, address)
        context.set(c.arvalid, 1)
        context.set(c.rready, 0)
        while not context.get(c.arready):
            await context.tick()
        await context.tick()
        context.set(c.arvalid, 0)
        for _ in range(8):
            if context.get(c.rvalid):
                break
            await context.tick()
        assert context.get(c.rvalid)
        answer = context.get(c.rdata), context.get(c.rresp)
        context.set(c.rready, 1)
        await context.tick()
        context.set(c.rready, 0)
        return answer


def test_registers_answer_as_the_table_says() -> None:
    component = RegisterFile(fingerprint=0xCAFE1234)

    async def bench(context: Any) -> None:
        lite = Lite(component, context, random.Random(3))
        context.set(component.alive, 1)
        known = {each.offset for each in registers()}
        for each in registers():
            word, answer = await lite.read(each.offset + 3)
            assert answer == (OKAY if each.readable else SLVERR), each.name
            assert word == {"FINGERPRINT": 0xCAFE1234, "STATUS": 0}.get(each.name, each.reset)
            if each.access == "ro":
                assert await lite.write(each.offset, 0xFFFFFFFF) == SLVERR
        for address in (0x40, 0x3FC, 0x400, 0xFFC):
            assert address not in known
            assert await lite.write(address, 1) == SLVERR
            assert await lite.read(address) == (0, SLVERR)
        # Each byte by itself.
        held = 0
        for strobe in (1, 2, 4, 8, 5, 10, 0, 15):
            word = 0x01020304 * (strobe + 1)
            assert await lite.write(register("RESULT_UNITS").offset, word, strobe) == OKAY
            mask = sum(0xFF << 8 * byte for byte in range(4) if strobe >> byte & 1)
            held = (held & ~mask) | (word & mask)
            assert await lite.read(register("RESULT_UNITS").offset) == (held, OKAY)

    simulated(component, bench)


def test_status_is_sticky_and_a_set_wins_over_a_clear() -> None:
    component = RegisterFile(fingerprint=0)
    status = register("STATUS")

    async def bench(context: Any) -> None:
        lite = Lite(component, context, random.Random(4))
        context.set(component.alive, 1)
        for field in status.fields:
            if field.access != "w1c":
                continue
            line = getattr(component, field.name.lower())
            context.set(line, 1)
            await context.tick()
            context.set(line, 0)
            assert await lite.read(status.offset) == (field.mask, OKAY)
            assert await lite.write(status.offset, ~field.mask & 0xFFFFFFFF) == OKAY
            assert await lite.read(status.offset) == (field.mask, OKAY)
            # The byte of the bit is not written.
            assert await lite.write(status.offset, field.mask, 15 & ~(1 << field.bit // 8)) == OKAY
            assert await lite.read(status.offset) == (field.mask, OKAY)
            # Set again in the very cycle of the clear.
            lines.append(line)
            await lite.write(status.offset, field.mask)
            lines.clear()
            context.set(line, 0)
            assert await lite.read(status.offset) == (field.mask, OKAY)
            # The interrupt follows the enables.
            for enable, names in (("IRQ_DONE", ("done",)), ("IRQ_ERROR", ERRORS)):
                await lite.write(register("CONTROL").offset, register("CONTROL").field(enable).mask)
                await context.tick().repeat(2)
                assert context.get(component.interrupt) == (field.name.lower() in names), (field.name, enable)
            await lite.write(status.offset, field.mask)
            await context.tick().repeat(2)
            assert await lite.read(status.offset) == (0, OKAY)
            assert not context.get(component.interrupt)

    async def disturb(context: Any) -> None:
        while True:
            await context.tick()
            for line in lines:
                context.set(line, context.get(component._writes.act))

    lines: list[Any] = []
    simulated(component, bench, disturb)


def test_commands_are_refused_while_one_is_under_way() -> None:
    component = RegisterFile(fingerprint=0)
    given: list[int] = []

    async def bench(context: Any) -> None:
        lite = Lite(component, context, random.Random(5))
        context.set(component.alive, 1)
        offset = register("COMMAND").offset
        for busy in (0, 1):
            context.set(component.busy, busy)
            for word, strobe in ((0, 15), (1, 15), (2, 1), (3, 15), (4, 1), (0x102, 15), (0x102, 1), (1, 14), (3, 14)):
                count = len(given)
                answer = await lite.write(offset, word, strobe)
                await context.tick().repeat(2)
                mask = sum(0xFF << 8 * byte for byte in range(4) if strobe >> byte & 1)
                acts = bool(strobe & 1)
                good = not busy and (word & mask) < 3
                assert answer == (OKAY if good or not acts else SLVERR), (busy, word, strobe)
                assert len(given) - count == (acts and good)
        context.set(component.cycles, 0x1_0000_0002)
        assert await lite.read(register("CYCLES_LO").offset) == (2, OKAY)
        context.set(component.cycles, 0x2_0000_0000)
        assert await lite.read(register("CYCLES_HI").offset) == (1, OKAY)

    async def watch(context: Any) -> None:
        async for _, _, command, code in context.tick().sample(component.command, component.code):
            if command:
                given.append(code)

    simulated(component, bench, watch)
    assert given == [0, 1, 2, 2]
