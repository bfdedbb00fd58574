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
        total = Signal(self.width + 1)
        m.d.comb += total.eq(self.count + happened)
        m.d.sync += self.count.eq(Mux(total[-1], -1, total[: self.width]))
        return m
