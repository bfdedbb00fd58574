"""Linear interpolation in a table: the middle of every function that has one."""

from typing import Any

from amaranth.hdl import Cat, Module, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from tabla.hw.memory import WordMemory
from tabla.hw.multiplier import Multiplier
from tabla.hw.pipeline import bits_for, delayed

from tabla.program.image import FunctionTable


def signed_bits(values: tuple[int, ...]) -> int:
    """Return the bits of a signed word that holds all values."""
    return max((value if value >= 0 else ~value).bit_length() for value in (*values, 0)) + 1


class Interpolation(wiring.Component):
    """Gives ``((base[i] << shift) + slope[i] * f + (offset << shift) + half) >> (shift + guard)``, one a cycle.

    `index` and `fraction` (f) of cycle *t* give `value` in cycle *t* + ``LATENCY``. `offset` is wanted in cycle *t* +
    4. A ``tight`` one is for tables with guard bits. It has the half in its base words already, no `offset`, and no
    more bits than its values need.

    Members
    -------
    index : In(bits of the table), fraction : In(shift)
    offset : In(signed(offset))
    value : Out(signed(...))
    """

    LATENCY = WordMemory.LATENCY + Multiplier.LATENCY + 1

    def __init__(self, table: FunctionTable, *, offset: int = 1, tight: bool = False) -> None:
        self.table = table
        self.tight = tight and table.guard > 0
        half = 1 << (table.guard - 1) if self.tight else 0
        self.base = tuple(base + half for base in table.base)
        self.base_bits = signed_bits(self.base)
        self.slope_bits = signed_bits(table.slope)
        # Two bits above the greatest term: three terms and a half are summed.
        self.sum_bits = max(self.base_bits, self.slope_bits, offset) + table.shift + 2
        if self.tight:
            self.sum_bits = signed_bits(self._ends()) + table.shift
        super().__init__(
            {
                "index": In(bits_for(len(table.base))),
                "fraction": In(table.shift),
                **({} if self.tight else {"offset": In(signed(offset))}),
                "value": Out(signed(self.sum_bits - table.shift - table.guard)),
            }
        )

    def _ends(self) -> tuple[int, ...]:
        """Return the base words, and bounds of the values at both ends of their segments."""
        return (*self.base, *(base + slope for base, slope in zip(self.base, self.table.slope, strict=True)))

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        table = self.table
        depth = len(table.base)
        words = [
            (base & ((1 << self.base_bits) - 1)) | ((slope & ((1 << self.slope_bits) - 1)) << self.base_bits)
            for base, slope in zip(self.base, table.slope, strict=True)
        ]
        width = self.base_bits + self.slope_bits
        m.submodules.table = memory = WordMemory(width=width, depth=depth, init=words, block=True)
        m.submodules.multiplier = multiplier = Multiplier(left=self.slope_bits, right=table.shift + 1)
        fraction = delayed(m, self.fraction, WordMemory.LATENCY, name="fraction")
        base = memory.read_data[: self.base_bits].as_signed()
        base = delayed(m, base, Multiplier.LATENCY, name="base")
        m.d.comb += [
            memory.read_address.eq(self.index),
            multiplier.a.eq(memory.read_data[self.base_bits :].as_signed()),
            multiplier.b.eq(Cat(fraction, 0).as_signed()),
        ]
        total = Signal(signed(self.sum_bits), reset_less=True)
        joined: Any = (base << table.shift) + multiplier.product
        if not self.tight:
            # The half joins the base word's empty low bits when it fits there: one carry chain fewer.
            half = 1 << (table.shift + table.guard - 1)
            joined = joined + (self.offset << table.shift) + half
        m.d.sync += total.eq(joined)
        m.d.comb += self.value.eq(total >> (table.shift + table.guard))
        return m
