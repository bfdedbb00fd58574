"""The one memory of the machine: a block RAM with its output register."""

from collections.abc import Sequence
from typing import Any

from amaranth.hdl import Module, Signal
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In, Out
from tabla.hw.pipeline import bits_for


class WordMemory(wiring.Component):
    """One read port and one write port, both at a word a cycle; starts as `init`, then zeros.

    An address given in cycle *t* shows its word in cycle *t* + ``LATENCY``. A word written in cycle *t* is read by an
    address given in cycle *t* + 1 or later; reading the address that is being written gives an undefined word (the
    schedule never does, and so no block RAM has to read before it writes).

    Members
    -------
    read_address : In(address)
    read_data : Out(width)
    write_enable : In(1)
    write_address : In(address)
    write_data : In(width)
    """

    LATENCY = 2

    def __init__(self, *, width: int, depth: int, init: Sequence[int] = ()) -> None:
        self.width = width
        # Every address has a word: one past the depth, as dumps of memories of unequal depth give it, is harmless.
        self.depth = 1 << bits_for(depth)
        self.init = tuple(init)
        super().__init__(
            {
                "read_address": In(bits_for(depth)),
                "read_data": Out(width),
                "write_enable": In(1),
                "write_address": In(bits_for(depth)),
                "write_data": In(width),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        # The attribute tells Yosys that a collision may give any word: no emulation logic around the block RAM.
        m.submodules.words = words = memory.Memory(
            shape=self.width, depth=self.depth, init=self.init, attrs={"no_rw_check": 1}
        )
        read = words.read_port(domain="sync")
        write = words.write_port()
        word = Signal(self.width, reset_less=True)
        m.d.sync += word.eq(read.data)
        m.d.comb += [
            read.addr.eq(self.read_address),
            self.read_data.eq(word),
            write.addr.eq(self.write_address),
            write.data.eq(self.write_data),
            write.en.eq(self.write_enable),
        ]
        return m
