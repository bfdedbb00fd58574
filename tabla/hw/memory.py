"""The one memory of the machine: a block RAM with its output register."""

from collections.abc import Sequence
from typing import Any

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In, Out

from tabla.hw.pipeline import bits_for
from tabla.hw.sharing import Emission

FIRST, FIRST_WORDS = "FIRST", "first_words"
"""The parameter of a memory's module, and the attribute that tells of it in a netlist: the name of the parameter, the
bits of a word there, the lowest of them that the memory has, and the number of words."""


def memory_members(width: int, depth: int) -> dict[str, Any]:
    """Return the ports of a ``WordMemory``, which what stands in for it has too."""
    return {
        "read_address": In(bits_for(depth)),
        "read_data": Out(width),
        "write_enable": In(1),
        "write_address": In(bits_for(depth)),
        "write_data": In(width),
    }


class WordMemory(wiring.Component):
    """A memory with one read port and one write port, each of a word a cycle. It starts as `init`, followed by zeros.

    An address given in cycle *t* shows its word in cycle *t* + ``LATENCY``. A word written in cycle *t* is read by an
    address given in cycle *t* + 1 or later. Reading the address that is being written gives an undefined word. The
    schedule never does that, so no block RAM has to read before it writes.

    With `block` the memory asks synthesis for block RAMs, however small it is; otherwise synthesis chooses. Words are
    split over memories of at most ``WIDEST`` bits, because a block RAM has its output register for words of that width
    in every family.

    Members
    -------
    read_address : In(address)
    read_data : Out(width)
    write_enable : In(1)
    write_address : In(address)
    write_data : In(width)
    """

    LATENCY = 2
    WIDEST = 18

    def __init__(self, *, width: int, depth: int, init: Sequence[int] = (), block: bool = False, own: str = "") -> None:
        self.width = width
        self.block = block
        # Memories of equal modules may start with different words. In Verilog the module of such a memory has a
        # parameter for them, and `own` is its expression where this memory is placed.
        self.module_parameters = {FIRST: len(init) * width} if own else {}
        self.settings = {FIRST: own} if own else {}
        # Every address has a word: one past the depth, as dumps of memories of unequal depth give it, is harmless.
        self.depth = 1 << bits_for(depth)
        self.init = tuple(init)
        super().__init__(memory_members(width, depth))

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        parts = []
        for low in range(0, self.width, self.WIDEST):
            part = slice(low, min(low + self.WIDEST, self.width))
            mask = (1 << (part.stop - part.start)) - 1
            shared = isinstance(platform, Emission) and bool(self.module_parameters)
            told = {FIRST_WORDS: f"{FIRST} {self.width} {low} {len(self.init)}"} if shared else {}
            # no_rw_check: a collision may give any word, so there is no logic around the block RAM to emulate one.
            words = memory.Memory(
                shape=part.stop - part.start,
                depth=self.depth,
                init=[] if told else [(word >> low) & mask for word in self.init],
                attrs={"no_rw_check": 1} | ({"ram_style": "block"} if self.block else {}) | told,
            )
            m.submodules["words" if self.width <= self.WIDEST else f"words_{low}"] = words
            read = words.read_port(domain="sync")
            write = words.write_port()
            name = "word" if self.width <= self.WIDEST else f"word_{low}"
            word = Signal(part.stop - part.start, name=name, reset_less=True)
            m.d.sync += word.eq(read.data)
            m.d.comb += [
                read.addr.eq(self.read_address),
                write.addr.eq(self.write_address),
                write.data.eq(self.write_data[part]),
                write.en.eq(self.write_enable),
            ]
            parts.append(word)
        m.d.comb += self.read_data.eq(Cat(*parts))
        return m
