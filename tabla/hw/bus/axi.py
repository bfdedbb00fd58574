"""The accelerator on AXI: streams, registers and an interrupt around the module that ``hw/emit.py`` writes."""

from typing import Any

from amaranth.hdl import ClockDomain, ClockSignal, Instance, Module, ResetInserter, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from tabla.hw.accelerator import program_width
from tabla.hw.bus.axi_lite import ADDRESS_BITS
from tabla.hw.bus.commands import CommandSequencer
from tabla.hw.bus.cycles import CycleCounter
from tabla.hw.bus.registers import RegisterFile
from tabla.hw.bus.sizes import UnitSizes
from tabla.hw.bus.stream_in import FAULTS, StreamInput
from tabla.hw.bus.stream_out import StreamOutput
from tabla.hw.counters import EventCounter
from tabla.hw.reset import reset_cycles
from tabla.program.bus import BusShape
from tabla.program.image import Image
from tabla.program.protocol import fingerprint

EVENTS = ("lane_overflows", "root_overflows", "domain_errors")
_LITE = {
    **dict.fromkeys(("awaddr", "araddr"), In(ADDRESS_BITS)),
    **dict.fromkeys(("awprot", "arprot"), In(3)),
    **dict.fromkeys(("awvalid", "wvalid", "bready", "arvalid", "rready"), In(1)),
    **dict.fromkeys(("awready", "wready", "bvalid", "arready", "rvalid"), Out(1)),
    **dict.fromkeys(("bresp", "rresp"), Out(2)),
    "wdata": In(32),
    "wstrb": In(4),
    "rdata": Out(32),
}


def axi_members(shape: BusShape) -> dict[str, Any]:
    """Return the ports of the wrapper."""
    payload = {"tdata": shape.bus_bits, "tkeep": shape.bus_bits // 8, "tvalid": 1, "tlast": 1}
    return {
        "aclk": In(1),
        "aresetn": In(1),
        "interrupt": Out(1),
        **{f"s_axis_{name}": In(bits) for name, bits in payload.items()},
        "s_axis_tready": Out(1),
        **{f"m_axis_{name}": Out(bits) for name, bits in payload.items()},
        "m_axis_tready": In(1),
        **{f"s_axil_{name}": member for name, member in _LITE.items()},
    }


class AxiWrapper(wiring.Component):
    """The Verilog module `accelerator`, which was made with `stop`, behind the ports of ``axi_members``.

    All outputs are registers. One cycle of `aresetn` suffices. Before the first reset nothing is taken and nothing is
    offered.

    Members
    -------
    aclk, aresetn : In(1), interrupt : Out(1)
    s_axis_..., m_axis_... : the streams
    s_axil_... : control
    """

    def __init__(self, *, image: Image, shape: BusShape, accelerator: str) -> None:
        self.image, self.shape, self.accelerator = image, shape, accelerator
        self.roots = image.parameters.roots
        super().__init__(axi_members(shape))

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        alive = self._clock(m)
        sizes = self._sizes(m)
        m.submodules.registers = registers = self._register_file()
        m.submodules.commands = commands = self._command_sequencer(sizes)
        m.submodules.stream_in = stream_in = StreamInput(shape=self.shape, sizes=sizes)
        m.submodules.stream_out = stream_out = StreamOutput(shape=self.shape, sizes=sizes)
        for name in _LITE:
            if name not in ("awprot", "arprot"):
                mine, theirs = getattr(self, f"s_axil_{name}"), getattr(registers, name)
                m.d.comb += mine.eq(theirs) if _LITE[name].flow == Out else theirs.eq(mine)
        m.d.comb += [
            registers.alive.eq(alive),
            stream_in.alive.eq(alive),
            self.interrupt.eq(registers.interrupt),
            *(
                getattr(stream_in, name).eq(getattr(self, f"s_axis_{name}"))
                for name in ("tdata", "tkeep", "tvalid", "tlast")
            ),
            self.s_axis_tready.eq(stream_in.tready),
            *(
                getattr(self, f"m_axis_{name}").eq(getattr(stream_out, name))
                for name in ("tdata", "tkeep", "tvalid", "tlast")
            ),
            stream_out.tready.eq(self.m_axis_tready),
            *(getattr(commands, name).eq(getattr(registers, name)) for name in ("command", "code", "count")),
            *(getattr(commands, name).eq(getattr(registers, name)) for name in ("abort", "reset")),
            *(
                getattr(registers, name).eq(getattr(commands, name))
                for name in ("busy", "loaded", "done", "count_zero", "not_loaded", "samples")
            ),
            *(getattr(registers, name).eq(getattr(stream_in, name)) for name in FAULTS),
            stream_in.start.eq(commands.in_start),
            stream_in.load.eq(commands.in_load),
            stream_in.count.eq(registers.count),
            stream_in.cancel.eq(commands.in_cancel),
            stream_in.reset.eq(commands.in_reset),
            stream_in.clear.eq(commands.array_reset),
            commands.in_idle.eq(stream_in.idle),
            commands.in_torn.eq(stream_in.torn),
            commands.in_failed.eq(stream_in.failed),
            commands.in_empty.eq(stream_in.empty),
            stream_out.start.eq(commands.out_start),
            stream_out.packets.eq(commands.out_packets),
            stream_out.whole.eq(commands.out_whole),
            stream_out.packet_units.eq(registers.result_units),
            stream_out.finish.eq(commands.out_finish),
            stream_out.reset.eq(commands.out_reset),
            commands.out_idle.eq(stream_out.idle),
        ]
        if self.shape.predicts:
            m.d.comb += commands.predict.eq(registers.predict)
            if stream_in.ignores:
                m.d.comb += stream_in.predict.eq(commands.command_predict)
        self._array(m, registers, commands, stream_in, stream_out)
        return m

    def _sizes(self, m: Module) -> UnitSizes:
        """Return the sizes of the program's units."""
        return UnitSizes.of(self.shape, self.image)

    def _register_file(self) -> RegisterFile:
        return RegisterFile(fingerprint=fingerprint(self.image), predicts=self.shape.predicts)

    def _command_sequencer(self, sizes: UnitSizes) -> CommandSequencer:
        preloaded, predicts = self.image.first is not None, self.shape.predicts
        return CommandSequencer(
            sizes=sizes, reset_cycles=reset_cycles(self.image), preloaded=preloaded, predicts=predicts
        )

    def _program_ports(self) -> dict[str, Any]:
        """Return the connections of the accelerator's ports for programs."""
        return {
            "i_program_valid": 0,
            "i_program_memory": Signal(self.image.memory_bits),
            "i_program_address": Signal(16),
            "i_program_data": Signal(program_width(self.image)),
        }

    def _clock(self, m: Module) -> Any:
        """Make the clock domain, and return whether there has been a reset."""
        m.domains += (sync := ClockDomain("sync", local=True))
        m.domains += (boot := ClockDomain("boot", reset_less=True, local=True))
        alive = Signal()
        m.d.comb += [sync.clk.eq(self.aclk), sync.rst.eq(~self.aresetn), boot.clk.eq(self.aclk)]
        with m.If(~self.aresetn):
            m.d.boot += alive.eq(1)
        return alive

    def _array(
        self,
        m: Module,
        registers: RegisterFile,
        commands: CommandSequencer,
        stream_in: StreamInput,
        stream_out: StreamOutput,
    ) -> None:
        """Connect the accelerator, and count at its ports."""
        in_ready, out_valid = Signal(), Signal()
        counts = {name: Signal(32, name=name) for name in EVENTS}
        roots = self.roots
        m.submodules.accelerator = Instance(
            self.accelerator,
            i_clk=ClockSignal(),
            i_rst=commands.array_reset,
            i_command_valid=commands.command_valid,
            o_command_ready=commands.command_ready,
            i_command_code=commands.command_code,
            i_command_count=commands.command_count,
            i_stop=commands.stop,
            i_in_valid=stream_in.out_valid,
            o_in_ready=in_ready,
            i_in_data=stream_in.out_data,
            o_out_valid=out_valid,
            i_out_ready=stream_out.word_ready & commands.words,
            o_out_data=stream_out.word,
            o_busy=commands.array_busy,
            o_sample_start=commands.sample_start,
            o_update=Signal(name="update"),
            **{f"o_{name}": count for name, count in counts.items()},
            **self._program_ports(),
            **({"i_command_predict": commands.command_predict} if self.shape.predicts else {}),
        )
        m.d.comb += [stream_in.out_ready.eq(in_ready), stream_out.word_valid.eq(out_valid & commands.words)]
        again = ResetInserter(commands.begins)
        waits = {"wait_in": EventCounter(), "wait_out": EventCounter()}
        m.submodules.cycles = cycles = CycleCounter()
        for name, counter in waits.items():
            m.submodules[name] = again(counter)
            m.d.comb += getattr(registers, name).eq(counter.count)
        m.d.comb += [
            waits["wait_in"].events.eq(commands.active & in_ready & ~stream_in.out_valid),
            waits["wait_out"].events.eq(commands.active & out_valid & ~stream_out.word_ready),
            cycles.clear.eq(commands.begins),
            cycles.run.eq(commands.active),
            registers.cycles.eq(cycles.count),
            *(getattr(registers, name).eq(count) for name, count in counts.items()),
            registers.overflow.eq(
                self._steps(m, commands, counts["lane_overflows"], 1)
                | self._steps(m, commands, counts["root_overflows"], 2 * roots)
            ),
            registers.domain.eq(self._steps(m, commands, counts["domain_errors"], roots)),
        ]

    def _steps(self, m: Module, commands: CommandSequencer, count: Any, most: int) -> Any:
        """Return whether a counter that steps by `most` at most has stepped. At its greatest value it steps no more."""
        low = count[: most.bit_length()]
        before = Signal.like(low, name="before")
        m.d.sync += before.eq(low)
        return (before != low) & ~commands.array_reset
