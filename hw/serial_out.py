"""Words of several roots leave through one output."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from tabla.hw.root import Root


class SerialOut(wiring.Component):
    """One word at once, or all groups' words one after the other, the first group's at once.

    Where results are the same in every group, the first group's leaves; in a dump, and where each group has results of
    its own, all do (`every`), which takes as many cycles as there are roots: so far apart programs put their words.

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


def joined_output(m: Module, roots: Sequence[Root], every: Any, width: int) -> tuple[Any, Any]:
    """(put, word) for the output buffer."""
    if len(roots) == 1:
        return roots[0].output_valid, roots[0].output_word
    m.submodules.serial_out = serial = SerialOut(width=width, roots=len(roots))
    m.d.comb += [serial.every.eq(every), serial.valid.eq(roots[0].output_valid)]
    m.d.comb += [serial.words[k].eq(root.output_word) for k, root in enumerate(roots)]
    return serial.put, serial.word
