"""Xilinx AXI DMA in direct register mode as a model in Python, written from PG021.

The memory behind it is that of a buffer, at the buffer's address. There is nothing at other addresses.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.host.runtime.wrapper_model import Device

MM2S, S2MM = 0x00, 0x30
DMACR, DMASR, LOW, HIGH, LENGTH = 0x00, 0x04, 0x18, 0x1C, 0x28
HALTED, IDLE, SG = 1 << 0, 1 << 1, 1 << 3
INTERNAL, SLAVE, DECODE = 1 << 4, 1 << 5, 1 << 6
IOC, ERR = 1 << 12, 1 << 14


class Memory:
    """Memory at an address, with a cache that is not coherent: the processor sees `cached`, the DMA `ram`."""

    def __init__(self, size: int = 1 << 16, address: int = 0x1000_0000) -> None:
        self.address, self.size = address, size
        self.ram = np.frombuffer(random.Random(1).randbytes(size), dtype=np.uint8).copy()
        self.cached = self.ram.copy()
        self.expected = (0, 0)

    def fill(self, at: int, data: bytes) -> None:
        self.cached[at : at + len(data)] = np.frombuffer(data, dtype=np.uint8)
        self.ram[at : at + len(data)] = self.cached[at : at + len(data)]

    def expect(self, at: int, size: int) -> None:
        self.expected = (at, size)

    def fetch(self, at: int, size: int) -> bytes:
        assert self.expected[0] == at and size <= self.expected[1], "the device wrote what was not expected"
        self.cached[at : at + size] = self.ram[at : at + size]
        return self.cached[at : at + size].tobytes()


@dataclass
class Channel:
    control: int = 0
    status: int = HALTED
    low: int = 0
    high: int = 0
    length: int = 0
    active: bool = False


class DmaModel:
    """The registers of the DMA. `ram` is the memory as the DMA sees it, at `address`.

    `beat` is the bytes of the streams, and of accesses to memory: addresses are multiples of it, as without DRE.
    """

    def __init__(
        self,
        device: Device,
        memory: Any,
        *,
        length_bits: int = 14,
        address_bits: int = 32,
        beat: int = 4,
        scatter_gather: bool = False,
    ) -> None:
        self.device, self.memory, self.beat = device, memory, beat
        self.length_bits, self.address_bits, self.sg = length_bits, address_bits, SG * scatter_gather
        self.chance = random.Random(7)
        self.resets = 0
        self.lengths: list[int] = []
        self.inject: dict[int, int] = {}  # an error that the next transfer of a channel ends with
        self._reset()
        device.moment = self.step

    def _reset(self) -> None:
        self.channels = {MM2S: Channel(), S2MM: Channel()}

    def _of(self, offset: int) -> tuple[Channel, int, int]:
        base = S2MM if offset >= S2MM else MM2S
        return self.channels[base], base, offset - base

    def read(self, offset: int) -> int:
        self.step()
        channel, _, register = self._of(offset)
        match register:
            case c if c == DMACR:
                return channel.control
            case c if c == DMASR:
                return channel.status | self.sg
            case c if c == LOW:
                return channel.low
            case c if c == HIGH:
                return channel.high
            case c if c == LENGTH:
                return channel.length
        raise AssertionError(f"no register at 0x{offset:X}")

    def write(self, offset: int, word: int) -> None:
        channel, base, register = self._of(offset)
        match register:
            case c if c == DMACR and word & 4:
                self.resets += 1
                self.device.cancel()
                self._reset()
            case c if c == DMACR:
                channel.control = word
                channel.status = channel.status & ~HALTED if word & 1 else channel.status & ~IDLE | HALTED
            case c if c == DMASR:
                channel.status &= ~(word & (IOC | ERR))
            case c if c == LOW:
                channel.low = word
            case c if c == HIGH:
                channel.high = word if self.address_bits > 32 else 0
            case c if c == LENGTH and not channel.status & HALTED:
                self._start(channel, base, word & (1 << self.length_bits) - 1)

    def _start(self, channel: Channel, base: int, length: int) -> None:
        assert not channel.active, "a transfer is under way"
        channel.length, channel.active = length, True
        channel.status &= ~IDLE
        at = (channel.high << 32 | channel.low) - self.memory.address
        if error := self.inject.pop(base, 0):
            return self._stop(channel, error)
        if not length:
            return self._stop(channel, INTERNAL)
        if at < 0 or at + length > self.memory.size:
            return self._stop(channel, DECODE)
        assert at % self.beat == 0, "without a realignment engine the data is undefined"
        if base == MM2S:
            self.lengths.append(length)
            self.device.offer(self.memory.ram[at : at + length].tobytes())
        return None

    def _stop(self, channel: Channel, error: int) -> None:
        channel.control &= ~1
        channel.status = channel.status & ~IDLE | error | HALTED | ERR
        channel.active = False

    def _finish(self, channel: Channel) -> None:
        channel.status |= IDLE | IOC
        channel.active = False

    def step(self) -> None:
        sender, receiver = self.channels[MM2S], self.channels[S2MM]
        if sender.active and self.device.taken():
            self._finish(sender)
        if receiver.active and (data := self.device.packet(receiver.length)) is not None:
            at = (receiver.high << 32 | receiver.low) - self.memory.address
            if len(data) > receiver.length:
                # An overlong packet: what is in memory, and in the length register, is undefined.
                noise = self.chance.randbytes(receiver.length)
                self.memory.ram[at : at + receiver.length] = np.frombuffer(noise, dtype=np.uint8)
                receiver.length = self.chance.getrandbits(self.length_bits)
                return self._stop(receiver, INTERNAL)
            self.memory.ram[at : at + len(data)] = np.frombuffer(data, dtype=np.uint8)
            receiver.length = len(data)
            self._finish(receiver)
        return None
