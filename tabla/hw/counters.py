"""Counters that the host reads: they stay at their greatest value rather than begin again."""

from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out


class EventCounter(wiring.Component):
    """Counts the high bits of `events` in each cycle since reset, and stays at its greatest value.

    The upper bits count the carries of the lower ones a cycle later, so no chain of carries is longer than a cycle.
    `count` is right when no event has come for 3 cycles.

    Members
    -------
    events : In(sources)
    count : Out(width)
    """

    LOW = 12

    def __init__(self, *, sources: int = 1, width: int = 32) -> None:
        self.sources = sources
        self.width = width
        super().__init__({"events": In(sources), "count": Out(width)})

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        happened = Signal(range(self.sources + 1))
        m.d.sync += happened.eq(sum(self.events[source] for source in range(self.sources)))
        # Near its end, which is known a cycle late, the counter looks at its last bits before it steps.
        last = (2 * self.sources).bit_length()
        near_end = Signal()
        room = ~self.count[:last]
        step = Signal.like(happened)
        size = max(last, min(self.LOW, self.width))
        low = Signal(size)
        stepped: Any = low + step
        if self.sources > 2:
            # Of many sources the last bits' own sum tells, beside the sum of all and not before it.
            ends = near_end & (low[:last] + happened)[last]
            m.d.comb += step.eq(happened)
            stepped = Mux(ends, (1 << size) - 1, stepped)
        else:
            m.d.comb += step.eq(Mux(near_end & (room < happened), room, happened))
        high = Signal(self.width - size)
        carry = Signal()
        m.d.sync += [
            near_end.eq(self.count[last:].all()),
            Cat(low, carry).eq(stepped),
            high.eq(high + carry),
        ]
        m.d.comb += self.count.eq(Cat(low, high))
        return m
