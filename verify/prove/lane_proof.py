"""The lane with its decoder, against decision 3.3. Products and the words of memories are free."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import reduce
from operator import and_, or_
from types import MappingProxyType
from typing import Any

from amaranth.hdl import Const, Mux, Signal, signed

from tabla.hw.control import EXTREME_WIRES, MAC_WIRES, WIDE_WIRES, MacControl, output_of
from tabla.hw.features import UnitFeatures
from tabla.hw.instruction import instruction_fields, instruction_width
from tabla.hw.lane import Lane, lane_shape
from tabla.hw.memory import WordMemory
from tabla.hw.multiplier import Multiplier
from tabla.hw.pipeline import above, padded
from tabla.hw.rounder import POSTS
from tabla.templates.instructions import operation_format
from tabla.templates.stages import wanted
from tests.hw.bench import every_feature
from tests.sim.hand_assembler import parameters
from verify.prove.bench import Bench, Opened
from verify.prove.planted import exchanged
from verify.prove.products import FreeMemory, FreeMultiplier
from verify.prove.subjects.rounder import holds, whole

UNITS = ("lane_issue", "lane_write", "stream")


def code(field: str, symbol: str) -> int:
    """Return the code of a symbol in a field of `lane_issue`."""
    return next(f.choices for f in operation_format("lane_issue").fields if f.name == field).index(symbol)


class LaneProof:
    """A lane that takes operations and writes in any order, and the sum that decision 3.3 gives it.

    An operation stands at the decoder in cycle *d*, so it issues in *t* = *d* + 2. In the lane of an overlay `program`
    has the numbers of those four of the shifts that the program's operations mean. `sizes` are those in which the build
    differs from a plain one, and `posts` what operations make of their results.
    """

    def __init__(
        self,
        *,
        width: int,
        fraction: int,
        shifts: tuple[int, ...],
        program: tuple[int, ...] = (),
        sizes: Mapping[str, Any] = MappingProxyType({}),
        posts: Collection[str] = POSTS,
        **changes: Any,
    ) -> None:
        self.width, self.fraction = width, fraction
        self.shifts = tuple(shifts[number] for number in program) or shifts
        self.build = parameters(**{"pes": 1, "width": width, "fraction": fraction, "shifts": shifts, **sizes})
        self.guard = self.build.lane_guard
        self.features: dict[str, UnitFeatures] = {unit: every_feature(unit) for unit in UNITS}
        every = dict.fromkeys(("addend_shifts", "result_shifts"), frozenset(range(len(shifts)))) if program else {}
        issue = self.features["lane_issue"]
        values = {**issue.values, "post": frozenset(posts)}
        self.features["lane_issue"] = replace(issue, values=values, **every | changes)
        self.shape = lane_shape(self.build, self.features)
        self.b = b = Bench()
        with exchanged({Multiplier: FreeMultiplier, WordMemory: FreeMemory}):
            lane = Lane(self.shape)
            self.opened = Opened(lane)
        self.lane = lane
        b.add(self.opened, "lane")
        self.control = b.add(
            MacControl(
                unit="lane_issue",
                parameters=self.build,
                features=self.features["lane_issue"],
                shifts=[Const(number, self.build.shift_bits) for number in program],
            ),
            "control",
        )
        # What a sequencer gives with an operation.
        wide = ("wide",) if self.guard else ()
        self.operation = {name: b.free(1, name) for name in ("valid", "first", "last", "open", *wide)}
        instruction = b.free(instruction_width("lane_issue"), "instruction")
        self.fields = {
            name: b.seen(value, f"field_{name}")
            for name, value in instruction_fields("lane_issue", instruction).items()
        }
        for name, value in self.operation.items():
            b.m.d.comb += getattr(self.control, name).eq(value)
        b.m.d.comb += self.control.instruction.eq(instruction)
        self._delays: dict[tuple[int, int], Any] = {}
        self._connect()

    def after(self, value: Any, cycles: int, name: str) -> Any:
        """Return a value as it stood so many cycles ago; the same registers serve all."""
        known = self._delays.setdefault((id(value), cycles), None)
        if known is None:
            known = value
            if cycles > 0:
                known = self.b.register(self.after(value, cycles - 1, name), f"past_{name}_{cycles}")
            self._delays[id(value), cycles] = known
        return known

    def field(self, name: str, cycle: int) -> Any:
        """Return a field of the operation that issued `cycle` cycles ago."""
        return self.after(self.fields[name], cycle + MacControl.LATENCY, name)

    def flag(self, name: str, cycle: int) -> Any:
        """Return what the sequencer gave with the operation that issued `cycle` cycles ago."""
        return self.after(self.operation[name], cycle + MacControl.LATENCY, name)

    def _connect(self) -> None:
        """Give each wire of the decoder to the lane in its own cycle, and all other wires freely."""
        b, lane, shape = self.b, self.lane, self.shape
        wires = {
            wire: self.after(getattr(self.control, output_of(wire)), wanted("lane_issue", wire), f"wire_{wire}")
            for wire in (
                *MAC_WIRES,
                *(EXTREME_WIRES if shape.extremes else ()),
                *(WIDE_WIRES if shape.wide_sources else ()),
            )
        }
        self.others = {name: b.free(width, name) for name, width in shape.lane_controls.items() if name not in wires}
        if shape.bus_through:
            load = self.after(self.others["through"], 1, "through")
        else:
            load = self.others["load"]
            wires["issued"] = wires["issued"] | load
            wires["post"] = Mux(load, 0, wires["post"])
        for name, width in shape.lane_controls.items():
            value = wires[name] if name in wires else self.others[name]
            b.m.d.comb += getattr(lane.controls, name).eq(padded(value, width))
        self.stream = {
            name: b.free(getattr(lane, name).shape(), name) for name in ("stream_enable", "stream_word", "loaded")
        }
        for name, value in self.stream.items():
            b.m.d.comb += getattr(lane, name).eq(value)
        self.number = b.fixed(8, "lane_number")
        b.m.d.comb += lane.lane.eq(self.number)
        for name in ("b", "base"):
            choices = next(f.choices for f in operation_format("lane_issue").fields if f.name == name)
            b.assume(f"{name}_has_a_code", self.fields[name] < len(choices))
        b.assume("loaded_only_with_load", load | (self.stream["loaded"] == 0))
        if self.guard:
            self._assume_wide()
        if shape.plain:
            one = self.fields["shift"] == min(shape.result_shifts)
            b.assume("one_shift_of_results", one, when=self.fields["emit"])
            b.assume("no_posts", self.fields["post"] == 0)

    def _assume_wide(self) -> None:
        """Assume of wide operations what decision 3.14 says of them."""
        b, shift = self.b, self.fields["shift"]
        of_wide = reduce(or_, (shift == number for number in self.build.wide_shifts))
        b.assume("shifts_of_wide_operations", of_wide == self.operation["wide"])
        from_wide = reduce(or_, (self.fields["c"] == code("c", name) for name in self.shape.wide_sources))
        adds = self.operation["wide"] & (self.fields["base"] == code("base", "addend"))
        b.assume("sources_of_wide_addends", from_wide, when=adds)
        b.assume("no_wide_extremes", self.fields["post"] != POSTS.index("extreme"), when=self.operation["wide"])

    def words(self) -> dict[str, Any]:
        """Return the operands that stand at the multiplexers now."""
        extra = self.shape.extra
        found = {name: self.opened[f"{name}_memory.read_data"][extra(name) :] for name in self.shape.memories}
        return {name: value.as_signed() for name, value in found.items()} | {
            "bus": self.others["bus"].as_signed(),
            "one": Const(1 << self.fraction, signed(self.width)),
            "zero": Const(0, signed(self.width)),
        }

    def operand(self, field: str, cycle: int, name: str) -> Any:
        """Return the word that a field chose, of the operation that issued `cycle` cycles ago."""
        words, chosen = self.words(), Signal(signed(self.width), name=name)
        choices = next(f.choices for f in operation_format("lane_issue").fields if f.name == field)
        with self.b.m.Switch(self.field(field, cycle)):
            for number, symbol in enumerate(choices):
                with self.b.m.Case(number):
                    self.b.m.d.comb += chosen.eq(words[symbol])
        return chosen

    def wide_addend(self) -> Any:
        """Return the addend with guard bits that a wide operation of 2 cycles ago has in an active lane."""
        word = Signal(signed(self.width + self.guard), name="wide_operand_c")
        with self.b.m.If(self.after(self.others["active"], 2, "active")):
            with self.b.m.Switch(self.field("c", 2)):
                for name in self.shape.wide_sources:
                    with self.b.m.Case(code("c", name)):
                        self.b.m.d.comb += word.eq(self.opened[f"{name}_memory.read_data"])
        return word

    def taken(self, cycle: int) -> Any:
        """Return whether the product of the operation that issued `cycle` cycles ago counts."""
        takes = self.flag("valid", cycle) & self.flag("open", cycle)
        return (
            takes & self.after(self.others["active"], cycle, "active") & (self.field("a", cycle) != code("a", "zero"))
        )

    def claim_operands(self) -> None:
        """Claim which operands reach the multiplier."""
        b, a, right = self.b, self.opened["mac.multiplier.a"], self.opened["mac.multiplier.b"]
        takes = b.seen(self.taken(2), "takes_part")
        wanted_a, wanted_b = self.operand("a", 2, "operand_a"), self.operand("b", 2, "operand_b")
        b.claim("operand_a", a == Mux(takes, wanted_a, 0), after=10)
        b.claim("operand_b", right == wanted_b, when=takes, after=10)

    def start(self) -> Any:
        """Return the start value of the operation that issued 4 cycles ago, if it does not start from its sum."""
        b, width = self.b, self.build.accumulator
        shape = signed(width)
        c = b.register(b.register(self.operand("c", 2, "operand_c"), "operand_c_1"), "operand_c_2")
        if self.guard:
            wide = b.register(b.register(self.wide_addend(), "wide_operand_c_1"), "wide_operand_c_2")
            c = Mux(self.flag("wide", 4), wide, c)
        half_field = self.field("half", 4)
        first_lane = self.number == 0
        halves = (half_field == code("half", "all")) | (first_lane & (half_field == code("half", "lane0")))
        lowest, highest = -(1 << (self.width - 1)), (1 << (self.width - 1)) - 1
        extreme = self.field("post", 4) == POSTS.index("extreme") if self.shape.extremes else Const(0, 1)
        limit = Mux(self.field("negate", 4), Const(highest, shape), Const(lowest, shape))
        adds = self.field("base", 4) == code("base", "addend")
        start = Signal(shape, name="start_value")
        with b.m.Switch(self.field("shift", 4)):
            for number, places in enumerate(self.shifts):
                with b.m.Case(number):
                    half = Mux(halves, (1 << places) >> 1, 0)
                    word = Mux(adds, c, Mux(extreme, limit, 0))
                    b.m.d.comb += start.eq((word << places) + half)
        return start

    def claim_sums(self) -> Any:
        """Claim what the accumulator holds, and return the sum of the operation that issued 5 cycles ago."""
        b, shape = self.b, signed(self.build.accumulator)
        total = Signal(shape, name="total", reset_less=True)
        product = self.opened["mac.multiplier.product"]
        keeps = ~self.flag("first", 4) | (self.field("base", 4) == code("base", "accumulator"))
        before = Signal(shape, name="before")
        b.m.d.comb += before.eq(Mux(keeps, total, self.start()))
        extreme = self.field("post", 4) == POSTS.index("extreme") if self.shape.extremes else Const(0, 1)
        negate = self.field("negate", 4)
        better = Mux(negate, product < before, product > before)
        largest = Mux(self.taken(4) & better, product, before)
        added = Mux(negate, before - product, before + product)
        with b.m.If(self.flag("valid", 4)):
            b.m.d.sync += total.eq(Mux(extreme, largest, added))
        sense = self.after(self.control.inverted, wanted("lane_issue", "inverted"), "wire_inverted")
        shown = b.seen(Mux(sense, ~self.lane.accumulator, self.lane.accumulator), "accumulator")
        b.claim("accumulator", shown == total)
        return total

    def claim_results(self, total: Any) -> None:
        """Claim the result register, and when an overflow counts."""
        b, width = self.b, self.width
        result = self.opened["rounder.result"]
        words = [self._rounded(total, width, "result")]
        if self.guard:
            words.append(self._rounded(total, width + self.guard, "wide_result"))
        word, beyond = words[0]
        loads = self._passes()
        quiet = ~reduce(or_, loads)
        issued, wide = self.flag("valid", 7), self.flag("wide", 7) if self.guard else Const(0, 1)
        right = issued & quiet
        if self.shape.plain:
            right = right & (self.field("shift", 7) == min(self.shape.result_shifts))
        b.claim("result", result[self.guard :].as_signed() == word, when=right & ~wide, after=12)
        if self.guard:
            b.claim("wide_result", result == words[1][0], when=right & wide, after=12)
            beyond = Mux(wide, words[1][1], beyond)
        counts = issued & self.flag("last", 7) & self.field("emit", 7) & self.after(self.others["active"], 7, "active")
        # What passes hides no overflow of lanes of several roots.
        seen = issued if self.shape.plain else issued & quiet
        b.claim("overflow", self.lane.overflow == (beyond & counts), when=seen, after=12)
        loaded = self.after(self.stream["loaded"], 1, "loaded")
        b.claim("loaded_word", result == loaded.as_signed(), when=reduce(and_, loads), after=12)

    def _passes(self) -> tuple[Any, ...]:
        """Return the wires, as they stood, that let a word from elsewhere take the place of this cycle's result."""
        if self.shape.bus_through:
            return (self.after(self.others["through"], 2, "through"),)
        return tuple(self.after(self.others["load"], cycle, "load") for cycle in (1, 2))

    def _rounded(self, total: Any, width: int, name: str) -> tuple[Any, Any]:
        """Return the word of the operation that issued 7 cycles ago, in so many bits, and whether it did not fit."""
        b = self.b
        word, beyond = whole(b, total, width, self.field("shift", 5), self.shifts, name)
        compares, relation = holds(self.field("post", 5), total)
        word = Mux(compares, Mux(relation, 1 << (self.fraction + width - self.width), 0), word)
        word, beyond = (b.register(value, f"{name}_6_{n}") for n, value in enumerate((word, beyond & ~compares)))
        return b.register(word, f"{name}_7_word"), b.register(beyond, f"{name}_7_beyond")

    def claim_memories(self) -> None:
        """Claim what reaches each memory: addresses, and the words that are written."""
        b, others = self.b, self.others
        result, before = self.opened["rounder.result"], self.after
        for name in self.shape.memories:
            ports = ("read_address", "write_enable", "write_address", "write_data")
            port = {each: self.opened[f"{name}_memory.{each}"] for each in ports}
            b.claim(f"{name}_read_address", port["read_address"] == others[f"{name}_address"])
            b.claim(f"{name}_write_address", port["write_address"] == others[f"{name}_write_address"])
            loads = before(others[f"stream_to_{name}"], 1, f"stream_to_{name}")
            if name == "data":
                enable = loads & before(self.stream["stream_enable"], 1, "stream_enable")
                word = self.stream["stream_word"][self.guard :]
            else:
                enable = loads & before(self.stream["stream_enable"], 2, "stream_enable")
                commanded = before(others[f"to_{name}"], 1, f"to_{name}")
                enable = enable | (commanded & before(others["write_active"], 1, "write_active"))
                word = result.as_unsigned()
                if not self.shape.bus_through:
                    word = Mux(others["write_bus"], above(others["bus"], self.guard), word)
                word = word[self.guard - self.shape.extra(name) :]
            b.claim(f"{name}_write_enable", port["write_enable"] == enable, after=3)
            b.claim(f"{name}_write_data", port["write_data"] == word)


def lane(*, width: int, fraction: int, shifts: tuple[int, ...], **changes: Any) -> Bench:
    """The whole lane."""
    proof = LaneProof(width=width, fraction=fraction, shifts=shifts, **changes)
    if "addend_shifts" in changes:
        (index,) = changes["addend_shifts"]
        adds = (proof.fields["base"] == code("base", "addend")) | (proof.fields["post"] == POSTS.index("extreme"))
        proof.b.assume("one_shift_of_addends", ~adds | (proof.fields["shift"] == index))
    proof.claim_operands()
    total = proof.claim_sums()
    proof.claim_results(total)
    proof.claim_memories()
    return proof.b
