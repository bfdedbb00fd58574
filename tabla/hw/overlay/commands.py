"""The commands of an overlay's wrapper: those of every wrapper, and PROGRAM."""

from typing import Any

from amaranth.hdl import Module, Signal
from amaranth.lib.wiring import In, Out

from tabla.hw.bus.commands import CommandSequencer
from tabla.hw.controller import LOAD
from tabla.program.overlay_words import Status


class ProgramCommands(CommandSequencer):
    """Carries out LOAD, RUN and DUMP as a ``CommandSequencer`` does, and PROGRAM, which takes an image.

    PROGRAM ends when the loader has the whole image, or has found it wrong, and with ABORT. A new program has no models
    until a LOAD. After an image that was refused, the program before goes on with its models. A LOAD without a program
    ends at once with `not_loaded`.

    Members beside those of a ``CommandSequencer``
    -------
    program : In(1)
        Beside `command`: it is PROGRAM, and `code` counts for nothing.
    program_start : Out(1)
        An image begins.
    program_status : In(3), programmed : In(1)
        What the loader says of it, and whether there is a program.
    taking : Out(1)
        The words of an image count.
    outcome : Out(3)
        What became of the last image: a ``Status``.
    """

    def _members(self) -> dict[str, Any]:
        return super()._members() | {
            "program": In(1),
            "program_start": Out(1),
            "program_status": In(3),
            "programmed": In(1),
            "taking": Out(1),
            "outcome": Out(3),
        }

    def _asked(self) -> Any:
        return self.command & ~self.program & ((self.code != LOAD) | self.programmed)

    def elaborate(self, platform: Any) -> Module:
        m = super().elaborate(platform)
        given = self.command & ~self.reset
        without, ends, ran, changes = Signal(), Signal(), Signal(), Signal()
        m.d.sync += ran.eq(self.program_status == Status.RUNS)
        m.d.comb += [
            self.program_start.eq(given & self.program),
            without.eq(given & ~self.program & (self.code == LOAD) & ~self.programmed),
            ends.eq(self.taking & ((self.program_status != Status.TAKES) | self.abort) & ~self.reset),
            # Also where the command has just been given up: the program changes a cycle after its last word.
            changes.eq((self.program_status == Status.RUNS) & ~ran),
        ]
        with m.If(without):
            m.d.comb += [self.not_loaded.eq(1), self.done.eq(1)]
        with m.If(self.program_start):
            m.d.comb += self.begins.eq(1)
            m.d.sync += [self.taking.eq(1), self.outcome.eq(Status.TAKES), self.active.eq(1)]
        with m.If(self.taking):
            m.d.comb += self.busy.eq(1)
        with m.If(ends):
            m.d.comb += self.done.eq(1)
            m.d.sync += [self.taking.eq(0), self.outcome.eq(self.program_status)]
        with m.If(changes):
            m.d.sync += [self.loaded.eq(0), self.outcome.eq(Status.RUNS)]
        with m.If(self.reset):
            m.d.sync += self.taking.eq(0)
        return m
