"""The offset that a sample's addresses get: its slot of the ring, or its number in a dump."""

from itertools import pairwise
from typing import Any

from amaranth.hdl import Array, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from tabla.hw.pipeline import bits_for


class Window(wiring.Component):
    """Gives the offset of a sample: 0 for the first one after a restart, then a slot more with each `turn`. In a dump
    each turn adds one word.

    The offset that a `turn` in cycle *t* makes stands from cycle *t* + 1 on.

    With more than one of `stages` a turn without a sample moves no slot, and the offset is that of the sample of the
    *stage*-th turn before the latest one.

    Members
    -------
    restart : In(1)
    dump : In(1), stable between restarts
    turn : In(1)
        A sample begins.
    offset : Out(width)
    live : In(1), stage : In(stage), with several stages
        A sample begins with the turn; how many turns ago the sample began whose offset is wanted.
    """

    def __init__(self, *, width: int, words: Any, slots: int, last: Any = None, stages: int = 1) -> None:
        self.width = width
        self.words = words
        self.slots = slots
        # The number of the last slot, which a register may hold; there are never more than `slots`.
        self.last = slots - 1 if last is None else last
        self.stages = stages
        more = {"live": In(1), "stage": In(range(stages))} if stages > 1 else {}
        super().__init__({"restart": In(1), "dump": In(1), "turn": In(1), "offset": Out(width), **more})

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        following = Signal(self.width)
        slot = Signal(bits_for(self.slots))
        wraps = slot == self.last
        step = Mux(self.dump, 1, self.words)
        offset = self.offset if self.stages == 1 else Signal(self.width, name="latest")
        with m.If(self.turn if self.stages == 1 else self.turn & self.live):
            m.d.sync += [offset.eq(following), following.eq(following + step), slot.eq(slot + 1)]
            with m.If(wraps & ~self.dump):
                m.d.sync += [following.eq(0), slot.eq(0)]
        if self.stages > 1:
            # Turns without a sample keep the offset of the sample before, which nobody asks for.
            earlier = [Signal(self.width, name=f"earlier_{n}") for n in range(1, self.stages)]
            with m.If(self.turn):
                m.d.sync += [after.eq(before) for before, after in pairwise([offset, *earlier])]
            m.d.comb += self.offset.eq(Array([offset, *earlier])[self.stage])
        with m.If(self.restart):
            m.d.sync += [offset.eq(0), following.eq(0), slot.eq(0)]
        return m
