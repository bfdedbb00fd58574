"""A wide counter towards zero that knows at once whether anything is left."""

from typing import Any

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out


class Countdown(wiring.Component):
    """Counts `step` down from a `count` that is given with `load`. The registers `any` and `several` tell what is left.

    The counter itself runs a cycle behind, so its carries and its many bits lie on no path from `step` to them. The
    first `step` comes 4 cycles after `load` or later, and none comes when nothing is left. Nothing is left after reset.

    Members
    -------
    load : In(1), count : In(width)
    short, one : In(1)
        `short` with `load`: instead of `count` it counts `one` down, 0 or 1.
    step : In(1)
    any : Out(1)
        At least one is left.
    several : Out(1)
        At least two are.
    """

    NEAR = 3  # bits that are looked at exactly; above them "many" may come a cycle late

    def __init__(self, *, width: int) -> None:
        self.width = width
        super().__init__(
            {
                "load": In(1),
                "count": In(width),
                "short": In(1),
                "one": In(1),
                "step": In(1),
                "any": Out(1),
                "several": Out(1),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        count = Signal(self.width)
        stepped = Signal()
        many = Signal()
        loaded = Signal(3)
        near = count[: self.NEAR]
        # What is left in the next cycle unless there is a step in this one: the counter has not seen the last step yet.
        following = Signal(self.NEAR)
        m.d.comb += following.eq(near - stepped)
        m.d.sync += [
            stepped.eq(self.step),
            # A choice of what is added to fits into the carry chain, a choice behind the sum does not.
            count.eq(Mux(self.load, self.count, count) - (stepped & ~self.load)),
            many.eq(count[self.NEAR :].any()),
            loaded.eq(loaded << 1),
        ]
        with m.If(self.load):
            m.d.sync += [stepped.eq(0), loaded.eq(1)]
        with m.If(self.load & self.short):
            m.d.sync += count.eq(self.one)
        with m.If(loaded[1:].any()):
            m.d.sync += [self.any.eq(many | (following != 0)), self.several.eq(many | (following > 1))]
        with m.Elif(self.step):
            m.d.sync += [self.any.eq(self.several), self.several.eq(many | (following > 2))]
        with m.If(self.load):
            m.d.sync += [self.any.eq(0), self.several.eq(0)]
        return m
