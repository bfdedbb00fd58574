"""Fetches strands ahead of their time, round and round the program."""

from collections.abc import Sequence
from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal, signed
from amaranth.lib import data, memory, wiring
from amaranth.lib.wiring import In, Out

from tabla.hw.block_memories import asks_for_luts
from tabla.hw.memory import WordMemory
from tabla.hw.pipeline import bits_for, delayed
from tabla.program.layout import WordLayout


def strand_shape(layout: WordLayout, levels: int) -> data.StructLayout:
    """Return the shape of a strand that the loops load without further arithmetic.

    `slots` is the length of the body less 2, so that its sign says "at the end". `interval` and `counts` are less 1, as
    in the word. `wait` is the number of cycles between the previous strand's start and this one's, less 1. The first
    strand of a program (`opening`) waits for its token only. There is a `stage` where the word has one.
    """
    width = {name: field.width for name, field in layout.fields.items()}
    return data.StructLayout(
        {
            "opening": 1,
            "wait": width["start"] + 1,
            "interval": width["interval"],
            "reduce": width["reduce"],
            "body": width["body"],
            "slots": signed(width["length"] + 1),
            "counts": data.ArrayLayout(max(width[f"count{level}"] for level in range(levels)), levels),
            **({"stage": width["stage"]} if "stage" in width else {}),
        }
    )


class StrandFetch(wiring.Component):
    """Reads the strand words from ``first`` to ``last`` again and again, and keeps the next ones ready, at a strand a
    cycle.

    `restart` for one cycle empties it, and it begins anew at `first`. The first strand is ready at most 6 cycles later.
    While `enable` is low nothing is fetched.

    Up to ``AT_HAND`` words lie in distributed RAM, and the next one of them in a register. More words lie in a block
    RAM, which answers later, so some of its words wait in a queue.

    Members
    -------
    restart, enable : In(1)
    first, last : In(address), stable between restarts
    strand : Out(strand_shape(...)), valid : Out(1), pop : In(1)
    write_enable : In(1), write_address : In(address), write_data : In(strand word)
        Loads the program; the program is at rest meanwhile.
    """

    AT_HAND = 16
    AHEAD = 8

    def __init__(
        self, *, layout: WordLayout, levels: int, depth: int, init: Sequence[int] = (), block: bool = True
    ) -> None:
        self.layout = layout
        # Whether words that are too many to be at hand lie in block RAM, however few they are.
        self.block = block
        self.levels = levels
        self.depth = depth
        self.init = tuple(init)
        self.shape = strand_shape(layout, levels)
        address = bits_for(depth)
        super().__init__(
            {
                "restart": In(1),
                "enable": In(1),
                "first": In(address),
                "last": In(address),
                "strand": Out(self.shape),
                "valid": Out(1),
                "pop": In(1),
                "write_enable": In(1),
                "write_address": In(address),
                "write_data": In(layout.width),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        if self.depth <= self.AT_HAND:
            self._at_hand(m)
        else:
            self._ahead(m)
        return m

    def _at_hand(self, m: Module) -> None:
        """Read a word in the cycle in which it is made ready."""
        address = Signal(bits_for(self.depth))
        at_first = Signal(init=1)
        moves = Signal()
        ready = Signal(self.shape, reset_less=True)
        m.d.comb += [moves.eq(self.enable & (self.pop | ~self.valid)), self.strand.eq(ready)]
        word = self._word(m, address)
        with m.If(moves):
            self._make_ready(m, word, at_first, 1, ready)
            m.d.sync += [self.valid.eq(1), address.eq(address + 1), at_first.eq(0)]
            with m.If(address == self.last):
                m.d.sync += [address.eq(self.first), at_first.eq(1)]
        with m.If(self.restart):
            m.d.sync += [self.valid.eq(0), address.eq(self.first), at_first.eq(1)]

    def _word(self, m: Module, address: Any) -> Any:
        """Return the word at an address, in the same cycle."""
        if self.depth == 1:
            only = Signal(self.layout.width, init=self.init[0] if self.init else 0, reset_less=True)
            # No `If`: Icarus would not evaluate a block of Verilog of whose inputs none ever changes.
            m.d.sync += only.eq(Mux(self.write_enable, self.write_data, only))
            return only
        m.submodules.program_words = words = memory.Memory(
            shape=self.layout.width,
            depth=1 << bits_for(self.depth),
            init=self.init,
        )
        write = words.write_port()
        read = words.read_port(domain="comb")
        m.d.comb += [
            write.en.eq(self.write_enable),
            write.addr.eq(self.write_address),
            write.data.eq(self.write_data),
            read.addr.eq(address),
        ]
        return read.data

    def _ahead(self, m: Module) -> None:
        """Ask for words so early that one is ready whenever the loops want one."""
        m.submodules.program_words = program = WordMemory(
            width=self.layout.width,
            depth=self.depth,
            init=self.init,
            block=self.block,
            distributed=asks_for_luts(self.depth, block=self.block),
        )
        m.d.comb += [
            program.write_enable.eq(self.write_enable),
            program.write_address.eq(self.write_address),
            program.write_data.eq(self.write_data),
        ]

        # Credit: a word is only asked for when there is room for it, so nothing on the way ever waits.
        room = Signal(range(self.AHEAD + 1), init=self.AHEAD)
        ask = Signal()
        address = Signal(bits_for(self.depth))
        at_first = Signal(init=1)
        m.d.comb += [ask.eq(self.enable & (room != 0) & ~self.restart), program.read_address.eq(address)]
        m.d.sync += room.eq(room + self.pop - ask)
        with m.If(ask):
            m.d.sync += [
                address.eq(address + 1),
                at_first.eq(0),
            ]
            with m.If(address == self.last):
                m.d.sync += [address.eq(self.first), at_first.eq(1)]

        # The block RAM may lie far away: its word has a cycle for the way, and another one for the arithmetic.
        late = WordMemory.LATENCY + 1
        arriving = Signal(late + 1)
        opening = Signal(late, reset_less=True)
        m.d.sync += [
            arriving.eq(Cat(ask, arriving[:-1])),
            opening.eq(Cat(at_first, opening[:-1])),
        ]
        ready = Signal(self.shape, reset_less=True)
        word = delayed(m, program.read_data, 1, name="program_word")
        self._make_ready(m, word, opening[-1], arriving[late - 1], ready)
        self._queue(m, ready, arriving[-1])

        with m.If(self.restart):
            m.d.sync += [room.eq(self.AHEAD), arriving.eq(0), address.eq(self.first), at_first.eq(1)]

    def _make_ready(self, m: Module, word: Any, opening: Any, valid: Any, ready: Any) -> None:
        def field(name: str) -> Any:
            place = self.layout.fields[name]
            return word[place.offset : place.offset + place.width]

        start = field("start")
        previous = Signal(len(start), reset_less=True)
        with m.If(valid):
            m.d.sync += previous.eq(start)
        with m.If(opening):
            m.d.sync += ready.wait.eq(0)
        with m.Else():
            # start - previous - 1
            m.d.sync += ready.wait.eq(start + ~Cat(previous, Const(0, 1)))
        m.d.sync += [
            ready.opening.eq(opening),
            ready.interval.eq(field("interval") - 1),
            ready.reduce.eq(field("reduce")),
            ready.body.eq(field("body")),
            ready.slots.eq(field("length") - 2),
        ]
        if "stage" in self.layout.fields:
            m.d.sync += ready.stage.eq(field("stage"))
        m.d.sync += [ready.counts[level].eq(field(f"count{level}")) for level in range(self.levels)]

    def _queue(self, m: Module, word: Any, valid: Any) -> None:
        """Put words into a queue that never overflows, because `room` counts the words on the way too."""
        m.submodules.queue = queue = memory.Memory(shape=self.shape, depth=self.AHEAD, init=[])
        write = queue.write_port()
        read = queue.read_port(domain="comb")
        filled = Signal(range(self.AHEAD + 1))
        m.d.comb += [
            write.en.eq(valid),
            write.data.eq(word),
            self.strand.eq(read.data),
            self.valid.eq(filled != 0),
        ]
        m.d.sync += filled.eq(filled + valid - self.pop)
        with m.If(valid):
            m.d.sync += write.addr.eq(write.addr + 1)
        with m.If(self.pop):
            m.d.sync += read.addr.eq(read.addr + 1)
        with m.If(self.restart):
            m.d.sync += [filled.eq(0), write.addr.eq(0), read.addr.eq(0)]
