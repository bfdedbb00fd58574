"""The output buffer: it keeps the words of the root in order until they are taken."""

from typing import Any

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In, Out

from tabla.hw.pipeline import bits_for


def port_members(width: int) -> dict[str, Any]:
    """Return the members of whatever stands at the output port. `taken` tells of each word that leaves, `waits` that
    some word is inside.
    """
    return {
        "out_valid": Out(1),
        "out_ready": In(1),
        "out_data": Out(width),
        "taken": Out(1),
        "waits": Out(1),
    }


class OutputBuffer(wiring.Component):
    """A queue that never overflows, because tokens wait for its credit. A word a cycle goes through without bubbles.

    A word put in cycle *t* is offered from *t* + ``LATENCY`` on, and stays until it is taken. Synthesis makes block
    RAMs of a buffer of more than ``DEEP`` words, which therefore has no more words than it needs.

    Members
    -------
    put : In(1), word : In(width)
    out_valid : Out(1), out_ready : In(1), out_data : Out(width)
    taken : Out(1)
    waits : Out(1)
        Some word is inside.
    """

    LATENCY = 2
    DEEP = 1024

    def __init__(self, *, width: int, depth: int) -> None:
        self.width = width
        self.depth = depth
        super().__init__(
            {
                "put": In(1),
                "word": In(width),
                **port_members(width),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        depth = self.depth if self.depth > self.DEEP else 1 << bits_for(self.depth)
        # no_rw_check: no word is read in the cycle that writes it, so nothing around a block RAM need see to that.
        m.submodules.words = words = memory.Memory(shape=self.width, depth=depth, init=[], attrs={"no_rw_check": 1})
        write = words.write_port()
        read = words.read_port(domain="comb")
        filled = Signal(range(depth + 1))
        refill = Signal()
        m.d.comb += [
            write.en.eq(self.put),
            write.data.eq(self.word),
            refill.eq((filled != 0) & (~self.out_valid | self.out_ready)),
            self.taken.eq(self.out_valid & self.out_ready),
            self.waits.eq((filled != 0) | self.out_valid),
        ]
        m.d.sync += filled.eq(filled + self.put - refill)
        with m.If(self.put):
            m.d.sync += write.addr.eq(_after(write.addr, depth))
        with m.If(self.taken):
            m.d.sync += self.out_valid.eq(0)
        with m.If(refill):
            m.d.sync += [read.addr.eq(_after(read.addr, depth)), self.out_data.eq(read.data), self.out_valid.eq(1)]
        return m


def _after(place: Any, depth: int) -> Any:
    """Return the next place; the first follows the last."""
    return place + 1 if depth == 1 << len(place) else Mux(place == depth - 1, 0, place + 1)
