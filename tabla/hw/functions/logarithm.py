"""The natural logarithm: the place of the top bit, and a table for the bits below it."""

from typing import Any

from amaranth.hdl import Array, Cat, Const, Module, Signal, signed

from tabla.hw.functions.interpolation import Interpolation, signed_bits
from tabla.hw.functions.pipeline import REGISTER, FunctionPipeline
from tabla.hw.pipeline import bits_for, delayed
from tabla.program.image import FunctionTable


class Logarithm(FunctionPipeline):
    """Gives ``ln x``. For x <= 0 it gives the most negative word and a domain error.

    Members: as ``FunctionPipeline``.
    """

    def __init__(self, table: FunctionTable, *, width: int, fraction: int) -> None:
        self.table = table
        self.latency = 4 + Interpolation.latency_of(table) + 1 + REGISTER
        super().__init__(width=width, fraction=fraction)

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        table, width = self.table, self.width
        exponent_bits = signed_bits(table.exponent)
        m.submodules.interpolation = interpolation = Interpolation(table, offset=exponent_bits)

        word = delayed(m, self.operand, 1, name="word")
        outside = delayed(m, (word <= 0), 1, name="outside")
        # How far the top bit is from its place, W - 2; bits above it are 0 for the words that count.
        distance = Signal(bits_for(width), reset_less=True)
        m.d.sync += distance.eq(0)
        for place in range(width - 1):
            with m.If(word[place]):
                m.d.sync += distance.eq(width - 2 - place)
        moved = delayed(m, word[: width - 1], 1, name="moved")
        coarse = Signal(width - 1, reset_less=True)
        m.d.sync += coarse.eq(moved << Cat(Const(0, 2), distance[2:]))
        fine_distance = delayed(m, distance, 1, name="fine_distance")
        fine = Signal(width - 1, reset_less=True)
        m.d.sync += fine.eq(coarse << fine_distance[:2])
        rest = width - 2 - table.index_bits
        m.d.comb += [
            interpolation.index.eq(fine[rest : width - 2]),
            interpolation.fraction.eq(fine[:rest]),
        ]

        exponents = Array(
            [
                Const(table.exponent[width - 2 - d] if 0 <= width - 2 - d else 0, signed(exponent_bits))
                for d in range(1 << len(distance))
            ]
        )
        exponent = Signal(signed(exponent_bits), reset_less=True)
        m.d.sync += exponent.eq(exponents[delayed(m, fine_distance, 1, name="exponent_distance")])
        m.d.comb += interpolation.offset.eq(delayed(m, exponent, interpolation.latency - 2, name="exponent"))

        value, beyond = self.saturated(interpolation.value)
        outside = delayed(m, outside, 2 + interpolation.latency, name="outside_late")
        saturated = delayed(m, value, 1, name="saturated")
        overflow = delayed(m, beyond & ~outside, 1, name="beyond")
        outside = delayed(m, outside, 1, name="outside_last")
        m.d.comb += [
            self.value.eq(saturated),
            self.overflow.eq(overflow),
            self.domain_error.eq(outside),
        ]
        with m.If(outside):
            m.d.comb += self.value.eq(~self.most_positive)
        return m
