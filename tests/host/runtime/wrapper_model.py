"""The wrapper for a host's bus as a model in Python, written from the description of its interface.

It sees packets where the hardware sees beats. The cycle model computes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from tabla.program.image import Image
from tabla.sim.model.cycle_model import CycleModel

LOAD, RUN, DUMP, RESETTING, PREDICT = 0, 1, 2, 3, 5
ABORT, RESET, IRQ_DONE, IRQ_ERROR = 1, 2, 1 << 8, 1 << 9
BUSY, LOADED, DONE = 1 << 0, 1 << 1, 1 << 8
SHORT, LONG, RANGE, COUNT_ZERO, NOT_LOADED = 1 << 9, 1 << 10, 1 << 12, 1 << 13, 1 << 14
SLVERR = "SLVERR"


class Device(Protocol):
    """What a model of a DMA needs of the wrapper behind it.

    The device calls `moment` now and then: a DMA goes on while nobody looks at its registers.
    """

    moment: Callable[[], None]

    def offer(self, data: bytes) -> None:
        """Offer a packet."""

    def taken(self) -> bool:
        """Whether all of the packet has been taken."""

    def cancel(self) -> None:
        """Take back what has not been taken."""

    def packet(self, room: int) -> bytes | None:
        """The next packet that has come whole, if there is one; the receiver has so much room."""


class WrapperModel:
    """Registers and packets of the wrapper of an image; `manifest` is that of its folder.

    `work` is the number of accesses to registers that a command takes beside its packets. Faults: with `stuck` no
    command ends; with `torn` the packet that is under way at a RESET has no end; with `deaf` no packet is taken; with
    `mute` no packet that comes out ever ends; with `ghost` every register reads as that word; with `spoil` the bytes of
    every packet that comes out are changed by it.
    """

    def __init__(self, image: Image, manifest: dict[str, Any], work: int = 3) -> None:
        bus = manifest["bus"]
        self.machine, self.image = CycleModel(image), image
        self.names = {entry["offset"]: entry["name"] for entry in bus["registers"]}
        self.values = {entry["name"]: entry["reset"] for entry in bus["registers"]}
        self.values["STATUS"] = 0
        self.type, self.beat = np.dtype(f"<i{bus['container'] // 8}"), bus["width"] // 8
        self.bytes, self.width = bus["bytes"], image.parameters.width
        self.dump_count = manifest["stream"]["dump"]["count"]
        self.work, self.left, self.command = work, 0, -1
        self.offered: bytes | None = None
        self.ends: int | None = None
        self.moment: Callable[[], None] = lambda: None
        self.units: list[np.ndarray[Any, Any]] = []
        self.error = 0
        self.out: list[bytes] = []
        self.log: list[str] = []
        self.base = (0, 0, 0)
        self.predicts = False
        self.stuck = self.deaf = self.mute = self.torn = False
        self.ghost: int | None = None
        self.spoil: Callable[[bytes], bytes] = lambda data: data

    # -- the ports of the streams

    def offer(self, data: bytes) -> None:
        assert self.offered is None and data, "a DMA has one packet at a time"
        self.offered = data

    def taken(self) -> bool:
        self.step()
        return self.offered is None

    def cancel(self) -> None:
        self.offered = None

    def packet(self, room: int) -> bytes | None:
        self.step()
        data = self.spoil(self.out.pop(0)) if self.out else None
        self.step()
        return None if self.mute else data

    # -- the registers

    def read(self, offset: int) -> int:
        self.moment()
        self.step()
        if self.ghost is not None:
            return self.ghost
        return int(self.values[self.names[offset]])

    def write(self, offset: int, word: int) -> None:
        if self.ghost is not None:
            return
        name = self.names[offset]
        match name:
            case "COMMAND":
                self._begin(word)
            case "COUNT" | "RESULT_UNITS":
                self.values[name] = word
            case "STATUS":
                self.values[name] &= ~(word & ~(BUSY | LOADED))
            case "CONTROL" if word & RESET:
                self.log.append("RESET")
                self.values["STATUS"] = self.values["STATUS"] & ~LOADED | BUSY
                # An open packet is ended by one last beat, which somebody has to take.
                self.out = [bytes(self.beat)] if self.out else []
                self.command, self.offered, self.stuck = RESETTING, None, False
                self.ends = None if self.torn else 0
            case "CONTROL" if word & ABORT:
                self.log.append("ABORT")
                if self.command == RESETTING:
                    self.torn, self.ends = False, 0
                elif self.command >= 0 and not self.stuck and self.ends is None:
                    self.units, self.offered = self.units if self.command == RUN else [], None
                    self._end()
            case "CONTROL":
                self.values[name] = word
            case _:
                raise AssertionError(f"a write to {name} is answered with {SLVERR}")

    @property
    def interrupt(self) -> bool:
        """The line of the interrupt, which is level."""
        status, control = self.values["STATUS"], self.values["CONTROL"]
        errors = SHORT | LONG | RANGE | COUNT_ZERO | NOT_LOADED
        return bool((status & DONE and control & IRQ_DONE) or (status & errors and control & IRQ_ERROR))

    def _begin(self, code: int) -> None:
        there = (LOAD, RUN, DUMP, *((PREDICT,) if self.image.parameters.predicts else ()))
        assert code in there and not self.values["STATUS"] & BUSY, SLVERR
        self.log.append({LOAD: "LOAD", RUN: "RUN", DUMP: "DUMP", PREDICT: "PREDICT"}[code])
        self.predicts, code = code == PREDICT, RUN if code == PREDICT else code
        self.command, self.left, self.units, self.error = code, self.work, [], 0
        self.values["STATUS"] |= BUSY
        if code == RUN:
            self.values["SAMPLES"] = 0
        if code == LOAD:
            self.values["STATUS"] &= ~LOADED
        elif not self.values["STATUS"] & LOADED:
            self._stop(NOT_LOADED)
        elif code == RUN and not self.values["COUNT"]:
            self._stop(COUNT_ZERO)

    def _stop(self, bits: int = 0) -> None:
        """The command ends when its last packet has been taken, and leaves these bits of STATUS."""
        self.ends = DONE | bits
        self.step()

    def step(self) -> None:
        """An access, or a moment: what can go on goes on."""
        if self.ends is not None:
            if not self.out:
                self.values["STATUS"] = self.values["STATUS"] & ~BUSY | self.ends
                self.command, self.ends = -1, None
            return
        if self.command in (-1, RESETTING) or self.stuck:
            return
        if self.left:
            self.left -= 1
            return
        if self.offered is not None and not self.deaf and self._wanted():
            data, self.offered = self.offered, None
            self._take(data)
        if not self._wanted():
            self._end()

    def _wanted(self) -> int:
        """The bytes of the packets that the command still wants."""
        if self.error:
            return 0
        if self.command == LOAD:
            return int(self.bytes["load"]) if not self.units else 0
        whole = self.values["COUNT"] - len(self.units)
        return int(self.bytes["sample"]) * whole if self.command == RUN else 0

    def _take(self, data: bytes) -> None:
        """A packet with TLAST at its end."""
        kind = "load" if self.command == LOAD else "sample"
        size, wanted = self.bytes[kind], self._wanted()
        words = np.frombuffer(data[: len(data) // self.type.itemsize * self.type.itemsize], dtype=self.type)
        limit = 1 << self.width - 1
        wrong = np.flatnonzero((words < -limit) | (words >= limit))
        sound = len(data)
        if len(wrong):
            self.error |= RANGE
            sound = int(wrong[0]) * self.type.itemsize // self.beat * self.beat
        elif len(data) > -(-wanted // self.beat) * self.beat:
            self.error |= LONG
        elif len(data) < wanted and (self.command == LOAD or len(data) % size):
            self.error |= SHORT
            sound = (len(data) - 1) // self.beat * self.beat
        each = size // self.type.itemsize
        whole = min(sound // size, wanted // size)
        self.units += [unit.astype(np.int64) for unit in words[: whole * each].reshape(whole, each)]

    def _end(self) -> None:
        """All units of the command are there, or it ends early."""
        beats, machine = self.image.parameters.stream_words, self.machine
        status = 0
        match self.command:
            case c if c == LOAD:
                if not self.error and (self.units or not self.bytes["load"]):
                    rows = np.concatenate([np.zeros(0, dtype=np.int64), *self.units])
                    machine.load(rows.reshape(-1, beats))
                    status = LOADED
                    now = machine.path.counters()
                    self.base = (now.lane_overflows, now.root_overflows, now.domain_errors)
            case c if c == RUN:
                self._run()
            case c if c == DUMP:
                self.out.append(np.array(machine.dump(self.dump_count), dtype=self.type).tobytes())
        self._count()
        self._stop(status | self.error)

    def _run(self) -> None:
        count = len(self.units) if self.bytes["sample"] else self.values["COUNT"]
        rows = np.concatenate([np.zeros(0, dtype=np.int64), *self.units])
        play = self.machine.predict if self.predicts else self.machine.run
        words = play(rows.reshape(-1, self.image.parameters.stream_words), count).outputs if count else []
        self.values["SAMPLES"] = count
        self.values["CYCLES_LO"] = 100 + 7 * count
        data = np.array(words, dtype=self.type).tobytes()
        size = self.bytes["result"]
        if size:
            each = (self.values["RESULT_UNITS"] or count) * size
            self.out += [data[at : at + each] for at in range(0, len(data), each)] if count else [bytes(self.beat)]

    def _count(self) -> None:
        found = self.machine.path.counters()
        for name, now, before in zip(
            ("LANE_OVERFLOWS", "ROOT_OVERFLOWS", "DOMAIN_ERRORS"),
            (found.lane_overflows, found.root_overflows, found.domain_errors),
            self.base,
            strict=True,
        ):
            self.values[name] = now - before
