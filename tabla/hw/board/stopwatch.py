"""Counts the cycles of a command where they happen."""

from typing import Any

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out


class Stopwatch(wiring.Component):
    """Counts cycles from a command's first beat, or from its first token if that comes before. That event is in cycle
    0.

    Outputs show an event two cycles later, and stay until the next `restart`.

    Members
    -------
    restart : In(1)
        A command begins.
    beat, token, update, output : In(1)
        A beat is taken, a token fires, a model word is written, an output word leaves.
    tokens : Out(32)
        So many so far.
    interval : Out(32)
        Cycles between the last two tokens.
    last_update, last_output : Out(32)
        Their cycles.
    """

    def __init__(self) -> None:
        inputs = dict.fromkeys(("restart", "beat", "token", "update", "output"), In(1))
        super().__init__({**inputs, **dict.fromkeys(("tokens", "interval", "last_update", "last_output"), Out(32))})

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        # A register at the border: the events come from all over the array.
        beat, token, update, output = (Signal(name=f"{name}_seen") for name in ("beat", "token", "update", "output"))
        m.d.sync += [
            beat.eq(self.beat),
            token.eq(self.token),
            update.eq(self.update),
            output.eq(self.output),
        ]
        runs = Signal()
        cycle = Signal(32)
        before = Signal(32)
        with m.If(runs | beat | token):
            m.d.sync += [runs.eq(1), cycle.eq(cycle + 1)]
        with m.If(token):
            m.d.sync += [self.tokens.eq(self.tokens + 1), before.eq(cycle)]
            m.d.sync += self.interval.eq(Mux(self.tokens == 0, 0, cycle - before))
        with m.If(update):
            m.d.sync += self.last_update.eq(cycle)
        with m.If(output):
            m.d.sync += self.last_output.eq(cycle)
        with m.If(self.restart):
            m.d.sync += [runs.eq(0), cycle.eq(0), beat.eq(0), token.eq(0), update.eq(0), output.eq(0)]
            m.d.sync += [out.eq(0) for out in (self.tokens, self.interval, self.last_update, self.last_output)]
        return m
