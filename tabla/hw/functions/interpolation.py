"""Interpolation in a table, along chords or parabolas: the middle of every function that has one."""

from typing import Any

from amaranth.hdl import Cat, Const, Module, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from tabla.hw.memory import WordMemory
from tabla.hw.multiplier import Multiplier
from tabla.hw.pipeline import bits_for, delayed
from tabla.program.image import FunctionTable


def signed_bits(values: tuple[int, ...]) -> int:
    """Return the bits of a signed word that holds all values."""
    return max((value if value >= 0 else ~value).bit_length() for value in (*values, 0)) + 1


def bent_bits(table: FunctionTable) -> int:
    """Return the bits of the factor of a place: the slope, to which a share of the curve from 0 to 1 is added."""
    bends = zip(table.slope, table.curve, strict=True) if table.curve else ()
    return signed_bits((*table.slope, *(slope + curve for slope, curve in bends)))


class Interpolation(wiring.Component):
    """Gives ``((base[i] << shift) + bent * f + (offset << shift) + half) >> (shift + guard)``, one a cycle.

    In a table of chords, `bent` is ``slope[i]``. In one of parabolas, ``curve[i]`` times the way that is left of the
    segment is added to it, as ``docs/decisions/0004-functions.md`` says.

    `index` and `fraction` (f) of cycle *t* give `value` in cycle *t* + ``latency``. `offset` is wanted in cycle *t* +
    ``latency`` - 1. A ``tight`` one is for tables with guard bits. It has the half in its base words already, no
    `offset`, and no more bits than its values need. There is no reset.

    Members
    -------
    index : In(bits of the table), fraction : In(shift)
    offset : In(signed(offset))
    value : Out(signed(...))
    """

    PLACE_BITS = 17
    """The top bits of the way that is left, by which a curve is multiplied."""

    def __init__(self, table: FunctionTable, *, offset: int = 1, tight: bool = False) -> None:
        self.table = table
        self.latency = self.latency_of(table)
        self.tight = tight and table.guard > 0
        half = 1 << (table.guard - 1) if self.tight else 0
        self.base = tuple(base + half for base in table.base)
        self.base_bits, self.slope_bits = signed_bits(self.base), signed_bits(table.slope)
        self.curve_bits = signed_bits(table.curve) if table.curve else 0
        self.bent_bits = bent_bits(table)
        # Two bits above the greatest term: three terms and a half are summed.
        self.sum_bits = max(self.base_bits, self.bent_bits, offset) + table.shift + 2
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

    @staticmethod
    def latency_of(table: FunctionTable) -> int:
        """Return the cycles from an index to its value."""
        products = 2 if table.curve else 1
        return WordMemory.LATENCY + products * Multiplier.LATENCY + 1

    def _ends(self) -> tuple[int, ...]:
        """Return bounds of the values in all segments. A parabola rises at most `curve` / 4 above both ends."""
        ends = (*self.base, *(base + slope for base, slope in zip(self.base, self.table.slope, strict=True)))
        most = max((abs(curve) for curve in self.table.curve), default=0)
        return (*ends, max(ends) + most // 4, min(ends) - most // 4) if most else ends

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        table = self.table
        columns = [(self.base, self.base_bits), (table.slope, self.slope_bits)]
        columns += [(table.curve, self.curve_bits)] if table.curve else []
        words = [0] * len(table.base)
        width = 0
        for column, bits in columns:
            words = [word | ((entry & ((1 << bits) - 1)) << width) for word, entry in zip(words, column, strict=True)]
            width += bits
        m.submodules.table = memory = WordMemory(width=width, depth=len(words), init=words, block=True)
        m.d.comb += memory.read_address.eq(self.index)
        base = memory.read_data[: self.base_bits].as_signed()
        slope = memory.read_data[self.base_bits : self.base_bits + self.slope_bits].as_signed()
        fraction = delayed(m, self.fraction, WordMemory.LATENCY, name="fraction")
        if table.curve:
            slope, fraction = self._bent(m, slope, memory.read_data[-self.curve_bits :].as_signed(), fraction)
        m.submodules.multiplier = multiplier = Multiplier(left=self.bent_bits, right=table.shift + 1)
        base = delayed(m, base, self.latency - WordMemory.LATENCY - 1, name="base")
        m.d.comb += [multiplier.a.eq(slope), multiplier.b.eq(Cat(fraction, 0).as_signed())]
        total = Signal(signed(self.sum_bits), reset_less=True)
        joined: Any = (base << table.shift) + multiplier.product
        if not self.tight:
            # The half joins the base word's empty low bits when it fits there: one carry chain fewer.
            half = 1 << (table.shift + table.guard - 1)
            joined = joined + (self.offset << table.shift) + half
        m.d.sync += total.eq(joined)
        m.d.comb += self.value.eq(total >> (table.shift + table.guard))
        return m

    def _bent(self, m: Module, slope: Any, curve: Any, fraction: Any) -> tuple[Any, Any]:
        """Return the slope of a parabola's chord from the left end to the place, and that place, when the slope is
        there.
        """
        shift = self.table.shift
        cut = max(0, shift - self.PLACE_BITS)
        m.submodules.bend = bend = Multiplier(left=self.curve_bits, right=shift - cut + 1)
        m.d.comb += [bend.a.eq(curve), bend.b.eq(Cat((~fraction)[cut:shift], Const(0, 1)).as_signed())]
        slope = delayed(m, slope, Multiplier.LATENCY, name="slope")
        bent = slope + (bend.product >> (shift - cut))
        return bent, delayed(m, fraction, Multiplier.LATENCY, name="place")
