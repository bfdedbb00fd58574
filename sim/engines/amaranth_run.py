"""Runs the hardware description in Amaranth's simulator, before it becomes Verilog.

This engine is slow, and it needs only the packages that `tabla` itself installs.
"""

from __future__ import annotations

import gc
from typing import Any

from amaranth.hdl import ClockDomain, Module
from amaranth.sim import Simulator
from tabla.hw.accelerator import Accelerator
from tabla.hw.reset import reset_cycles
from tabla.sim.engines.host_loop import Host, Observation, Outputs, Request
from tabla.sim.engines.port_machine import RUN, PortMachine, pack
from tabla.sim.machine import Words

from tabla import progress
from tabla.program.image import Image


class AmaranthMachine(PortMachine):
    """The machine of `image` in Amaranth's own simulator."""

    def __init__(self, image: Image) -> None:
        super().__init__(image)
        self._hardware = Accelerator(image)
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
        for _ in range(reset_cycles(self.image)):
            await context.tick()
        context.set(self._domain.rst, 0)
        while True:
            if self._request is None:
                await context.tick()
                cycle += 1
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
                    if driven.get(name) != value:
                        context.set(getattr(hardware, name), value)
                        driven[name] = value
                host.observe(cycle, inputs, shown)
                if shown.sample_start and host.request.code == RUN:
                    progress.tell("simulation", len(host.seen.starts), host.request.count, "sample")
                await context.tick()
                cycle += 1
            host.seen.counters = [context.get(counter) for counter in counters]
            context.set(hardware.out_ready, 0)
            self._request, self._answer = None, host.seen

    def _command(self, request: Request, rows: Words) -> Observation:
        request.beats = pack(rows, self.image.parameters.width)
        self._request, self._answer = request, None
        while self._answer is None:
            self._simulator.advance()
        return self._answer

    def close(self) -> None:
        """Free the simulator, which holds cycles of references."""
        del self._simulator
        gc.collect()
