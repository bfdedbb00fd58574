"""An overlay on AXI: the wrapper of an accelerator, with the sizes of the program in registers, and a way in for it."""

from typing import Any

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring

from tabla.hw.bus.axi import AxiWrapper, axi_members
from tabla.hw.bus.commands import CommandSequencer
from tabla.hw.bus.registers import RegisterFile
from tabla.hw.bus.sizes import UnitSizes
from tabla.hw.overlay.commands import ProgramCommands
from tabla.hw.overlay.registers import ProgramRegisters
from tabla.hw.reset import reset_cycles
from tabla.program.bus import BusShape
from tabla.program.overlay import CONTAINER, HOST_NUMBERS, Overlay, number_port, timing_widths


class OverlayWrapper(AxiWrapper):
    """The Verilog module `accelerator`, which is an overlay with `stop`, behind the ports of ``axi_members``.

    The sizes of units are those of the program that runs. Programs come through the registers.

    Members
    -------
    aclk, aresetn : In(1), interrupt : Out(1)
    s_axis_..., m_axis_... : the streams
    s_axil_... : control
    """

    def __init__(self, *, overlay: Overlay, shape: BusShape, accelerator: str) -> None:
        self.overlay, self.shape, self.accelerator = overlay, shape, accelerator
        self.roots = overlay.parameters.roots
        widths = timing_widths(overlay)
        self._numbers = {name: Signal(widths[name][0], name=number_port(name)) for name in HOST_NUMBERS}
        wiring.Component.__init__(self, axi_members(shape))

    def _sizes(self, m: Module) -> UnitSizes:
        outputs = self._numbers["run.outputs"]
        last_group = Signal.like(outputs, name="last_result")
        m.d.sync += last_group.eq(outputs - 1)
        return UnitSizes.held(self._numbers, self.shape, last_group)

    def _register_file(self) -> RegisterFile:
        self._registers = ProgramRegisters(overlay=self.overlay)
        return self._registers

    def _command_sequencer(self, sizes: UnitSizes) -> CommandSequencer:
        self._commands = ProgramCommands(sizes=sizes, reset_cycles=reset_cycles(self.overlay))
        return self._commands

    def elaborate(self, platform: Any) -> Module:
        m = super().elaborate(platform)
        registers, commands = self._registers, self._commands
        m.d.comb += [
            commands.program.eq(registers.program),
            registers.taking.eq(commands.taking),
            registers.outcome.eq(commands.outcome),
            registers.programmed.eq(commands.programmed),
            registers.program_fingerprint.eq(self._numbers["program.fingerprint"]),
        ]
        return m

    def _program_ports(self) -> dict[str, Any]:
        registers, commands = self._registers, self._commands
        return {
            "i_program_start": commands.program_start,
            "i_program_valid": registers.word_valid,
            "o_program_ready": registers.word_ready,
            "i_program_data": registers.word,
            "o_program_status": commands.program_status,
            "i_about_index": Signal(5, name="about_index"),
            "o_about_word": Signal(CONTAINER, name="about_word"),
            "o_programmed": commands.programmed,
            **{f"o_{number_port(name)}": number for name, number in self._numbers.items()},
        }
