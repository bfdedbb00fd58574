"""Lets the words of several roots leave through one output."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from tabla.hw.border_queue import BeatQueue, BorderQueue
from tabla.hw.output import OutputBuffer
from tabla.hw.root import Root
from tabla.program.image import Parameters


class SerialOut(wiring.Component):
    """Puts out one word at once, or the words of all groups one after the other, the first group's at once.

    Where results are the same in every group, only the first group's word leaves. In a dump (`every`) all words leave,
    which takes as many cycles as there are roots. The program of a dump puts its words that far apart.

    Members
    -------
    every : In(1)
    valid : In(1), words : In(width) for each root
    put : Out(1), word : Out(width)
        In the cycle of `valid`, and with `every` in the following ones.
    """

    def __init__(self, *, width: int, roots: int) -> None:
        self.width = width
        self.roots = roots
        super().__init__(
            {
                "every": In(1),
                "valid": In(1),
                "words": In(width).array(roots),
                "put": Out(1),
                "word": Out(width),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        held = [Signal(self.width, name=f"held_{k}", reset_less=True) for k in range(1, self.roots)]
        left = Signal(range(self.roots))
        waits = left != 0
        m.d.comb += [self.put.eq(self.valid | waits), self.word.eq(Mux(waits, held[0], self.words[0]))]
        with m.If(self.valid & self.every):
            m.d.sync += [left.eq(self.roots - 1), *(h.eq(self.words[k]) for k, h in enumerate(held, start=1))]
        with m.Elif(waits):
            m.d.sync += [left.eq(left - 1), *(a.eq(b) for a, b in pairwise(held))]
        return m


def output_of(m: Module, roots: Sequence[Root], parameters: Parameters, *, every: Any) -> OutputBuffer | BorderQueue:
    """Return what keeps the words of the roots until they are taken.

    With `every` the words of all roots leave instead of one's. Where each root has results of its own, one beat has the
    words of some or of all roots.
    """
    width, depth = parameters.width, parameters.output_depth
    valid, words = roots[0].output_valid, [root.output_word for root in roots]
    beat = parameters.port_words
    if beat == len(roots) > 1:
        # A beat has a word of every root, so nothing has to take turns.
        m.submodules.output_buffer = output = OutputBuffer(width=beat * width, depth=depth // beat)
        m.d.comb += [output.put.eq(valid), output.word.eq(Cat(words))]
        return output
    if parameters.split_results:
        kind = BeatQueue if beat > 1 else BorderQueue
        m.submodules.border_queue = queue = kind(width=width, depth=depth, roots=len(roots), beat=beat)
        m.d.comb += [queue.put.eq(valid), *(queue.words[k].eq(word) for k, word in enumerate(words))]
        return queue
    m.submodules.output_buffer = output = OutputBuffer(width=width, depth=depth)
    if len(roots) == 1:
        m.d.comb += [output.put.eq(valid), output.word.eq(words[0])]
        return output
    m.submodules.serial_out = serial = SerialOut(width=width, roots=len(roots))
    m.d.comb += [serial.every.eq(every), serial.valid.eq(valid), output.put.eq(serial.put), output.word.eq(serial.word)]
    m.d.comb += [serial.words[k].eq(word) for k, word in enumerate(words)]
    return output
