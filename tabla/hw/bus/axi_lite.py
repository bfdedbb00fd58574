"""The two halves of an AXI4-Lite port: a write or a read at a time."""

from typing import Any

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

OKAY, SLVERR = 0, 2
ADDRESS_BITS = 12


class WritePort(wiring.Component):
    """Takes an address and a word in either order, and then offers one write. All outputs to the bus are registers.

    A write is offered 2 cycles after the later of the two at the soonest, and answered a cycle later. The registers
    thus have a cycle to find what it asks for. It waits until the answer before has been taken.

    Members
    -------
    awaddr : In(12), awvalid : In(1), awready : Out(1), wdata : In(32), wstrb : In(4), wvalid : In(1), wready : Out(1),
    bresp : Out(2), bvalid : Out(1), bready : In(1)
        The channels of the bus.
    alive : In(1)
        There has been a reset; nothing is taken before.
    act : Out(1), address : Out(10), data : Out(32), strobe : Out(4)
        A write in this cycle: the word's number, the word, and which of its bytes, all three also in the cycle before.
    refused : In(1)
        The write is answered with SLVERR.
    """

    def __init__(self) -> None:
        super().__init__(self._members())

    def _members(self) -> dict[str, Any]:
        return {
            "awaddr": In(ADDRESS_BITS),
            "awvalid": In(1),
            "awready": Out(1),
            "wdata": In(32),
            "wstrb": In(4),
            "wvalid": In(1),
            "wready": Out(1),
            "bresp": Out(2),
            "bvalid": Out(1),
            "bready": In(1),
            "alive": In(1),
            "act": Out(1),
            "address": Out(ADDRESS_BITS - 2),
            "data": Out(32),
            "strobe": Out(4),
            "refused": In(1),
        }

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        held: list[Any] = []
        for valid, ready, here, there in (
            (self.awvalid, self.awready, (self.address,), (self.awaddr[2:],)),
            (self.wvalid, self.wready, (self.data, self.strobe), (self.wdata, self.wstrb)),
        ):
            holds = Signal(name=f"holds_{len(held)}")
            takes = valid & ready
            with m.If(takes):
                m.d.sync += [mine.eq(theirs) for mine, theirs in zip(here, there, strict=True)]
            m.d.sync += [holds.eq((holds | takes) & ~self.act), ready.eq(self.alive & (self.act | ~(holds | takes)))]
            held.append(holds)
        settled = Signal()
        m.d.sync += settled.eq(held[0] & held[1] & ~self.act)
        m.d.comb += self.act.eq(settled & (~self.bvalid | self.bready))
        with m.If(self.act):
            m.d.sync += [self.bvalid.eq(1), self.bresp.eq(Mux(self.refused, SLVERR, OKAY))]
        with m.Elif(self.bvalid & self.bready):
            m.d.sync += self.bvalid.eq(0)
        return m


class ReadPort(wiring.Component):
    """Takes an address, and offers one read 2 cycles later. It is answered 2 cycles after that, or later.

    The registers thus have two cycles to find the word: one for the address and one for the choice. The answer waits
    until the one before has been taken. The next address is taken after it.

    Members
    -------
    araddr : In(12), arvalid : In(1), arready : Out(1), rdata : Out(32), rresp : Out(2), rvalid : Out(1), rready : In(1)
        The channels of the bus.
    alive : In(1)
        As ``WritePort``.
    address : Out(10)
        The number of the word, from the cycle before `act` until the answer.
    act : Out(1)
        The word is read in this cycle, which is one cycle for each address.
    data : In(32), refused : In(1)
        The word, from the cycle after `act` until the answer; with `refused`, when it must be 0, the read is answered
        with SLVERR.
    """

    def __init__(self) -> None:
        super().__init__(
            {
                "araddr": In(ADDRESS_BITS),
                "arvalid": In(1),
                "arready": Out(1),
                "rdata": Out(32),
                "rresp": Out(2),
                "rvalid": Out(1),
                "rready": In(1),
                "alive": In(1),
                "act": Out(1),
                "address": Out(ADDRESS_BITS - 2),
                "data": In(32),
                "refused": In(1),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        holds = Signal()
        takes = Signal()
        taken = Signal()
        found = Signal()
        answers = Signal()
        m.d.comb += [
            takes.eq(self.arvalid & self.arready),
            answers.eq(found & (~self.rvalid | self.rready)),
        ]
        with m.If(takes):
            m.d.sync += self.address.eq(self.araddr[2:])
        m.d.sync += [
            taken.eq(takes),
            self.act.eq(taken),
            found.eq((found | self.act) & ~answers),
            holds.eq((holds | takes) & ~answers),
            self.arready.eq(self.alive & (answers | ~(holds | takes))),
        ]
        with m.If(answers):
            m.d.sync += [
                self.rvalid.eq(1),
                self.rdata.eq(self.data),
                self.rresp.eq(Mux(self.refused, SLVERR, OKAY)),
            ]
        with m.Elif(self.rvalid & self.rready):
            m.d.sync += self.rvalid.eq(0)
        return m
