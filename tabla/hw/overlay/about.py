"""What an overlay says about itself."""

from typing import Any

from amaranth.hdl import Array, Const, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from tabla.program.overlay import CONTAINER, Overlay
from tabla.program.overlay_words import about_overlay


class About(wiring.Component):
    """A table of numbers of 32 bits that say what the overlay has room for: those of ``about_overlay``, in order.

    The number of an index that is given in cycle *t* shows in cycle *t* + 1. Behind the last one there are zeros.

    Members
    -------
    index : In(5), word : Out(32)
    """

    def __init__(self, overlay: Overlay) -> None:
        self.numbers = tuple(about_overlay(overlay).values())
        super().__init__({"index": In(5), "word": Out(CONTAINER)})

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        places = 1 << len(self.index)
        numbers = [*self.numbers, *[0] * (places - len(self.numbers))]
        m.d.sync += self.word.eq(Array(Const(number, CONTAINER) for number in numbers)[self.index])
        return m
