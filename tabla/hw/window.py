"""The offset that a sample's addresses get: its slot of the ring, or its number in a dump."""

from typing import Any

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from tabla.hw.pipeline import bits_for


class Window(wiring.Component):
    """Gives the offset of a sample: 0 for the first one after a restart, then a slot more with each `turn`. In a dump
    each turn adds one word.

    The offset that a `turn` in cycle *t* makes stands from cycle *t* + 1 on.

    Members
    -------
    restart : In(1)
    dump : In(1), stable between restarts
    turn : In(1)
        A sample begins.
    offset : Out(width)
    """

    def __init__(self, *, width: int, words: Any, slots: int, last: Any = None) -> None:
        self.width = width
        self.words = words
        self.slots = slots
        # The number of the last slot, which a register may hold; there are never more than `slots`.
        self.last = slots - 1 if last is None else last
        super().__init__({"restart": In(1), "dump": In(1), "turn": In(1), "offset": Out(width)})

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        following = Signal(self.width)
        slot = Signal(bits_for(self.slots))
        wraps = slot == self.last
        step = Mux(self.dump, 1, self.words)
        with m.If(self.turn):
            m.d.sync += [self.offset.eq(following), following.eq(following + step), slot.eq(slot + 1)]
            with m.If(wraps & ~self.dump):
                m.d.sync += [following.eq(0), slot.eq(0)]
        with m.If(self.restart):
            m.d.sync += [self.offset.eq(0), following.eq(0), slot.eq(0)]
        return m
