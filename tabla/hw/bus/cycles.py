"""A counter of cycles that is too wide for one chain of carries."""

from typing import Any

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out


class CycleCounter(wiring.Component):
    """Counts the cycles in which `run` is high, in two halves. Both halves always belong to the same cycle.

    Members
    -------
    clear : In(1)
        The count is 0 in the next cycle.
    run : In(1)
    count : Out(width)
    """

    def __init__(self, *, width: int = 64) -> None:
        self.half = width // 2
        super().__init__({"clear": In(1), "run": In(1), "count": Out(width)})

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        low, high = Signal(self.half), Signal(self.half)
        # Whether the low half is at its end, known beside its sum and not after it.
        ends = Signal()
        m.d.comb += self.count.eq(Cat(low, high))
        with m.If(self.run):
            m.d.sync += [low.eq(low + 1), high.eq(high + ends), ends.eq(low == (1 << self.half) - 2)]
        with m.If(self.clear):
            m.d.sync += [low.eq(0), high.eq(0), ends.eq(0)]
        return m
