"""The one memory of the machine: block RAMs with their output registers."""

import inspect
from collections.abc import Sequence
from functools import reduce
from operator import or_
from typing import Any

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In, Out

from tabla.hw.banks import Bank, banks_of
from tabla.hw.pipeline import bits_for, delayed
from tabla.hw.sharing import Emission
from tabla.program.image import Ranges
from tabla.templates.memories import FEW_WORDS, WIDEST

FIRST, FIRST_WORDS = "FIRST", "first_words"
"""The parameter of a memory's module, and the attribute that tells of it in a netlist: the name of the parameter, the
bits of a word there, the lowest of them that the memory has, and the number of words."""
ANY_WORDS = "any_words"
"""The attribute of a memory of which no word is used before it is written. Its Verilog does not say with which words it
starts."""


def memory_members(width: int, depth: int) -> dict[str, Any]:
    """Return the ports of a ``WordMemory``, which what stands in for it has too."""
    return {
        "read_address": In(bits_for(depth)),
        "read_data": Out(width),
        "write_enable": In(1),
        "write_address": In(bits_for(depth)),
        "write_data": In(width),
    }


_BANKS = """\
{begin}

The memory has the words {words} alone, in banks of their own. An address in no bank shows 0, and nothing is written
there.
{rest}"""
"""The data sheet of a memory with banks."""


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
    WIDEST = WIDEST

    def __init__(
        self,
        *,
        width: int,
        depth: int,
        init: Sequence[int] = (),
        block: bool = False,
        distributed: bool = False,
        own: str = "",
        needed: Ranges | None = None,
    ) -> None:
        assert not (block and distributed)
        self.width = width
        self.block = block
        # Whether the memory asks synthesis for LUTs, however large it is.
        self.distributed = distributed
        # Memories of equal modules may start with different words. In Verilog the module of such a memory has a
        # parameter for them, and `own` is its expression where this memory is placed.
        self.module_parameters = {FIRST: len(init) * width} if own else {}
        self.settings = {FIRST: own} if own else {}
        # Every address has a word: one past the depth, as dumps of memories of unequal depth give it, is harmless.
        self.depth = 1 << bits_for(depth)
        # Only the addresses `needed` are read: there may be several banks, or none.
        self.banks = banks_of(width, depth, needed)
        if any(bank.words < self.depth for bank in self.banks):
            begin, rest = inspect.cleandoc(type(self).__doc__ or "").split("\n", 1)
            words = ", ".join(f"{bank.begin} to {bank.end - 1}" for bank in self.banks)
            self.data_sheet = _BANKS.format(begin=begin, words=words, rest=rest)
        self.init = tuple(init)
        super().__init__(memory_members(width, depth))

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        words = []
        for bank in self.banks:
            if bank.words == self.depth:
                words.append(self._bank(m, bank, platform, self.write_enable))
                continue
            above = slice(bits_for(bank.words), None)
            number = bank.begin // bank.words
            reads, writes = (address[above] == number for address in (self.read_address, self.write_address))
            # The mask stands behind the bank's register, which can so be that of the block RAM.
            mask = delayed(m, reads, self.LATENCY, name=f"reads_{bank.begin}")
            word = self._bank(m, bank, platform, self.write_enable & writes)
            words.append(word & mask.replicate(self.width))
        m.d.comb += self.read_data.eq(reduce(or_, words) if words else 0)
        return m

    def _bank(self, m: Module, bank: Bank, platform: Any, enable: Any) -> Any:
        """Add the memories of a bank, and return the word that their registers show."""
        alone, parts = bank.words == self.depth, []
        held, few = self.init[bank.begin : bank.end], bank.words <= FEW_WORDS and not alone
        style = "block" if self.block and not few else "distributed" if self.distributed else ""
        shared = isinstance(platform, Emission) and bool(self.module_parameters) and bool(held)
        where = "" if alone else f"_at_{bank.begin}"
        for low in range(0, self.width, self.WIDEST):
            part = slice(low, min(low + self.WIDEST, self.width))
            mask = (1 << (part.stop - part.start)) - 1
            lowest = bank.begin * self.width + low
            told = {FIRST_WORDS: f"{FIRST} {self.width} {lowest} {len(held)}"} if shared else {}
            # no_rw_check: a collision may give any word, so there is no logic around the block RAM to emulate one.
            words = memory.Memory(
                shape=part.stop - part.start,
                depth=bank.words,
                init=[] if told else [(word >> low) & mask for word in held],
                attrs={"no_rw_check": 1} | ({"ram_style": style} if style else {}) | told,
            )
            own = where if self.width <= self.WIDEST else f"{where}_{low}"
            m.submodules[f"words{own}"] = words
            read = words.read_port(domain="sync")
            write = words.write_port()
            word = Signal(part.stop - part.start, name=f"word{own}", reset_less=True)
            address = slice(0, bits_for(bank.words))
            m.d.sync += word.eq(read.data)
            m.d.comb += [
                read.addr.eq(self.read_address[address]),
                write.addr.eq(self.write_address[address]),
                write.data.eq(self.write_data[part]),
                write.en.eq(enable),
            ]
            parts.append(word)
        return Cat(*parts)
