"""The cocotb side of the Icarus and Verilator engines: plays requests that appear as files in its folder.

The reset is held for ``TABLA_RESET_CYCLES``. A request is ``request-N.json`` in the folder named by
``TABLA_EXCHANGE``; the answer is ``answer-N.json``. The word ``end`` for a request ends the simulation. Files are
renamed into place, so a reader never sees half of one.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge
from cocotb.types import Logic

from tabla.host.engines.host_loop import Host, Inputs, Outputs, Request, request_from

PROGRAM, PROGRAM_PATIENCE, PROGRAM_TAKES = 3, 64, 1
"""The code of a request with an image, the cycles that its status may take, and the status while words are to come."""
SHOWN = ("command_ready", "in_ready", "out_valid", "busy", "sample_start", "update")
PROGRAM_PORTS = ("program_valid", "program_memory", "program_address", "program_data", "program_start")
COUNTERS = ("lane_overflows", "root_overflows", "domain_errors")


class Ports:
    """The design's ports at the falling edge: what a cycle shows is settled, its inputs come in time for its end."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.cycle = 0
        self._driven: dict[str, int] = {}
        self._runs = False
        # Only an accelerator that predicts has this input.
        self._absent = () if hasattr(dut, "command_predict") else ("command_predict",)
        # Only an accelerator that a bus wrapper drives has the input `stop`, and an overlay takes images.
        for name in (*PROGRAM_PORTS, "about_index", "stop"):
            if hasattr(dut, name):
                getattr(dut, name).value = 0
        self.drive(Inputs())

    def drive(self, inputs: Inputs) -> None:
        """Set inputs; only what changes is written, writing is slow."""
        for name, value in vars(inputs).items():
            if self._driven.get(name) != value and name not in self._absent:
                getattr(self.dut, name).value = self._driven[name] = value

    async def reset(self, cycles: int) -> None:
        """Start the clock if it stands, and hold the reset for so many cycles."""
        if not self._runs:
            Clock(self.dut.clk, 10, unit="ns").start()
            self._runs = True
        self.drive(Inputs())
        self.dut.rst.value = 1
        for _ in range(cycles):
            await FallingEdge(self.dut.clk)
        self.dut.rst.value = 0

    def word(self, name: str) -> int:
        """A port as an unsigned number; ValueError when a bit is neither 0 nor 1."""
        value = getattr(self.dut, name).value
        return int(value) if isinstance(value, Logic) else int(value.to_unsigned())

    async def play(
        self, fields: dict[str, Any], told: Callable[[int], None] | None = None, most: int | None = None
    ) -> dict[str, Any]:
        """Run one request; the observation as a dictionary. `told` is called with the number of samples begun.

        RuntimeError when the machine hangs, takes more than `most` cycles, or withdraws a word that it has offered.
        """
        if fields["code"] == PROGRAM:
            return await self.program([int(word, 16) for word in fields["beats"]])
        host = Host(request_from(fields))
        last, offered = None if most is None else self.cycle + most, None
        while not host.done:
            await FallingEdge(self.dut.clk)
            self.cycle += 1
            if last is not None and self.cycle > last:
                raise RuntimeError(f"the command has not ended in {most} cycles")
            inputs = host.drive()
            shown = {name: self.word(name) for name in SHOWN}
            out_data = self.word("out_data") if shown["out_valid"] else 0
            self.drive(inputs)
            shows = out_data if shown["out_valid"] else None
            if offered is not None and shows != offered:
                raise RuntimeError(f"the word offered in cycle {self.cycle - 1} has changed before it was taken")
            offered = None if inputs.out_ready else shows
            host.observe(self.cycle, inputs, Outputs(out_data=out_data, **shown))
            if told is not None and shown["sample_start"]:
                told(len(host.seen.starts))
        host.seen.counters = self.counters()
        return vars(host.seen)

    def counters(self) -> list[int]:
        """The counters at the ports."""
        return [self.word(name) for name in COUNTERS]

    async def rest(self, cycles: int) -> None:
        """Offer nothing for so many cycles. RuntimeError when the machine does something in them."""
        self.drive(Inputs(out_ready=1))
        for _ in range(cycles):
            await FallingEdge(self.dut.clk)
            self.cycle += 1
            for name in ("busy", "out_valid", "sample_start", "update"):
                if self.word(name):
                    raise RuntimeError(f"{name} is 1 in cycle {self.cycle}, although no command is under way")

    async def begin(self, code: int, count: int, beats: list[str], cycles: int) -> None:
        """Give a command and some of its beats, and go on for so many cycles; the command is not waited for."""
        request = Request(code=code, count=count, beats=[int(beat, 16) for beat in beats], sample_beats=len(beats) or 1)
        host = Host(request)
        for _ in range(cycles):
            await FallingEdge(self.dut.clk)
            self.cycle += 1
            inputs = host.drive()
            shown = {name: self.word(name) for name in SHOWN}
            self.drive(inputs)
            host.observe(self.cycle, inputs, Outputs(out_data=0, **shown))

    async def write_program(self, memories: list[list[int]]) -> None:
        """Write the words of the microcode memories, in the order of their numbers, while the machine rests."""
        dut = self.dut
        dut.program_valid.value = 1
        for number, words in enumerate(memories):
            for address, word in enumerate(words):
                dut.program_memory.value, dut.program_address.value, dut.program_data.value = number, address, word
                await FallingEdge(dut.clk)
        dut.program_valid.value = 0
        for _ in range(4):
            await FallingEdge(dut.clk)

    async def _step(self) -> None:
        await FallingEdge(self.dut.clk)
        self.cycle += 1

    async def program(self, words: list[int]) -> dict[str, Any]:
        """Give an overlay the words of an image; the status, and the cycles of the first and the last step."""
        dut, left, begin, index = self.dut, PROGRAM_PATIENCE, self.cycle, 0
        dut.program_start.value = 1
        await self._step()
        dut.program_start.value = 0
        while left and (index < len(words) or self.word("program_status") == PROGRAM_TAKES):
            dut.program_valid.value = int(index < len(words))
            if index < len(words):
                dut.program_data.value = words[index]
            else:
                left -= 1
            # No output depends on an input of the same cycle.
            index += index < len(words) and self.word("program_ready")
            await self._step()
        dut.program_valid.value = 0
        await self._step()
        return {"outputs": [self.word("program_status")], "starts": [begin], "leaves": [self.cycle]}


def _await_request(path: Path, parent: int) -> str:
    while not path.exists():
        if os.getppid() != parent:
            return "end"  # whoever asked is gone
        time.sleep(0.002)
    return path.read_text(encoding="utf-8")


class _Teller:
    """Writes the number of samples into the file ``progress``, a few times a second."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._last = folder, time.monotonic()

    def __call__(self, samples: int) -> None:
        now = time.monotonic()
        if now - self._last > 0.2:
            self._last = now
            part = self._folder / ".progress"
            part.write_text(str(samples), encoding="utf-8")
            part.replace(self._folder / "progress")


@cocotb.test()
async def serve(dut: Any) -> None:
    """Answer requests until told to end."""
    folder, parent, number = Path(os.environ["TABLA_EXCHANGE"]), os.getppid(), 0
    ports = Ports(dut)
    await ports.reset(int(os.environ["TABLA_RESET_CYCLES"]))
    while (text := _await_request(folder / f"request-{number}.json", parent)) != "end":
        try:
            answer = await ports.play(json.loads(text), _Teller(folder))
        except (RuntimeError, ValueError) as fault:
            answer = {"fault": str(fault)}
        part = folder / f".answer-{number}"
        part.write_text(json.dumps(answer), encoding="utf-8")
        part.rename(folder / f"answer-{number}.json")
        number += 1
