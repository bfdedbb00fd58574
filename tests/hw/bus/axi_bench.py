"""The cocotb side of the wrapper's tests: masters of cocotbext-axi on its ports, and a host that knows only
docs/host-bus.md.

`TABLA_AXI_CASE` names a JSON file: the units that go in, the words that must come out, and the manifest's registers.
"""

from __future__ import annotations

import json
import logging
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, RisingEdge, with_timeout
from cocotb.types import LogicArray
from cocotb.utils import get_sim_time
from cocotbext.axi import (
    AxiLiteBus,
    AxiLiteMaster,
    AxiResp,
    AxiStreamBus,
    AxiStreamFrame,
    AxiStreamSink,
    AxiStreamSource,
)

CASE = json.loads(Path(os.environ["TABLA_AXI_CASE"]).read_text())
REGISTERS = {entry["name"]: entry for entry in CASE["registers"]}
OFFSET = {name: entry["offset"] for name, entry in REGISTERS.items()}
BITS = {f["name"]: f["bit"] for name in ("STATUS", "CONTROL") for f in REGISTERS[name]["fields"]}
BYTES = CASE["container"] // 8
BEAT = CASE["bus_bits"] // 8
LOAD, RUN, DUMP, PROGRAM, PREDICT = 0, 1, 2, 4, 5
ERRORS = ("SHORT", "LONG", "KEEP", "RANGE", "COUNT_ZERO", "NOT_LOADED")
PATIENCE = 20_000
CLOCK = 10
"""Nanoseconds of a cycle."""
SLACK = 200
"""Cycles by which LOAD, RUN and DUMP may take longer after a fault: polling of STATUS is what differs."""
SEEN: dict[str, int] = {}
RECOVERIES: dict[str, list[int]] = {}
"""By the kind of fault: the most cycles until BUSY was 0, the most for a LOAD, a RUN and a DUMP, and how often."""

Packet = tuple[list[int], list[int]]


def packed(words: list[int]) -> list[int]:
    """The bytes of words in their containers."""
    return [byte for word in words for byte in word.to_bytes(BYTES, "little", signed=True)]


def unpacked(data: bytes) -> list[int]:
    """The words of containers."""
    return [int.from_bytes(data[at : at + BYTES], "little", signed=True) for at in range(0, len(data), BYTES)]


def gaps(seed: int, share: float) -> Iterator[bool]:
    """Pauses at random."""
    chance = random.Random(seed)
    while True:
        yield chance.random() < share


class Host:
    """A host on the ports of the wrapper. Every wait ends, at the latest with an error."""

    def __init__(self, dut: Any) -> None:
        self.dut, self.hindered, self.waited = dut, False, 0
        for name in ("axil_master", "axi"):
            logging.getLogger(f"cocotb.{name}").setLevel(logging.ERROR)

    async def open(self, *, bare: bool = False) -> None:
        """Start the clock, and make the masters while reset is active. Before the first reset inputs are undefined.

        An overlay gets its program then, if it has none, unless it is to stay `bare`.
        """
        dut = self.dut
        Clock(dut.aclk, CLOCK, unit="ns").start(start_high=False)
        if "reset" not in SEEN:
            # The very first cycles of the simulation: nothing has been driven yet.
            for _ in range(5):
                await FallingEdge(dut.aclk)
                self.quiet()
        SEEN["reset"] = 1
        dut.aresetn.value = 0
        await FallingEdge(dut.aclk)
        signals = {"reset": dut.aresetn, "reset_active_level": False}
        for prefix in ("s_axis", "m_axis", "s_axil"):
            logging.getLogger(f"cocotb.{dut._name}.{prefix}").setLevel(logging.ERROR)
        self.source = AxiStreamSource(AxiStreamBus.from_prefix(dut, "s_axis"), dut.aclk, **signals)
        self.sink = AxiStreamSink(AxiStreamBus.from_prefix(dut, "m_axis"), dut.aclk, **signals)
        self.lite = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "s_axil"), dut.aclk, **signals)
        await FallingEdge(dut.aclk)
        dut.aresetn.value = 1
        cocotb.start_soon(self._fog())
        cocotb.start_soon(self._watch())
        await self.rest()
        if bare:
            return
        if "image" in CASE and await self.read("FINGERPRINT") == 0:
            assert await self.program(CASE["image"]) == set()
        if "clean" not in SEEN:
            SEEN["clean"] = await self._whole()
            await self.reset()

    async def reset(self) -> None:
        """A reset of one cycle; whatever the masters were at is forgotten."""
        await FallingEdge(self.dut.aclk)
        self.dut.aresetn.value = 0
        self.source.clear()
        await FallingEdge(self.dut.aclk)
        self.dut.aresetn.value = 1
        self.sink.clear()
        await self.rest()
        assert await self.bits() == set()

    async def part(self, words: list[int], beats: int) -> None:
        """Send so many beats of a packet, which stays open."""
        self.source.pause = True
        self.send(words)
        for _ in range(beats):
            await FallingEdge(self.dut.aclk)
            self.source.pause = False
            await FallingEdge(self.dut.aclk)
            self.source.pause = True
            while str(self.dut.s_axis_tready.value) != "1":
                await FallingEdge(self.dut.aclk)
        await FallingEdge(self.dut.aclk)

    def cancel(self) -> None:
        """Forget the packets that have not been sent, as a host cancels its DMA."""
        assert self.source.pause
        self.source.clear()
        self.source._handle_reset(True)
        self.source._handle_reset(False)
        self.source.pause = False

    def pause(self, share: float, seed: int) -> None:
        """Pause every channel at random, in so large a share of the cycles."""
        self.hindered = share > 0
        write, read = self.lite.write_if, self.lite.read_if
        channels = (write.aw_channel, write.w_channel, write.b_channel, read.ar_channel, read.r_channel)
        for number, channel in enumerate((self.source, self.sink, *channels)):
            channel.set_pause_generator(gaps(seed + number, share))

    def quiet(self) -> None:
        """Before reset the wrapper offers nothing and takes nothing, whatever stands on its inputs."""
        for name in (
            "s_axis_tready m_axis_tvalid m_axis_tlast interrupt s_axil_awready s_axil_wready s_axil_bvalid "
            "s_axil_arready s_axil_rvalid"
        ).split():
            assert str(getattr(self.dut, name).value) == "0", f"{name} before reset"

    async def _fog(self) -> None:
        """The payload is undefined while it is not valid; in Verilator, which knows no X, it is anything."""
        dut, names, chance = self.dut, ("s_axis_tdata", "s_axis_tkeep", "s_axis_tlast"), random.Random(1)
        while True:
            await FallingEdge(dut.aclk)
            if str(dut.s_axis_tvalid.value) == "0":
                for name in names:
                    signal = getattr(dut, name)
                    if CASE["simulator"] == "verilator":
                        signal.value = chance.getrandbits(len(signal))
                    else:
                        signal.value = LogicArray("X" * len(signal)) if len(signal) > 1 else "X"

    async def _watch(self) -> None:
        """Valid stays with its payload until ready; nothing that counts is undefined."""
        dut = self.dut
        before: dict[str, tuple[str, ...]] = {}
        payloads = {"m_axis_t": ("data", "keep", "last"), "s_axil_b": ("resp",), "s_axil_r": ("data", "resp")}
        while True:
            await RisingEdge(dut.aclk)
            for name in ("s_axis_tready", "interrupt", "m_axis_tlast", "s_axil_awready", "s_axil_wready"):
                assert str(getattr(dut, name).value) in "01", name
            for prefix, parts in payloads.items():
                valid = str(getattr(dut, f"{prefix}valid").value)
                assert valid in "01", prefix
                payload = tuple(str(getattr(dut, prefix + part).value) for part in parts)
                if valid == "1":
                    assert not any(bit in "XZxz" for text in payload for bit in text), (prefix, payload)
                if prefix in before and str(dut.aresetn.value) == "1":
                    assert valid == "1" and payload == before[prefix], f"{prefix} took back what it offered"
                before.pop(prefix, None)
                held = str(getattr(dut, f"{prefix}ready").value) == "0"
                if valid == "1" and held and str(dut.aresetn.value) == "1":
                    before[prefix] = payload

    async def write(self, name: str | int, word: int) -> AxiResp:
        """Write a register; the answer."""
        address = OFFSET[name] if isinstance(name, str) else name
        return (await with_timeout(self.lite.write(address, word.to_bytes(4, "little")), 100, "us")).resp

    async def read(self, name: str | int) -> int:
        """Read a register that can be read."""
        answer = await with_timeout(self.lite.read(OFFSET[name] if isinstance(name, str) else name, 4), 100, "us")
        assert answer.resp == AxiResp.OKAY, name
        return int.from_bytes(answer.data, "little")

    async def bits(self) -> set[str]:
        """The names of the bits of STATUS that are set."""
        word = await self.read("STATUS")
        return {field["name"] for field in REGISTERS["STATUS"]["fields"] if word >> field["bit"] & 1}

    async def rest(self) -> int:
        """Wait until nothing is under way; the cycles that it took."""
        for cycle in range(PATIENCE):
            if cycle % 16 == 0 and "BUSY" not in await self.bits():
                return cycle
            await RisingEdge(self.dut.aclk)
        raise AssertionError(f"BUSY does not end: {await self.bits()}")

    async def begin(self, code: int) -> None:
        """Give a command, with every sticky bit cleared."""
        await self.write("STATUS", 0xFFFFFFFF)
        assert await self.write("COMMAND", code) == AxiResp.OKAY

    async def end(self) -> set[str]:
        """Wait for the end of a command; the errors that it left, beside DONE, which must be there."""
        self.waited = await self.rest()
        bits = await self.bits()
        assert "DONE" in bits, bits
        return bits & set(ERRORS)

    def send(self, words: list[int], keep: list[int] | None = None) -> None:
        """Send a packet. `keep` is by byte; without it all bytes are there."""
        self.send_bytes(packed(words), keep)

    def send_bytes(self, data: list[int], keep: list[int] | None = None) -> None:
        """Send a packet of bytes."""
        if data:
            self.source.send_nowait(AxiStreamFrame(data, tkeep=keep or [1] * len(data)))

    async def program(self, words: list[int]) -> set[str]:
        """Give an image to an overlay, word by word; the bits of STATUS that are errors."""
        await self.begin(PROGRAM)
        for word in words:
            assert await self.write("PROGRAM_DATA", word) == AxiResp.OKAY
        return await self.end()

    async def load(self) -> None:
        """A load that succeeds."""
        await self.begin(LOAD)
        self.send(CASE["load"])
        assert await self.end() == set()
        assert "LOADED" in await self.bits()
        assert self.source.idle()

    async def run(self, first: int, count: int, packets: list[int], result_units: int = 0) -> None:
        """A run that succeeds: `count` units from number `first` on, in packets of so many units each."""
        assert sum(packets) == count
        await self.write("COUNT", count)
        await self.write("RESULT_UNITS", result_units)
        await self.begin(RUN)
        at = first
        for units in packets:
            self.send([word for unit in CASE["units"][at : at + units] for word in unit])
            at += units
        assert await self.end() == set()
        await self.results(first, count, result_units)

    async def results(self, first: int, count: int, result_units: int = 0) -> None:
        """Hold the packets of a run of `count` units against the words of the evaluation."""
        assert await self.read("SAMPLES") == count
        words = [word for unit in CASE["results"][first : first + count] for word in unit]
        if not CASE["results"][0]:
            assert self.sink.empty()
            return
        if not count:
            assert await self.packet() == (bytes(BEAT), 1)
        size = (result_units or count) * len(CASE["results"][0])
        for at in range(0, len(words), max(1, size)):
            data, _ = await self.packet()
            assert unpacked(data) == words[at : at + size]
        assert self.sink.empty()

    async def packet(self) -> tuple[bytes, int]:
        """The next packet: its bytes, and the beats that it took."""
        frame = await with_timeout(self.sink.recv(), 100, "us")
        data = bytes(frame.tdata)
        return data, -(-len(data) // BEAT)

    async def dump(self, trained: int) -> None:
        """A dump, whose words must be those of the evaluation after `trained` units."""
        await self.begin(DUMP)
        data, _ = await self.packet()
        assert await self.end() == set()
        words = unpacked(data)
        if not CASE["dump_words"]:
            assert data == bytes(BEAT)
            return
        assert len(words) == CASE["dump_words"]
        wrong = [(at, words[at], word) for at, word in CASE["dumps"][trained] if words[at] != word]
        assert not wrong, (trained, wrong)

    async def recover(self, fault: str, waited: int = 0) -> None:
        """LOAD, RUN and DUMP after a fault, and without a reset. What it took is kept, and must be what is usual.

        `waited` is how long BUSY has already been waited for since the packet was given to the master.
        """
        waited += await self.rest()
        while not self.sink.empty():
            self.sink.recv_nowait()
        cycles = await self._whole()
        most, longest, times = RECOVERIES.get(fault, [0, 0, 0])
        RECOVERIES[fault] = [max(most, waited), max(longest, cycles), times + 1]
        Path(os.environ["TABLA_AXI_RECOVERIES"]).write_text(json.dumps(RECOVERIES), encoding="utf-8")
        if not self.hindered:
            assert cycles <= SEEN["clean"] + SLACK, (fault, cycles)

    async def _whole(self) -> int:
        """LOAD, RUN and DUMP, which give the words of the evaluation; the cycles that they took."""
        before = get_sim_time("ns")
        await self.load()
        await self.run(0, 2, [2])
        await self.dump(2)
        return round((get_sim_time("ns") - before) / CLOCK)
