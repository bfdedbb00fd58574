"""A board without its clock and pins: the accelerator and its link to the host. The simulated board is this too."""

from typing import Any

from amaranth.hdl import ClockSignal, Instance, Module, ResetSignal, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from tabla.hw.accelerator import program_width
from tabla.hw.board.link import COUNTERS, HostLink

LIGHTS = ("ready", "busy", "overflow", "domain_error", "damaged", "receive")
"""What the bits of `lights` show, in this order."""


class BoardCore(wiring.Component):
    """The Verilog module `accelerator`, which ``hw/emit.py`` writes, behind a serial line of `divisor` cycles a bit.

    `clock` is the rate in Hz that the host is told, and `memory` is the block RAM of the chip in bits. A part of it
    keeps samples; 0 leaves the least room for them.

    Members
    -------
    receive : In(1), transmit : Out(1)
        The line, seen from the board.
    lights : Out(6)
        High where the condition of ``LIGHTS`` holds.
    """

    def __init__(self, *, image: Any, accelerator: str, divisor: int, clock: int, memory: int = 0) -> None:
        self.image, self.accelerator = image, accelerator
        self.divisor, self.clock, self.memory = divisor, clock, memory
        super().__init__({"receive": In(1, init=1), "transmit": Out(1, init=1), "lights": Out(len(LIGHTS))})

    def _link(self) -> HostLink:
        return HostLink(image=self.image, divisor=self.divisor, clock=self.clock, memory=self.memory)

    def _program_ports(self, link: Any) -> dict[str, Any]:
        """Return the connections of the accelerator's ports for programs."""
        return {
            "i_program_valid": 0,
            "i_program_memory": Signal(4),
            "i_program_address": Signal(16),
            "i_program_data": Signal(program_width(self.image)),
        }

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        m.submodules.link = link = self._link()
        m.submodules.accelerator = Instance(
            self.accelerator,
            i_clk=ClockSignal(),
            i_rst=ResetSignal() | link.machine_reset,
            i_command_valid=link.command_valid,
            o_command_ready=link.command_ready,
            i_command_code=link.command_code,
            i_command_count=link.command_count,
            i_in_valid=link.in_valid,
            o_in_ready=link.in_ready,
            i_in_data=link.in_data,
            o_out_valid=link.out_valid,
            i_out_ready=link.out_ready,
            o_out_data=link.out_data,
            o_busy=link.busy,
            o_sample_start=link.sample_start,
            o_update=link.update,
            **{f"o_{name}": getattr(link, name) for name in COUNTERS},
            **self._program_ports(link),
            **({"i_command_predict": link.command_predict} if link.predicts else {}),
        )
        m.d.comb += [
            link.receive.eq(self.receive),
            self.transmit.eq(link.transmit),
            self.lights[0].eq(~link.machine_reset),
            self.lights[1].eq(link.busy),
            self.lights[2].eq(link.lane_overflows.any() | link.root_overflows.any()),
            self.lights[3].eq(link.domain_errors.any()),
            self.lights[4].eq(link.damaged),
            self.lights[5].eq(~self.receive),
        ]
        return m
