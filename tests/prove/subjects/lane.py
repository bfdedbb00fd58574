"""The lane with its decoder, against decision 3.3. Products and the words of memories are free."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from amaranth.hdl import Const, Mux, Signal, signed
from tabla.hw.control import EXTREME_WIRES, MAC_WIRES, MacControl, output_of
from tabla.hw.features import UnitFeatures
from tabla.hw.instruction import instruction_fields, instruction_width
from tabla.hw.lane import Lane, lane_shape
from tabla.hw.memory import WordMemory
from tabla.hw.multiplier import Multiplier
from tabla.hw.pipeline import padded
from tabla.hw.rounder import POSTS
from tabla.templates.instructions import operation_format
from tabla.templates.stages import wanted

from tests.hw.bench import every_feature
from tests.prove.bench import Bench, Opened
from tests.prove.planted import exchanged, mutants
from tests.prove.products import FreeMemory, FreeMultiplier
from tests.prove.subject import Speed, Subject
from tests.prove.subjects.rounder import holds, whole
from tests.sim.hand_assembler import parameters

UNITS = ("lane_issue", "lane_write", "stream")


def code(field: str, symbol: str) -> int:
    """Return the code of a symbol in a field of `lane_issue`."""
    return next(f.choices for f in operation_format("lane_issue").fields if f.name == field).index(symbol)


class LaneProof:
    """A lane that takes operations and writes in any order, and the sum that decision 3.3 gives it.

    An operation stands at the decoder in cycle *d*, so it issues in *t* = *d* + 2. In the lane of an overlay `program`
    has the numbers of those four of the shifts that the program's operations mean.
    """

    def __init__(
        self, *, width: int, fraction: int, shifts: tuple[int, ...], program: tuple[int, ...] = (), **changes: Any
    ) -> None:
        self.width, self.fraction = width, fraction
        self.shifts = tuple(shifts[number] for number in program) or shifts
        self.build = parameters(1, width=width, fraction=fraction, shifts=shifts)
        self.features: dict[str, UnitFeatures] = {unit: every_feature(unit) for unit in UNITS}
        every = dict.fromkeys(("addend_shifts", "result_shifts"), frozenset(range(len(shifts)))) if program else {}
        self.features["lane_issue"] = replace(self.features["lane_issue"], **every | changes)
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
        self.operation = {name: b.free(1, name) for name in ("valid", "first", "last", "open")}
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
            for wire in (*MAC_WIRES, *(EXTREME_WIRES if shape.extremes else ()))
        }
        self.others = {name: b.free(width, name) for name, width in shape.lane_controls.items() if name not in wires}
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

    def words(self) -> dict[str, Any]:
        """Return the operands that stand at the multiplexers now."""
        found = {name: self.opened[f"{name}_memory.read_data"] for name in self.shape.memories}
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
        word, beyond = whole(b, total, width, self.field("shift", 5), self.shifts, "result")
        compares, relation = holds(self.field("post", 5), total)
        word = b.register(b.register(Mux(compares, Mux(relation, 1 << self.fraction, 0), word), "word_6"), "word_7")
        beyond = b.register(b.register(beyond & ~compares, "beyond_6"), "beyond_7")
        load = self.others["load"]
        quiet = ~(self.after(load, 1, "load") | self.after(load, 2, "load"))
        issued = self.flag("valid", 7)
        b.claim("result", result == word, when=issued & quiet, after=12)
        counts = self.flag("valid", 7) & self.flag("last", 7) & self.field("emit", 7)
        counts = counts & self.after(self.others["active"], 7, "active")
        b.claim("overflow", self.lane.overflow == (beyond & counts), when=issued & quiet, after=12)
        loaded = self.after(self.stream["loaded"], 1, "loaded")
        passes = self.after(load, 1, "load") & self.after(load, 2, "load")
        b.claim("loaded_word", result == loaded.as_signed(), when=passes, after=12)

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
                word = self.stream["stream_word"]
            else:
                enable = loads & before(self.stream["stream_enable"], 2, "stream_enable")
                commanded = before(others[f"to_{name}"], 1, f"to_{name}")
                enable = enable | (commanded & before(others["write_active"], 1, "write_active"))
                word = Mux(others["write_bus"], others["bus"], result.as_unsigned())
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


def multiplier(*, width: int) -> Bench:
    """The multiplier, against the sum of shifted operands. It is the part that the proof of the lane cuts out."""
    b = Bench()
    part = b.add(Multiplier(left=width, right=width))
    b.drive(part)
    rows = [Mux(part.b[place], part.a << place, 0) for place in range(width - 1)]
    product = sum(rows, start=Const(0, signed(1))) - Mux(part.b[-1], part.a << (width - 1), 0)
    b.claim("product", part.product == b.past(b.seen(product, "sum_of_rows"), Multiplier.LATENCY, "rows"), after=2)
    return b


PRODUCT = mutants(
    "multiplier.py",
    ("a = Signal(signed(self.left), reset_less=True)", "a = Signal(self.left, reset_less=True)"),
    ("product.eq(a * b)", "product.eq(self.a * b)"),
)
MUTANTS = (
    mutants(
        "mac.py",
        ("word if moves else word ^ self._half_unit()", "word"),
        ("halves.setdefault(shift - 1, [])", "halves.setdefault(shift, [])"),
        ("word = word ^ inverts.replicate(width)", "word = word"),
        ("self.keep.replicate(width)) ^ other)", "self.keep.replicate(width)) | other)"),
        ("self.extreme & self.take & (before - compared)[-1]", "self.extreme & (before - compared)[-1]"),
        ("(added & adds).as_signed(), (half & adds)", "added, (half & adds)"),
        ("added ^ self.complement.replicate", "added & ~self.complement.replicate"),
        ("self._product ^ self._complement.replicate", "self._product & ~self._complement.replicate"),
    )
    + mutants(
        "lane.py",
        ("a_mask.eq(controls.a_select & active", "a_mask.eq(controls.a_select | active"),
        ('taken = wanted("lane_issue", "take") - stage_cycle("issue", "operand")', "taken = 1"),
        ("Lane.RESULT - emit, name", "Lane.RESULT - emit - 1, name"),
        ("later = delayed(m, self.stream_enable, 1,", "later = delayed(m, self.stream_enable, 2,"),
        ("load | (commands[name] & takes_part & int(written[name]))", "load | (commands[name] & int(written[name]))"),
    )
    + mutants(
        "control.py",
        ('flips = Mux(stage["loads"], stage["negate"], stage["negate"] ^ sense)', 'flips = stage["negate"] ^ sense'),
        ('limit & ~self._field("negate"), limit & self._field("negate")', "limit, limit & 0"),
        ('begins & ~self._is("base", "accumulator")', "begins"),
        ('with m.If(stage["issued"]):', 'with m.If(stage["issued"] & ~stage["loads"]):'),
    )
)
EARLY = mutants(
    "mac.py",
    ("addend.eq(self.addend ^ self.invert.replicate(self.addend_width))", "addend.eq(self.addend)"),
    ("Cat(fill.replicate(shift), addend,", "Cat(Const(0, shift), addend,"),
)

MANY = mutants(
    "mac.py",
    ("Cat(self.half, joined)", "Cat(Const(0, 1), joined)"),
    ("others, last = [], least - 1", "others, last = [], least"),
    ("distance(self.shift, self.shifts)", "distance(self.shift, self.shifts[::-1])"),
) + mutants(
    "barrel.py",
    ("word[-1].replicate(places)", "Const(0, places)"),
    ("(2, one & two)", "(2, two)"),
    ("(0, one | two)", "(0, one)"),
    ("beyond.append(~by[bit] & unlike(word[rest:]))", "beyond.append(unlike(word[rest:]))"),
    ("[unlike(word[reach:])] if len(word) > reach else []", "[]"),
)

PROPERTY = (
    "The operands of decision 3.3 reach the multiplier, masked by guard and gate. The accumulator holds the start "
    "value plus or minus the products, or the extreme. The result is rounded once. An overflow counts if the lane is "
    "active and the operation emits. Each memory gets the addresses and the words of the data sheet, in their cycles."
)
SUBJECTS = tuple(
    Subject(
        group="lane",
        name=name,
        property=PROPERTY,
        bounds=f"{width} bits, shifts {', '.join(map(str, shifts))}; products and words of memories are free",
        build=partial(lane, width=width, fraction=fraction, shifts=shifts, **changes),
        depth=14,
        solver=solver,
        speed=speed,
        mutants=planted,
        search=14,
    )
    for name, width, fraction, shifts, changes, solver, speed, planted in (
        ("lane, 8 bits", 8, 6, (0, 6, 10, 1), {}, "yices", Speed.QUICK, MUTANTS),
        ("lane, 16 bits", 16, 10, (0, 10, 14, 1), {}, "yices", Speed.LONG, ()),
        (
            "lane of an overlay, 8 bits",
            8,
            6,
            (6, 7, 8, 9, 10, 11, 12, 13),
            {"program": (7, 0, 5, 2)},
            "yices",
            Speed.QUICK,
            MANY,
        ),
        (
            "lane of one addend shift, 8 bits",
            8,
            6,
            (0, 6, 10, 1),
            {"addend_shifts": frozenset({1})},
            "yices",
            Speed.QUICK,
            EARLY,
        ),
    )
)
SUBJECTS += (
    Subject(
        group="lane",
        name="multiplier",
        property="The product is the sum of the shifted operands, two cycles later.",
        bounds="5 bits",
        build=partial(multiplier, width=5),
        depth=3,
        speed=Speed.TEST,
        mutants=PRODUCT,
        search=4,
    ),
)
