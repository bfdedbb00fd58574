"""The accelerator in Amaranth's simulator, behind the interface that the cycle model has too."""

from dataclasses import replace
from typing import Any

from amaranth.sim import Simulator
from tabla.hw.accelerator import Accelerator
from tabla.sim.host_loop import Host, Inputs, Observation, Outputs, Request
from tabla.sim.machine import Words
from tabla.sim.port_machine import PortMachine, pack

from tabla.program.image import Image


class AmaranthMachine(PortMachine):
    """One simulation, as long as the machine lives."""

    def __init__(self, image: Image) -> None:
        super().__init__(image)
        self.accelerator = Accelerator(image)
        self.cycle = 0
        self.host: Host | None = None
        self._simulator = Simulator(self.accelerator)
        self._simulator.add_clock(1e-6)
        self._simulator.add_testbench(self._drive)
        self._writes: list[tuple[int, int, int]] = []

    def write_program(self, memory: int, address: int, word: int) -> None:
        """Write a microcode word through the program port in one of the next cycles."""
        self._writes.append((memory, address, word))
        while self._writes:
            self._simulator.advance()

    async def _drive(self, ctx: Any) -> None:
        dut = self.accelerator
        while True:
            driven = self.host.drive() if self.host else Inputs()
            for name, value in vars(driven).items():
                ctx.set(getattr(dut, name), value)
            ctx.set(dut.program_valid, bool(self._writes))
            if self._writes:
                memory, address, word = self._writes.pop(0)
                ctx.set(dut.program_memory, memory)
                ctx.set(dut.program_address, address)
                ctx.set(dut.program_data, word)
            if self.host:
                shown = Outputs(**{name: ctx.get(getattr(dut, name)) for name in Outputs.__annotations__})
                self.host.observe(self.cycle, driven, shown)
                if self.host.done:
                    counters = ("lane_overflows", "root_overflows", "domain_errors")
                    self.host.seen.counters = [ctx.get(getattr(dut, name)) for name in counters]
            self.cycle += 1
            await ctx.tick()

    def _command(self, request: Request, rows: Words) -> Observation:
        request = replace(request, beats=pack(rows, self.image.parameters.width))
        self.host = Host(request)
        while not self.host.done:
            self._simulator.advance()
        seen, self.host = self.host.seen, None
        return seen

    def close(self) -> None:
        """Nothing to end."""
