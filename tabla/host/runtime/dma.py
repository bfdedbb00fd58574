"""Xilinx AXI DMA in direct register mode as a pair of streams (PG021, AXI DMA LogiCORE IP Product Guide).

Each channel has a control register, a status register, an address of 64 bits and a length. Writing the length starts a
transfer. MM2S reads memory and sends one packet, with TLAST at its end. S2MM writes one packet to memory, and its
length register then has the bytes that came.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from tabla.base.source import TablaError
from tabla.host.runtime.access import Buffer, Registers
from tabla.host.runtime.transport import DeviceFault

CONTROL, STATUS, ADDRESS, ADDRESS_MSB, LENGTH = 0x00, 0x04, 0x18, 0x1C, 0x28
SIZE = 0x5C
"""The bytes of all registers in direct register mode."""
RUN, RESET = 1 << 0, 1 << 2
HALTED, IDLE, SCATTER_GATHER = 1 << 0, 1 << 1, 1 << 3
ERRORS = {
    1 << 4: ("DMAIntErr", "a packet was longer than its buffer, or its length was 0"),
    1 << 5: ("DMASlvErr", "the memory refused an access"),
    1 << 6: ("DMADecErr", "there is no memory at the address"),
}
COMPLETE = 1 << 12
_LINE = 64
"""Bytes of a cache line: the areas of the two directions share none."""


class Streams(Protocol):
    """A pair of streams to an accelerator. `most_sent` and `most_received` are the bytes of the largest packets."""

    most_sent: int
    most_received: int

    def arm(self, size: int) -> None:
        """Get ready to receive a packet of at most `size` bytes."""

    def fill(self, data: bytes) -> None:
        """Get a packet ready that `send` will send."""

    def send(self) -> None:
        """Begin to send the packet that is ready."""

    def sent(self) -> bool:
        """Return whether the packet has left. A fault of the stream is a `DeviceFault`."""

    def received(self) -> bytes | None:
        """Return the packet that was armed for, or None if it has not come whole."""

    def state(self) -> str:
        """Return what both streams are at, in words."""

    def reset(self) -> None:
        """Forget all packets, whatever is under way."""

    def close(self) -> None:
        """Stop both streams."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DmaShape:
    """How a DMA was configured, which it cannot be asked.

    `length_bits` is the width of its length registers (14 unless the design says otherwise), `address_bits` that of its
    addresses, and `beat` the bytes of its streams, which addresses are multiples of.
    """

    length_bits: int = 14
    address_bits: int = 32
    beat: int = 4

    def __post_init__(self) -> None:
        if not 8 <= self.length_bits <= 26:
            raise TablaError(f"a length register of {self.length_bits} bits is not supported", hint="use 8 to 26 bits")
        if not 32 <= self.address_bits <= 64:
            raise TablaError(f"addresses of {self.address_bits} bits are not supported", hint="use 32 to 64 bits")


class AxiDma:
    """Both channels of an AXI DMA. The first part of the buffer is for packets to the device, the rest for the others.

    `most` has the bytes of the largest packets that are wanted, to and from the device; the buffer is divided so that
    both have room. `seconds` is the time that a reset may take. Raises `TablaError` for a buffer that the DMA cannot
    reach, and `DeviceFault` for a DMA that does not answer.
    """

    def __init__(
        self, registers: Registers, buffer: Buffer, shape: DmaShape, *, most: tuple[int, int], seconds: float = 0.5
    ) -> None:
        self._registers, self._buffer, self._shape, self._seconds = registers, buffer, shape, seconds
        self._check_buffer()
        self._second = _division(buffer.size, most, max(_LINE, shape.beat))
        longest = (1 << shape.length_bits) - 1
        self.most_sent = min(longest, self._second)
        self.most_received = min(longest, buffer.size - self._second) // shape.beat * shape.beat
        self._armed = self._sending = self._filled = 0
        self.reset()

    def _check_buffer(self) -> None:
        buffer, shape = self._buffer, self._shape
        if buffer.address % max(_LINE, shape.beat):
            raise TablaError(
                f"the buffer begins at 0x{buffer.address:X}, which is no multiple of {max(_LINE, shape.beat)} bytes",
                hint="allocate whole pages, as u-dma-buf and pynq.allocate do",
            )
        if buffer.address + buffer.size > 1 << shape.address_bits:
            raise TablaError(
                f"the buffer ends at 0x{buffer.address + buffer.size:X}, above the reach of a DMA with"
                f" {shape.address_bits} address bits",
                hint="build the DMA with wider addresses and say so (address-bits=40), or reserve memory below",
            )

    def reset(self) -> None:
        """Reset the engine, which both channels share, and start both channels."""
        self._armed = self._sending = 0
        registers = self._registers
        registers.write(CONTROL, RESET)
        self._until(lambda: not registers.read(CONTROL) & RESET, "its reset does not end")
        if registers.read(STATUS) & SCATTER_GATHER:
            raise TablaError(
                "the AXI DMA works with scatter and gather", hint="build it without: c_include_sg = 0, direct mode"
            )
        for channel in _CHANNELS.values():
            registers.write(channel + CONTROL, RUN)
        for name, channel in _CHANNELS.items():
            self._until(partial(self._runs, channel), f"its channel {name} stays halted")

    def _runs(self, channel: int) -> bool:
        registers = self._registers
        return bool(registers.read(channel + CONTROL) & RUN) and not registers.read(channel + STATUS) & HALTED

    def _until(self, done: Callable[[], bool], otherwise: str) -> None:
        end = time.monotonic() + self._seconds
        while not done():
            if time.monotonic() > end:
                raise DeviceFault(
                    f"the AXI DMA does not answer: {otherwise}",
                    hint="check the address of its registers, its clock and its reset",
                )

    def arm(self, size: int) -> None:
        """Get ready to receive a packet of at most `size` bytes, which is rounded up to whole beats."""
        beat = self._shape.beat
        self._armed = max(beat, -(-size // beat) * beat)
        self._buffer.expect(self._second, self._armed)
        self._start(_S2MM, self._buffer.address + self._second, self._armed)

    def fill(self, data: bytes) -> None:
        """Copy a packet into the buffer."""
        self._buffer.fill(0, data)
        self._filled = len(data)

    def send(self) -> None:
        """Begin to send the packet in the buffer."""
        self._sending = self._filled
        self._start(_MM2S, self._buffer.address, self._filled)

    def _start(self, channel: int, address: int, length: int) -> None:
        registers = self._registers
        registers.write(channel + STATUS, COMPLETE)
        registers.write(channel + ADDRESS, address & 0xFFFFFFFF)
        if self._shape.address_bits > 32:
            registers.write(channel + ADDRESS_MSB, address >> 32)
        registers.write(channel + LENGTH, length)

    def sent(self) -> bool:
        """Return whether the packet has left."""
        if not self._sending:
            return True
        if self._status(_MM2S, "MM2S") & IDLE:
            self._sending = 0
        return not self._sending

    def received(self) -> bytes | None:
        """Return the packet that was armed for, or None if it has not come whole."""
        if not self._armed or not self._status(_S2MM, "S2MM") & IDLE:
            return None
        length = self._registers.read(_S2MM + LENGTH) & ((1 << self._shape.length_bits) - 1)
        if length > self._armed:
            raise DeviceFault(f"the AXI DMA has received {length} bytes into room for {self._armed}", hint=_CABLES)
        self._armed = 0
        return self._buffer.fetch(self._second, length)

    def _status(self, channel: int, name: str) -> int:
        """Return the status of a channel. Errors, and a channel that has stopped by itself, are a `DeviceFault`."""
        status = self._registers.read(channel + STATUS)
        if found := [f"{bit}: {said}" for mask, (bit, said) in ERRORS.items() if status & mask]:
            raise DeviceFault(f"the AXI DMA has stopped channel {name} with {'; '.join(found)}", hint=_CABLES)
        if status & HALTED:
            raise DeviceFault(f"the AXI DMA has stopped channel {name}", hint="is another program using it?")
        return status

    def state(self) -> str:
        """Return what both channels are at, in words."""
        parts = []
        for name, channel, length in (("MM2S", _MM2S, self._sending), ("S2MM", _S2MM, self._armed)):
            status = self._registers.read(channel + STATUS)
            flags = {HALTED: "Halted", IDLE: "Idle", COMPLETE: "IOC_Irq", **{m: bit for m, (bit, _) in ERRORS.items()}}
            bits = ", ".join(bit for mask, bit in flags.items() if status & mask) or "busy"
            verb = "sending" if name == "MM2S" else "waiting for"
            doing = f", {verb} up to {length} bytes" if length else ""
            parts.append(f"{name} 0x{status:08X} ({bits}{doing})")
        return ", ".join(parts)

    def close(self) -> None:
        """Stop both channels. A DMA that has gone is no fault any more."""
        for channel in _CHANNELS.values():
            self._registers.write(channel + CONTROL, 0)


_MM2S, _S2MM = 0x00, 0x30
_CHANNELS = {"MM2S": _MM2S, "S2MM": _S2MM}
_CABLES = "check the widths of both streams, TLAST, and that the DMA reaches the memory of the buffer"


def _division(size: int, most: tuple[int, int], line: int) -> int:
    """Return where the second part of a buffer begins: in the middle, unless a packet needs more room than that."""
    first, second = (-(-part // line) * line for part in most)
    middle = size // 2 // line * line
    if first > middle:
        return min(first, max(0, size - second) // line * line)
    return middle if second <= size - middle else max(0, (size - second) // line * line)
