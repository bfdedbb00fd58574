"""The exponential function: a power of two whose fraction comes from a table."""

from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal, signed

from tabla.hw.functions.interpolation import Interpolation
from tabla.hw.functions.pipeline import REGISTER, FunctionPipeline
from tabla.hw.multiplier import Multiplier
from tabla.hw.pipeline import delayed
from tabla.program.image import FunctionTable


class Exponential(FunctionPipeline):
    """Gives ``exp(x)``. A result that is too large is the most positive word, and counts as an overflow.

    Members: as ``FunctionPipeline``.
    """

    def __init__(self, table: FunctionTable, *, width: int, fraction: int) -> None:
        self.table = table
        self.latency = Multiplier.LATENCY + 1 + Interpolation.latency_of(table) + 3 + REGISTER
        super().__init__(width=width, fraction=fraction)

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        table, width, fraction = self.table, self.width, self.fraction
        constant_bits = table.constant.bit_length() + 1
        m.submodules.scale = scale = Multiplier(left=width, right=constant_bits)
        m.d.comb += [scale.a.eq(self.operand), scale.b.eq(Const(table.constant, signed(constant_bits)))]

        # C lies between 1 and 2, so all of its bits but the top one are fraction bits.
        point = fraction + table.constant.bit_length() - 1
        product = scale.product
        power = delayed(m, product[point:].as_signed(), 1, name="power")
        below = delayed(m, product[point - table.fraction_bits : point], 1, name="below")
        m.submodules.interpolation = interpolation = Interpolation(table)
        m.d.comb += [
            interpolation.index.eq(below[table.fraction_bits - table.index_bits :]),
            interpolation.fraction.eq(below[: table.fraction_bits - table.index_bits]),
        ]

        # While the table works: the shift s = Q - F - n. It is clamped to where all bits have left the word, and to
        # where the table's value, which is at least 2^(width + 1), is too great already.
        most = width + 2
        shift = Signal(range(most + 1), reset_less=True)
        wanted = Signal(signed(max(len(power), (width + 2).bit_length() + 1) + 1))
        m.d.comb += wanted.eq(width + 1 - fraction - power)
        m.d.sync += shift.eq(Mux(wanted > most, most, Mux(wanted < 0, 0, wanted)))
        vanishes = delayed(m, wanted > most, 1, name="vanishes")
        half = Signal(most + 1, reset_less=True)
        m.d.sync += half.eq((1 << shift) >> 1)
        ahead = interpolation.latency - 2
        half = delayed(m, half, ahead, name="half")
        shift = delayed(m, shift, ahead + 1, name="shift")

        rounded = Signal(width + 4, reset_less=True)
        m.d.sync += rounded.eq(interpolation.value + half)
        shift = delayed(m, shift, 1, name="shift_rounded")
        # Two ranks of the shifter: by multiples of four, then by the rest.
        coarse = delayed(m, rounded >> Cat(Const(0, 2), shift[2:]), 1, name="coarse")
        fine_shift = delayed(m, shift[:2], 1, name="fine_shift")
        fine = delayed(m, coarse >> fine_shift, 1, name="fine")

        vanishes = delayed(m, vanishes, interpolation.latency + 2, name="vanishes_late")
        with m.If(fine > self.most_positive):
            m.d.comb += [self.value.eq(self.most_positive), self.overflow.eq(1)]
        with m.Elif(~vanishes):
            m.d.comb += self.value.eq(fine)
        return m
