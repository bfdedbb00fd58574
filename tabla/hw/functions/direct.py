"""Functions that are one table over a clamped argument."""

from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal

from tabla.hw.functions.interpolation import Interpolation
from tabla.hw.functions.pipeline import REGISTER, FunctionPipeline
from tabla.hw.pipeline import delayed
from tabla.program.image import FunctionTable


class Direct(FunctionPipeline):
    """Gives the table's value at the argument clamped to [-2^reach, 2^reach). Saturated values do not count as
    overflows.

    A ``tight`` pipeline, whose table holds words only, has no saturation.

    Members: as ``FunctionPipeline``.
    """

    def __init__(self, table: FunctionTable, *, width: int, fraction: int, tight: bool = False) -> None:
        self.table = table
        self.tight = tight
        self.latency = 1 + Interpolation.latency_of(table) + REGISTER
        super().__init__(width=width, fraction=fraction)

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        table = self.table
        m.submodules.interpolation = interpolation = Interpolation(table, tight=self.tight)
        reach = table.reach
        # x' + R in [0, 2R): x' with its sign bit turned round.
        place = Signal(reach + 1)
        negative = self.operand[-1]
        if reach + 1 < self.width:
            above = self.operand[reach:]
            in_reach = above.all() | ~above.any()
            m.d.comb += place.eq(Mux(in_reach, Cat(self.operand[:reach], ~negative), Mux(negative, 0, -1)))
        else:
            m.d.comb += place.eq(self.operand + (1 << reach))
        place = delayed(m, place, 1, name="place")
        m.d.comb += [
            interpolation.index.eq(place[table.shift :]),
            interpolation.fraction.eq(place[: table.shift]),
        ]
        value = interpolation.value
        # Values as wide as a word or narrower are words.
        word = self.saturated(value)[0] if not self.tight or len(value) > self.width else value
        m.d.comb += self.value.eq(word)
        return m
