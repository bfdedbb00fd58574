"""The control registers of an overlay's wrapper: those of every wrapper, and those for programs."""

from typing import Any

from amaranth.hdl import Cat, Const, Module, Signal
from amaranth.lib.wiring import In, Out

from tabla.hw.bus.axi_lite import WritePort
from tabla.hw.bus.registers import COMMANDS, RegisterFile
from tabla.program.overlay import CONTAINER, Overlay
from tabla.program.overlay_registers import PROGRAM, overlay_registers
from tabla.templates.bus import Register, program_registers


class WaitingWritePort(WritePort):
    """A ``WritePort`` that can hold a write back.

    Members beside those of a ``WritePort``
    -------
    wait : In(1)
        The write that would be offered in this cycle waits.
    """

    def _members(self) -> dict[str, Any]:
        return super()._members() | {"wait": In(1)}

    def elaborate(self, platform: Any) -> Module:
        m = super().elaborate(platform)
        with m.If(self.wait):
            m.d.comb += self.act.eq(0)
        return m


class ProgramRegisters(RegisterFile):
    """The registers of an overlay behind an AXI4-Lite port: a ``RegisterFile`` that also takes images.

    A word of an image is held until the loader takes it, at most 5 cycles. The next one waits on the bus for that time,
    so a write is answered within 8 cycles of its address and its word. Words that come while no image is taken count
    for nothing.

    Members beside those of a ``RegisterFile``
    -------
    program : Out(1)
        Beside `command`: it is PROGRAM, and `code` counts for nothing.
    taking : In(1)
        An image is taken.
    outcome : In(3), programmed : In(1), program_fingerprint : In(32)
        What became of the last image, whether there is a program, and its fingerprint.
    word_valid : Out(1), word_ready : In(1), word : Out(32)
        The words of an image.
    """

    def __init__(self, *, overlay: Overlay) -> None:
        self.overlay = overlay
        super().__init__(fingerprint=0)

    def _members(self, channels: dict[str, Any]) -> dict[str, Any]:
        return super()._members(channels) | {
            "program": Out(1),
            "taking": In(1),
            "outcome": In(3),
            "programmed": In(1),
            "program_fingerprint": In(CONTAINER),
            "word_valid": Out(1),
            "word_ready": In(1),
            "word": Out(CONTAINER),
        }

    def _write_port(self) -> WritePort:
        return WaitingWritePort()

    def _table(self) -> tuple[Register, ...]:
        return overlay_registers(self.overlay)

    def _own_values(self) -> dict[str, Any]:
        code, programmed = next(r for r in program_registers() if r.name == "PROGRAM_STATUS").fields
        status = Cat(self.outcome, Const(0, programmed.bit - code.bits), self.programmed)
        return {"FINGERPRINT": self.program_fingerprint, "PROGRAM_STATUS": status}

    def _is_unknown(self, code: Any) -> Any:
        return (code >= COMMANDS) & (code != PROGRAM)

    def _act(self, m: Module, chosen: dict[str, Any]) -> None:
        writes, waits = self._writes, Signal(name="word_waits")
        here = writes.act & chosen["PROGRAM_DATA"]
        m.d.comb += [writes.wait.eq(waits & chosen["PROGRAM_DATA"]), self.word_valid.eq(waits)]
        with m.If(writes.act & chosen["COMMAND"]):
            m.d.sync += self.program.eq(writes.data[:8] == PROGRAM)
        for byte in range(4):
            with m.If(here & writes.strobe[byte]):
                m.d.sync += self.word.word_select(byte, 8).eq(writes.data.word_select(byte, 8))
        m.d.sync += waits.eq(((here & writes.strobe[3]) | (waits & ~self.word_ready)) & self.taking)
