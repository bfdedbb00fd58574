"""Runs the hardware description in Amaranth's simulator, before it becomes Verilog.

This engine is slow, and it needs only the packages that `tabla` itself installs.
"""

from __future__ import annotations

import gc
from typing import Any

from amaranth.hdl import ClockDomain, Module
from amaranth.sim import Simulator

from tabla.base import progress
from tabla.host.engines.host_loop import PREDICT, RUN, Host, Observation, Outputs, Request
from tabla.host.engines.port_machine import PROGRAM, PROGRAM_PATIENCE, PortMachine, pack
from tabla.hw.emit import hardware_of
from tabla.hw.reset import reset_cycles
from tabla.program.image import Image
from tabla.program.overlay import Overlay
from tabla.program.overlay_words import Status
from tabla.sim.machine import Words


class AmaranthMachine(PortMachine):
    """The machine of `image`, or an overlay, in Amaranth's own simulator."""

    def __init__(self, image: Image, overlay: Overlay | None = None) -> None:
        super().__init__(image, overlay)
        self._hardware = hardware_of(self.content)
        self._top = Module()
        self._top.domains.sync = self._domain = ClockDomain()
        self._top.submodules.hardware = self._hardware
        self._request: Request | None = None
        self._answer: Observation | None = None
        self._simulator = Simulator(self._top)
        self._simulator.add_clock(1e-8)
        self._simulator.add_testbench(self._bench, background=True)

    async def _bench(self, context: Any) -> None:
        hardware = self._hardware
        counters = (hardware.lane_overflows, hardware.root_overflows, hardware.domain_errors)
        cycle = 0
        context.set(self._domain.rst, 1)
        for _ in range(reset_cycles(self.content)):
            await context.tick()
        context.set(self._domain.rst, 0)
        while True:
            if self._request is None:
                await context.tick()
                cycle += 1
                continue
            if self._request.code == PROGRAM:
                self._answer, cycle = await self._give(context, self._request.beats, cycle)
                self._request = None
                continue
            host = Host(self._request)
            driven: dict[str, int] = {}
            while not host.done:
                # Nothing that the border shows depends on an input of the same cycle, so it can be read before driving.
                shown = Outputs(
                    command_ready=context.get(hardware.command_ready),
                    in_ready=context.get(hardware.in_ready),
                    out_valid=context.get(hardware.out_valid),
                    out_data=context.get(hardware.out_data),
                    busy=context.get(hardware.busy),
                    sample_start=context.get(hardware.sample_start),
                    update=context.get(hardware.update),
                )
                inputs = host.drive()
                for name, value in vars(inputs).items():
                    if name in hardware.signature.members and driven.get(name) != value:
                        context.set(getattr(hardware, name), value)
                        driven[name] = value
                host.observe(cycle, inputs, shown)
                if shown.sample_start and host.request.code in (RUN, PREDICT):
                    progress.tell("simulation", len(host.seen.starts), host.request.count, "sample")
                await context.tick()
                cycle += 1
            host.seen.counters = [context.get(counter) for counter in counters]
            context.set(hardware.out_ready, 0)
            self._request, self._answer = None, host.seen

    async def _give(self, context: Any, words: list[int], cycle: int) -> tuple[Observation, int]:
        """Play the words of an image; return what is seen and the cycle after it."""
        hardware: Any = self._hardware
        begin, left, index = cycle, PROGRAM_PATIENCE, 0
        context.set(hardware.program_start, 1)
        await context.tick()
        context.set(hardware.program_start, 0)
        while left and (index < len(words) or context.get(hardware.program_status) == Status.TAKES):
            cycle += 1
            context.set(hardware.program_valid, int(index < len(words)))
            if index < len(words):
                context.set(hardware.program_data, words[index])
                index += context.get(hardware.program_ready)
            else:
                left -= 1
            await context.tick()
        context.set(hardware.program_valid, 0)
        status = context.get(hardware.program_status)
        return Observation(outputs=[status], starts=[begin], leaves=[cycle + 1]), cycle + 1

    def _program(self, words: list[int]) -> Observation:
        return self._play_request(Request(code=PROGRAM, count=1, beats=words))

    def _play_request(self, request: Request) -> Observation:
        self._request, self._answer = request, None
        while self._answer is None:
            self._simulator.advance()
        return self._answer

    def _command(self, request: Request, rows: Words) -> Observation:
        request.beats = pack(rows, self.image.parameters.width)
        return self._play_request(request)

    def close(self) -> None:
        """Free the simulator, which holds cycles of references."""
        del self._simulator
        gc.collect()
