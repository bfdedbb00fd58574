"""Sine and cosine: the argument in turns chooses a place in a table of one turn."""

from typing import Any

from amaranth.hdl import Const, Module, signed

from tabla.hw.functions.interpolation import Interpolation
from tabla.hw.functions.pipeline import REGISTER, FunctionPipeline
from tabla.hw.multiplier import Multiplier
from tabla.hw.pipeline import delayed
from tabla.program.image import FunctionTable


class Circular(FunctionPipeline):
    """Gives the table's value at the fraction of ``x / (2 pi)``. Saturated values do not count as overflows.

    Members: as ``FunctionPipeline``.
    """

    def __init__(self, table: FunctionTable, *, width: int, fraction: int) -> None:
        self.table = table
        self.latency = Multiplier.LATENCY + 1 + Interpolation.latency_of(table) + REGISTER
        super().__init__(width=width, fraction=fraction)

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        table = self.table
        constant_bits = table.constant.bit_length() + 1
        m.submodules.scale = scale = Multiplier(left=self.width, right=constant_bits)
        m.d.comb += [scale.a.eq(self.operand), scale.b.eq(Const(table.constant, signed(constant_bits)))]

        # Whole turns, above the point, do not matter.
        point = self.fraction + min(self.width + 3, 33)
        turn = delayed(m, scale.product[point - table.fraction_bits : point], 1, name="turn")
        m.submodules.interpolation = interpolation = Interpolation(table)
        m.d.comb += [
            interpolation.index.eq(turn[table.fraction_bits - table.index_bits :]),
            interpolation.fraction.eq(turn[: table.fraction_bits - table.index_bits]),
        ]
        word, _ = self.saturated(interpolation.value)
        m.d.comb += self.value.eq(word)
        return m
