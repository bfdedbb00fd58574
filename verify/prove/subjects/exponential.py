"""The exponential behind its table: the power of two and the value of the table become a word."""

from __future__ import annotations

from functools import partial
from typing import Any

from amaranth.asserts import AnySeq
from amaranth.hdl import Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from tabla.graph.format import Format
from tabla.hw.function_unit import pipeline_for
from tabla.hw.functions.interpolation import Interpolation
from tabla.hw.multiplier import Multiplier
from tabla.hw.pipeline import bits_for
from verify.prove.bench import Bench, Opened
from verify.prove.planted import exchanged, mutants
from verify.prove.products import FreeMultiplier
from verify.prove.subject import Speed, Subject
from verify.prove.subjects.functions import function_table


class FreeInterpolation(wiring.Component):
    """Has the ports of ``Interpolation``. Its value is any word of its width."""

    latency_of = staticmethod(Interpolation.latency_of)

    def __init__(self, table: Any, **others: Any) -> None:
        self.latency = self.latency_of(table)
        width = table.base[-1].bit_length() + 2 - table.guard
        index, fraction = In(bits_for(len(table.base))), In(table.shift)
        super().__init__({"index": index, "fraction": fraction, "value": Out(signed(width))})

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        m.d.comb += self.value.eq(AnySeq(self.value.shape()))
        return m


def exponential(*, format: Format) -> Bench:
    """The exponential whose product and whose value of the table are free."""
    b = Bench()
    width, fraction = format.width, format.fraction
    table = function_table("exp", format)
    part = pipeline_for(table, width=width, fraction=fraction)
    with exchanged({Multiplier: FreeMultiplier, Interpolation: FreeInterpolation}):
        opened = b.add(Opened(part), "exponential")
    b.drive(part)
    scale, middle = opened.component("scale"), opened.component("interpolation")
    b.claim("operand", scale.a == part.operand)
    b.claim("constant", scale.b == table.constant)
    point = fraction + (24 if fraction > 16 else 16)
    below = b.register(scale.product[point - table.fraction_bits : point], "past_below")
    b.claim("index", middle.index == below[-table.index_bits :])
    b.claim("fraction", middle.fraction == below[: -table.index_bits])
    value = b.seen(middle.value, "value_of_the_table")
    # `test_the_tables_of_exp_lie_between_1_and_2` shows it of the tables of all widths.
    b.assume("from_1_to_2", (value >= 1 << (width + 1)) & (value <= 1 << (width + 2)))
    # Decision 4: value * 2^-s with s = width + 1 - fraction - power, half up, and 0 where s is above width + 2. A power
    # that is too great for a word is an overflow, whatever the table says.
    ranks = 3
    late = 1 + Interpolation.latency_of(table) + ranks
    power = b.past(scale.product[point:].as_signed(), late, "power")
    tabled = b.past(value, ranks, "value")
    shift = b.seen(width + 1 - fraction - power, "shift_to_the_right")
    right = Signal(range(width + 3), name="shift_of_a_word")
    b.m.d.comb += right.eq(Mux(shift > width + 2, width + 2, Mux(shift < 0, 0, shift)))
    rounded = (tabled + ((1 << right) >> 1)) >> right
    exact = b.seen(Mux(shift > width + 2, 0, rounded), "exact")
    beyond = power >= width - fraction - 1
    great = beyond | (exact > part.most_positive)
    b.claim("word", part.value == Mux(great, part.most_positive, exact), after=late)
    b.claim("overflow", part.overflow == great, after=late)
    b.claim("no_domain_error", ~part.domain_error)
    most = opened["shift"] <= width + 2
    b.claim("shift_is_clamped", most, after=late)
    return b


EXPONENTIAL = mutants(
    "functions/exponential.py",
    ("half.eq((1 << shift) >> 1)", "half.eq(1 << shift)"),
    ("Mux(wanted < 0, 0, wanted)", "wanted"),
    ("Mux(wanted > most, most,", "Mux(wanted > most, 0,"),
    ("vanishes = delayed(m, wanted > most, 1", "vanishes = delayed(m, wanted >= most, 1"),
    ("with m.Elif(~vanishes):", "with m.Else():"),
    ("fine > self.most_positive", "fine >= self.most_positive"),
    ("product[point:].as_signed()", "product[point:]"),
    ("Cat(Const(0, 2), shift[2:])", "Cat(Const(0, 2), shift[2:4])"),
    ("ahead = interpolation.latency - 2", "ahead = interpolation.latency - 1"),
)

SUBJECTS = tuple(
    Subject(
        group="function unit",
        name=f"exponential behind its table, {format}",
        property="The word is the table's value, shifted by the power of two, rounded half up and saturated, for all "
        "powers that a product can have. The shift never leaves its range.",
        bounds="the product is free, and the table's value any from 1 to 2",
        build=partial(exponential, format=format),
        depth=16,
        speed=Speed.QUICK,
        mutants=planted,
        search=16,
    )
    for format, planted in (
        (Format.parse("q6.10"), EXPONENTIAL),
        (Format.parse("q3.5"), ()),
        (Format.parse("q12.20"), ()),
    )
)
