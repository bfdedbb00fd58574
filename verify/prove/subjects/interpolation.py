"""Interpolation along chords and parabolas: the pipeline against its formula, with free products and words."""

from __future__ import annotations

from functools import partial
from typing import Any

from amaranth.hdl import Const, Mux, Signal, signed

from tabla.graph.format import Format
from tabla.hw.functions.interpolation import Interpolation
from tabla.hw.memory import WordMemory
from tabla.hw.multiplier import Multiplier
from verify.prove.bench import Bench, Opened
from verify.prove.planted import exchanged, mutants
from verify.prove.products import FreeMemory, FreeMultiplier
from verify.prove.subject import Speed, Subject
from verify.prove.subjects.functions import function_table

PLACES = 17
"""Of the way that is left in a segment so many bits reach the curve's multiplier, as decision 4 says."""


class ListedMemory(FreeMemory):
    """A ``FreeMemory`` that remembers which words it begins with."""

    def __init__(self, *, width: int, depth: int, init: Any, **others: Any) -> None:
        super().__init__(width=width, depth=depth)
        self.words, self.width = tuple(init), width


class InterpolationProof:
    """A pipeline, and the columns of its table's words in the order base, slope, curve."""

    def __init__(self, *, name: str, format: str, offset: int, tight: bool) -> None:
        self.table = table = function_table(name, Format.parse(format))
        self.b = b = Bench()
        options = {"tight": True} if tight else {"offset": offset}
        self.part = part = Interpolation(table, **options)
        with exchanged({Multiplier: FreeMultiplier, WordMemory: ListedMemory}):
            self.opened = b.add(Opened(part), "interpolation")
        b.drive(part)
        columns = [("base", table.base), ("slope", table.slope), ("curve", table.curve)]
        self.columns = columns if table.curve else columns[:2]
        self._split()

    def _split(self) -> None:
        """Take the word that the table shows apart, after checking that its words hold the table."""
        memory, low = self.opened.component("table"), 0
        shown = self.opened["table.read_data"]
        self.shown: dict[str, Any] = {}
        half = 1 << (self.table.guard - 1) if self.part.tight else 0
        sizes = {"base": self.part.base_bits, "slope": self.part.slope_bits, "curve": self.part.curve_bits}
        for column, entries in self.columns:
            size = sizes[column]
            more = half if column == "base" else 0
            held = [(word >> low & (1 << size) - 1) for word in memory.words]
            assert [word - (word >> size - 1 << size) for word in held] == [entry + more for entry in entries], column
            self.shown[column] = shown[low : low + size].as_signed()
            low += size
        assert low == memory.width

    def claim(self) -> None:
        """Claim the operands of both products, and what becomes of the products."""
        b, part, table, opened = self.b, self.part, self.table, self.opened
        b.claim("index", opened["table.read_address"] == part.index)
        place, factor, age = b.past(part.fraction, 2, "fraction"), self.shown["slope"], 3
        if table.curve:
            place, factor = self._claim_bend(place)
            age = 5
        b.claim("factor", opened["multiplier.a"] == factor, after=age)
        b.claim("place", opened["multiplier.b"] == place, after=age)
        product = opened["multiplier.product"]
        # A product with a place below one segment: two bits fewer than the multiplier could give.
        most = 1 << (part.bent_bits - 1 + table.shift)
        b.assume("product", (product >= -most) & (product < most))
        latency = 7 if table.curve else 5
        b.claim("latency", Const(part.latency == latency, 1))
        base = b.past(self.shown["base"], latency - 3, "base")
        half = 0 if part.tight else 1 << (table.shift + table.guard - 1)
        wide = Signal(signed(part.sum_bits + 4), name="total")
        b.m.d.comb += wide.eq((base << table.shift) + product + half)
        if part.tight:
            # The bounds of the table's values say that they fit; a free product may be beyond them.
            most = 1 << (part.sum_bits - 1)
            b.assume("within_the_table", (wide >= -most) & (wide < most))
            total = wide
        else:
            total = wide + (part.offset << table.shift)
        value = b.register(b.seen(total, "total_with_offset"), "past_total") >> (table.shift + table.guard)
        b.claim("value", part.value == value, after=latency + 1)

    def _claim_bend(self, place: Any) -> tuple[Any, Any]:
        """Claim the operands of the curve's product; return the place in the segment, and the slope that is bent."""
        b, table, opened, bits = self.b, self.table, self.opened, self.part.bent_bits
        kept = min(table.shift, PLACES)
        left = b.seen(((1 << table.shift) - 1 - place)[: table.shift] >> (table.shift - kept), "way_left")
        curve, slope = self.shown["curve"], self.shown["slope"]
        b.claim("curve", opened["bend.a"] == curve)
        b.claim("way_left", opened["bend.b"] == left, after=2)
        # A share of the curve from 0 to 1, and what the table holds of slopes and curves together.
        share = b.seen(opened["bend.product"] >> kept, "share")
        past = {name: b.past(value, 2, name) for name, value in (("curve", curve), ("slope", slope))}
        falls = past["curve"] < 0
        b.assume("share", Mux(falls, (share <= 0) & (share >= past["curve"]), (share >= 0) & (share <= past["curve"])))
        both, most = slope + curve, 1 << (bits - 1)
        b.assume("bent", (both >= -most) & (both < most))
        return b.past(place, 2, "place"), past["slope"] + share


def interpolation(*, name: str, format: str, offset: int = 1, tight: bool = False) -> Bench:
    """The pipeline of a function's table."""
    proof = InterpolationProof(name=name, format=format, offset=offset, tight=tight)
    proof.claim()
    return proof.b


PARABOLAS = mutants(
    "functions/interpolation.py",
    ("(~fraction)[cut:shift]", "fraction[cut:shift]"),
    ("bend.product >> (shift - cut)", "bend.product >> shift"),
    ("bent = slope + (bend", "bent = slope - (bend"),
    ('delayed(m, slope, Multiplier.LATENCY, name="slope")', 'delayed(m, slope, 1, name="slope")'),
    ('delayed(m, fraction, Multiplier.LATENCY, name="place")', "fraction"),
    ("products = 2 if table.curve else 1", "products = 1"),
)
CHORDS = mutants(
    "functions/interpolation.py",
    ("joined + (self.offset << table.shift) + half", "joined + self.offset + half"),
    ("half = 1 << (table.shift + table.guard - 1)", "half = 1 << (table.shift + table.guard)"),
    ("self.bent_bits, offset) + table.shift + 2", "self.bent_bits, offset) + table.shift"),
    ("base = memory.read_data[: self.base_bits].as_signed()", "base = memory.read_data[: self.base_bits]"),
)

SUBJECTS = tuple(
    Subject(
        group="function unit",
        name=f"interpolation along {what}",
        property="The table is read at the index. The slope, bent by the curve's product with the way that is left of "
        "the segment, reaches the multiplier with the place in the segment. The value is the base, the product and the "
        "offset, rounded half up. The table's words hold the table.",
        bounds=f"the table of {name} in {format}; products in the range of real ones, and words of the table, are free",
        build=partial(interpolation, name=name, format=format, **options),
        depth=10,
        speed=Speed.QUICK,
        mutants=planted,
        search=10,
    )
    for what, name, format, options, planted in (
        ("parabolas, q12.20", "sigmoid", "q12.20", {}, ()),
        ("parabolas with an offset, q8.24", "log", "q8.24", {"offset": 6}, PARABOLAS),
        ("chords with an offset, q6.10", "log", "q6.10", {"offset": 5}, CHORDS),
        ("tight chords, q6.10", "sigmoid", "q6.10", {"tight": True}, ()),
    )
)
