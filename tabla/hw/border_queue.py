"""The output queue of several roots: they put their words at once, and the words leave one after the other."""

from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from tabla.hw.memory import WordMemory
from tabla.hw.output import port_members
from tabla.hw.pipeline import bits_for, delayed


class BorderQueue(wiring.Component):
    """A queue that never overflows, because tokens wait for its credit. A word a cycle leaves without bubbles, however
    fast the roots put them.

    Words put in cycle *t* are offered from *t* + ``LATENCY`` on, the first root's first, and all of them before those
    put later. An offered word stays until it is taken. The words of each root lie in a memory of its own with an output
    register, so that synthesis may use block RAMs. The registers behind the memories take a word of each at once, and
    shift.

    Members
    -------
    put : In(1), words : In(width) for each of at least two roots
    out_valid : Out(1), out_ready : In(1), out_data : Out(width)
    taken : Out(1)
    waits : Out(1)
        Some word is inside.
    """

    LATENCY = WordMemory.LATENCY + 2

    def __init__(self, *, width: int, depth: int, roots: int, beat: int = 1) -> None:
        if roots <= beat or roots % beat:
            raise ValueError(f"the words of {roots} roots take no turns in beats of {beat}")
        self.width = width
        self.roots = roots
        self.beat = beat
        self.places = -(-depth // roots)
        super().__init__(
            {
                "put": In(1),
                "words": In(width).array(roots),
                **port_members(beat * width),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        bits, beats = bits_for(self.places), self.roots // self.beat
        write = Signal(bits)
        read = Signal(bits)
        ahead = Signal(bits, init=1)
        # Rows whose words stand behind the memories, if their address has been there for long enough.
        filled = Signal(range((1 << bits) + 1))
        left = Signal(range(beats))
        load = Signal()
        arrived = delayed(m, self.put, WordMemory.LATENCY, name="arrived", clear=0)
        under_way = Signal()
        m.d.sync += under_way.eq(self.put)
        m.d.comb += [
            self.taken.eq(self.out_valid & self.out_ready),
            # A row takes two cycles at least to leave: the next one's words have come by then.
            load.eq((filled != 0) & (~self.out_valid | (self.out_ready & (left == 0)))),
            self.waits.eq(self.put | under_way | arrived | (filled != 0) | self.out_valid),
        ]
        m.d.sync += filled.eq(filled + arrived - load)
        with m.If(self.put):
            m.d.sync += write.eq(write + 1)
        held = [Signal(self.beat * self.width, name=f"held_{k}", reset_less=True) for k in range(1, beats)]
        row = [self.out_data, *held]
        with m.If(load):
            m.d.sync += [read.eq(ahead), ahead.eq(ahead + 1), left.eq(beats - 1), self.out_valid.eq(1)]
        with m.Elif(self.taken):
            m.d.sync += [left.eq(left - 1), self.out_valid.eq(left != 0)]
            m.d.sync += [place.eq(after) for place, after in zip(row, held, strict=False)]
        together = []
        for k, word in enumerate(self.words):
            m.submodules[f"words_{k}"] = words = WordMemory(width=self.width, depth=1 << bits)
            m.d.comb += [
                words.write_enable.eq(self.put),
                words.write_address.eq(write),
                words.write_data.eq(word),
                words.read_address.eq(Mux(load, ahead, read)),
            ]
            together.append(words.read_data)
            if len(together) == self.beat:
                with m.If(load):
                    m.d.sync += row[k // self.beat].eq(Cat(together) if self.beat > 1 else words.read_data)
                together = []
        return m


class BeatQueue(BorderQueue):
    """A queue as ``BorderQueue`` that offers beats of `beat` words: the words of a put leave in two or more of them.

    Beats that are put in cycle *t* are offered from *t* + ``LATENCY`` on, one a cycle without bubbles. The first beat
    has the words of the first roots, the first root's lowest. An offered beat stays until it is taken.

    Members
    -------
    put : In(1), words : In(width) for each root
    out_valid : Out(1), out_ready : In(1), out_data : Out(beat * width)
    taken : Out(1)
    waits : Out(1)
        Some word is inside.
    """
