"""Counters that the host reads: they stay at their greatest value rather than begin again."""

from typing import Any

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out


class EventCounter(wiring.Component):
    """Counts the high bits of `events` in each cycle since reset; shown two cycles later; saturates.

    Members
    -------
    events : In(sources)
    count : Out(width)
    """

    def __init__(self, *, sources: int = 1, width: int = 32) -> None:
        self.sources = sources
        self.width = width
        super().__init__({"events": In(sources), "count": Out(width)})

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        happened = Signal(range(self.sources + 1))
        m.d.sync += happened.eq(sum(self.events[source] for source in range(self.sources)))
        # Near its end, which is known a cycle late, the counter looks at its low bits before it steps.
        low = (2 * self.sources).bit_length()
        near_end = Signal()
        m.d.sync += near_end.eq(self.count[low:].all())
        room = ~self.count[:low]
        step = Signal.like(happened)
        m.d.comb += step.eq(Mux(near_end & (room < happened), room, happened))
        m.d.sync += self.count.eq(self.count + step)
        return m
