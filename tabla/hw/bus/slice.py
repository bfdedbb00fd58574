"""The registers at the input stream of the bus."""

from typing import Any

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out


class InputSlice(wiring.Component):
    """Two places for beats of the bus, so that `tready` is a register and a beat can still come each cycle.

    After a beat with `tlast` no other beat is taken until `resume`, because only the beat itself tells whether the
    command wants another packet. So no beat of a later command is ever taken.

    A beat taken in cycle *t* is offered from *t* + 1 on.

    Members
    -------
    tdata : In(bits), tkeep : In(bits / 8), tlast : In(1), tvalid : In(1), tready : Out(1)
        The stream of the bus.
    want : In(1)
        A command takes beats.
    resume : In(1)
        The packet may be followed by another one.
    flush : In(1)
        Forget all beats, also one that is taken in this cycle.
    forget : In(1)
        The open packet counts as ended.
    open : Out(1)
        The packet of the last beat that was taken has not ended; this cycle's beat counts.
    valid : Out(1), take : In(1), data : Out(bits), keep : Out(bits / 8), last : Out(1)
        The oldest beat.
    """

    def __init__(self, *, bits: int) -> None:
        self.bits = bits
        super().__init__(
            {
                "tdata": In(bits),
                "tkeep": In(bits // 8),
                "tlast": In(1),
                "tvalid": In(1),
                "tready": Out(1),
                "want": In(1),
                "resume": In(1),
                "flush": In(1),
                "forget": In(1),
                "open": Out(1),
                "valid": Out(1),
                "take": In(1),
                "data": Out(bits),
                "keep": Out(bits // 8),
                "last": Out(1),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        head, beat = Cat(self.data, self.keep, self.last), Cat(self.tdata, self.tkeep, self.tlast)
        spare = Signal(len(beat), reset_less=True)
        spare_filled = Signal()
        paused = Signal()
        opened = Signal()
        taken = Signal()
        stays = Signal()
        ends = Signal()
        fills = Signal()
        m.d.comb += [
            taken.eq(self.tvalid & self.tready),
            stays.eq(self.valid & ~self.take),
            ends.eq(taken & self.tlast),
            # The spare place is only filled while `tready` is low, so a beat never comes then.
            fills.eq(stays & (spare_filled | taken)),
            self.open.eq((opened | taken) & ~ends),
        ]
        m.d.sync += [
            opened.eq(self.open & ~self.forget),
            spare_filled.eq(fills),
            paused.eq((paused | ends) & ~self.resume),
            self.tready.eq(self.want & ~fills & (~(paused | ends) | self.resume) & ~self.flush),
            self.valid.eq(stays | spare_filled | taken),
        ]
        # Registers take the payload of valid beats only, which may be undefined otherwise.
        with m.If(taken):
            m.d.sync += spare.eq(beat)
        with m.If(~stays & spare_filled):
            m.d.sync += head.eq(spare)
        with m.Elif(~stays & taken):
            m.d.sync += head.eq(beat)
        with m.If(self.flush):
            m.d.sync += [spare_filled.eq(0), paused.eq(0), self.valid.eq(0)]
        return m
