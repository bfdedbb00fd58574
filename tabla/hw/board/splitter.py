"""From the beats in which results leave to single words for the serial line."""

from typing import Any

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out


class BeatSplitter(wiring.Component):
    """Takes beats of `beat` words and gives the words one after the other, the lowest first.

    A beat that is taken in cycle *t* is offered from *t* + 1 on. The next beat is taken after its last word. The ports
    are those of a queue, and no output depends on an input of the same cycle.

    Members
    -------
    w_en : In(1), w_rdy : Out(1), w_data : In(beat * width)
    r_en : In(1), r_rdy : Out(1), r_data : Out(width)
    """

    def __init__(self, *, width: int, beat: int) -> None:
        self.width, self.beat = width, beat
        super().__init__(
            {
                "w_en": In(1),
                "w_rdy": Out(1),
                "w_data": In(beat * width),
                "r_en": In(1),
                "r_rdy": Out(1),
                "r_data": Out(width),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        held = Signal(self.beat * self.width, reset_less=True)
        left = Signal(range(self.beat + 1))
        m.d.comb += [self.w_rdy.eq(left == 0), self.r_rdy.eq(left != 0), self.r_data.eq(held)]
        with m.If(self.w_en & self.w_rdy):
            m.d.sync += [held.eq(self.w_data), left.eq(self.beat)]
        with m.If(self.r_en & self.r_rdy):
            m.d.sync += [held.eq(held >> self.width), left.eq(left - 1)]
        return m
