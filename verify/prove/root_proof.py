"""The root with its decoder, against decision 3.5. Products, words of memories and values of functions are free."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import reduce
from operator import or_
from types import MappingProxyType
from typing import Any

from amaranth.hdl import Cat, Const, Mux, Signal, signed
from amaranth.lib import wiring

from tabla.hw.control import MacControl
from tabla.hw.features import Features
from tabla.hw.function_unit import FunctionUnit
from tabla.hw.instruction import instruction_fields, instruction_width
from tabla.hw.memory import WordMemory
from tabla.hw.multiplier import Multiplier
from tabla.hw.root import Root
from tabla.hw.rounder import POSTS
from tabla.templates.instructions import operation_format
from tests.hw.bench import every_feature
from tests.sim.hand_assembler import parameters
from verify.prove.bench import Bench, Opened
from verify.prove.planted import exchanged
from verify.prove.products import FreeFunctions, FreeMemory, FreeMultiplier
from verify.prove.subjects.rounder import holds, whole

SETTLED = 10
"""After so many cycles all registers are those of operations that the bench knows."""


def code(field: str, symbol: str) -> int:
    """Return the code of a symbol in a field of `root_issue`."""
    return next(f.choices for f in operation_format("root_issue").fields if f.name == field).index(symbol)


class RootProof:
    """A root that takes operations and writes in any order, and what decision 3.5 makes of them.

    An operation stands at the decoder in cycle *d*, so it issues in *u* = *d* + 2. `sizes` are those in which the build
    differs from a plain one, `values` the symbols that operations use of some fields, and `tree_alone` says that
    nothing is added to the tree's word.
    """

    def __init__(
        self,
        *,
        shifts: tuple[int, ...],
        sizes: Mapping[str, Any] = MappingProxyType({}),
        values: Mapping[str, Collection[str]] = MappingProxyType({}),
        tree_alone: bool = False,
        **changes: Any,
    ) -> None:
        self.width, self.fraction, self.shifts = 8, 6, shifts
        self.build = parameters(**{"pes": 1, "width": 8, "fraction": 6, "shifts": shifts, **sizes})
        self.guard, self.several = self.build.model_guard, self.build.roots > 1
        issue = every_feature("root_issue")
        bases = {"base": issue.values["base"] - (set() if self.several else {"array"})}
        used = {**issue.values, **bases, **{name: frozenset(symbols) for name, symbols in values.items()}}
        issue = replace(issue, values=used, **changes)
        self.features = Features(
            units={"root_issue": issue, "root_write": every_feature("root_write")},
            tree_half=not tree_alone,
            tree_alone=tree_alone,
        )
        self.b = b = Bench()
        self.control = MacControl(unit="root_issue", parameters=self.build, features=issue)
        parts = {Multiplier: FreeMultiplier, WordMemory: FreeMemory, FunctionUnit: FreeFunctions}
        with exchanged(parts):
            self.root = Root(parameters=self.build, features=self.features, control=self.control)
            self.opened = Opened(self.root)
        b.add(self.opened, "root")
        b.add(self.control, "control")
        self._delays: dict[tuple[int, int], Any] = {}
        self._wide: Any = None
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

    def _is(self, field: str, symbol: str, cycle: int) -> Any:
        return self.field(field, cycle) == code(field, symbol)

    def _connect(self) -> None:
        """Give each operation to the decoder, and free words and writes to the root."""
        b, root = self.b, self.root
        wide = ("wide",) if self.guard else ()
        self.operation = {name: b.free(1, name) for name in ("valid", "first", "last", "open", *wide)}
        instruction = b.free(instruction_width("root_issue"), "instruction")
        parts = instruction_fields("root_issue", instruction)
        self.fields = {name: b.seen(value, f"field_{name}") for name, value in parts.items()}
        for name, value in (self.operation | {"instruction": instruction}).items():
            b.m.d.comb += getattr(self.control, name).eq(value)
        for name in root.control_wires:
            b.m.d.comb += getattr(root.control, name).eq(getattr(self.control, name))
        self.inputs = {}
        for path, member, port in root.signature.flatten(root):
            if member.flow == wiring.In and path[0] != "control":
                name = str(path[0])
                self.inputs[name] = b.free(port.shape(), f"given_{name}")
                b.m.d.comb += port.eq(self.inputs[name])
        write = instruction_fields("root_write", self.inputs["write_instruction"])
        self.writes = {name: b.seen(value, f"write_{name}") for name, value in write.items()}
        self._assume()

    def _assume(self) -> None:
        """Assume what schedules and features say of the operations."""
        b, fields, issue = self.b, self.fields, self.features["root_issue"]
        for name, symbols in issue.values.items():
            choices = next(f.choices for f in operation_format("root_issue").fields if f.name == name)
            codes = [choices.index(symbol) if choices else int(symbol) for symbol in symbols]
            b.assume(f"{name}_is_used", reduce(or_, (fields[name] == each for each in codes)))
        b.assume("no_write_of_a_load", ~self.inputs["write"], when=self.inputs["load_memory"])
        if not self.several:
            # A value is 0 unless it ends in this cycle, and nothing is computed while models load.
            b.assume(
                "no_value_of_a_load", self.value == 0, when=self.after(self.inputs["load_memory"], 1, "load_memory")
            )
        takes_tree = self.takes_tree = b.seen(
            reduce(or_, (fields["base"] == code("base", base) for base in ("tree", "array"))), "is_of_the_tree"
        )
        if "extreme" in issue.values["post"]:
            extreme = fields["post"] == POSTS.index("extreme")
            b.assume("no_half_of_extremes", fields["half"] == 0, when=takes_tree & extreme)
        if self.features.tree_alone:
            self._assume_tree_alone()
        if self.several:
            taken = self.flag("valid", 4) & self.flag("first", 4) & self._is("base", "array", 4)
            b.assume("no_array_word", self.inputs["array"] == 0, when=~taken)
        if self.guard:
            of_wide = reduce(or_, (fields["shift"] == number for number in self.build.wide_shifts))
            b.assume("shifts_of_wide_operations", of_wide == self.operation["wide"])
            adds = self.operation["wide"] & (fields["base"] == code("base", "addend"))
            from_wide = reduce(or_, (fields["c"] == code("c", name) for name in self.control.wide_sources))
            b.assume("sources_of_wide_addends", from_wide, when=adds)
            b.assume("no_wide_extremes", fields["post"] != POSTS.index("extreme"), when=self.operation["wide"])

    def _assume_tree_alone(self) -> None:
        """Assume that no operation adds to the tree's word, as ``Features`` says."""
        b, fields, valid = self.b, self.fields, self.operation["valid"]
        alone = (fields["a"] == code("a", "zero")) & (fields["half"] == 0) & self.operation["first"]
        b.assume("nothing_with_the_tree", alone, when=valid & self.takes_tree)
        was_tree = self.was_tree = Signal(name="the_sum_is_the_tree")
        with b.m.If(valid):
            b.m.d.sync += was_tree.eq(self.takes_tree)
        goes_on = ~self.operation["first"] | (fields["base"] == code("base", "accumulator"))
        b.assume("nothing_after_the_tree", ~goes_on, when=valid & was_tree)

    @property
    def result(self) -> Any:
        """The word of the result register."""
        return self.opened["rounder.result"][self.guard :].as_signed()

    @property
    def value(self) -> Any:
        """The word of the function register."""
        return self.opened["functions.value"]

    def _read(self, memory: str, operand: str) -> Any:
        """Return what an operand's copy of a memory shows."""
        return self.opened[f"{memory}_{operand}.read_data"]

    def _word(self, operand: str, cycle: int, *, late: bool = False) -> Any:
        """Return the word that a field chose, of the operation that issued `cycle` cycles ago, as it stands now."""
        chosen = Signal(signed(self.width), name=f"{'late_' if late else ''}word_{operand}")
        symbols = sorted(self.features["root_issue"].values[operand] - {"zero"})
        with self.b.m.Switch(self.field(operand, cycle)):
            for symbol in symbols:
                if symbol.startswith("late_") != late:
                    continue
                with self.b.m.Case(code(operand, symbol)):
                    self.b.m.d.comb += chosen.eq(self._source(symbol, operand))
        return chosen

    def _source(self, symbol: str, operand: str) -> Any:
        name = symbol.removeprefix("gathered_").removeprefix("late_")
        match name:
            case "one" | "position":
                return Const(1 << self.fraction, signed(self.width))
            case "result":
                return self.result
            case "function":
                return self.value
        extra = self.guard if operand == "c" and name in self.control.wide_sources else 0
        return self._read(name, operand)[extra:].as_signed()

    def taken(self, cycle: int) -> Any:
        """Return whether the product of the operation that issued `cycle` cycles ago counts."""
        return self.flag("valid", cycle) & self.flag("open", cycle) & ~self._is("a", "zero", cycle)

    def claim_operands(self) -> None:
        """Claim where operands are read, and which of them reach the multiplier."""
        b = self.b
        for operand in "abc":
            counts = self.flag("valid", 0)
            symbols = self.features["root_issue"].values[operand]
            for memory in ("data", "memory"):
                if not {memory, f"gathered_{memory}"} & symbols:
                    continue
                base, address = self.inputs[f"{operand}_address"], self.opened[f"{memory}_{operand}.read_address"]
                b.claim(f"address_{memory}_{operand}", address == base[: len(address)],
                        when=counts & self._is(operand, memory, 0))  # fmt: skip
                if f"gathered_{memory}" in symbols:
                    moved = (base + self.opened["position"])[: len(address)]
                    b.claim(f"gathered_{memory}_{operand}", address == moved,
                            when=self.taken(0) & self._is(operand, f"gathered_{memory}", 0), after=SETTLED)  # fmt: skip
        takes = b.seen(self.taken(2), "takes_part")
        a, right = self.opened["mac.multiplier.a"], self.opened["mac.multiplier.b"]
        self.word_b = b.seen(self._word("b", 2), "operand_b")
        b.claim("operand_a", a == Mux(takes, self._word("a", 2), 0), after=SETTLED)
        b.claim("operand_b", right == self.word_b, when=self.flag("valid", 2), after=SETTLED)

    def start(self) -> Any:
        """Return the start value of the operation that issued 4 cycles ago, if it does not start from its sum."""
        b, shape = self.b, signed(self.build.accumulator)
        c = b.register(b.register(self._word("c", 2), "word_c_1"), "word_c_2")
        if self.guard:
            wide_c = Signal(signed(self.width + self.guard), name="wide_word_c")
            with b.m.Switch(self.field("c", 2)):
                for name in self.control.wide_sources:
                    with b.m.Case(code("c", name)):
                        b.m.d.comb += wide_c.eq(self._read(name, "c"))
            c = Mux(self.flag("wide", 4), b.register(b.register(wide_c, "wide_c_1"), "wide_c_2"), c)
        if any(symbol.startswith("late_") for symbol in self.features["root_issue"].values["c"]):
            late = reduce(or_, (self._is("c", name, 4) for name in ("late_result", "late_function")))
            c = Mux(late, b.register(self._word("c", 3, late=True), "late_word_c_1"), c)
        lowest, highest = -(1 << (self.width - 1)), (1 << (self.width - 1)) - 1
        limit = Mux(self.field("negate", 4), Const(highest, shape), Const(lowest, shape))
        start = Signal(shape, name="start_value")
        word = Mux(self._is("base", "addend", 4), c, Mux(self.extreme(4), limit, 0))
        sums = ("tree", "array") if self.several else ("tree",)
        from_tree = [(self._is("base", base, 4), self._whole_sum(base)) for base in sums]
        halves = self._is("half", "all", 4)
        with b.m.Switch(self.field("shift", 4)):
            for number, places in enumerate(self.shifts):
                with b.m.Case(number):
                    found = word << places
                    for taken, total in from_tree:
                        found = Mux(taken, total, found)
                    b.m.d.comb += start.eq(found + Mux(halves, (1 << places) >> 1, 0))
        return start

    def _whole_sum(self, name: str) -> Any:
        """Return the tree's or the array's word without its complement."""
        sense = self.after(self.inputs[f"{name}_inverted"], 1, f"{name}_inverted")
        return Mux(sense, ~self.inputs[name], self.inputs[name])

    def extreme(self, cycle: int) -> Any:
        """Return whether the operation that issued `cycle` cycles ago keeps the larger or smaller word."""
        if "extreme" not in self.features["root_issue"].values["post"]:
            return Const(0, 1)
        return self.field("post", cycle) == POSTS.index("extreme")

    def total(self) -> Any:
        """Claim what the accumulator holds, and return the sum of the operation that issued 5 cycles ago."""
        b, shape = self.b, signed(self.build.accumulator)
        total, before = Signal(shape, name="total", reset_less=True), Signal(shape, name="before")
        product, negate = self.opened["mac.multiplier.product"], self.field("negate", 4)
        keeps = ~self.flag("first", 4) | self._is("base", "accumulator", 4)
        b.m.d.comb += before.eq(Mux(keeps, total, self.start()))
        better = Mux(negate, product < before, product > before)
        largest = Mux(self.taken(4) & better, product, before)
        added = Mux(negate, before - product, before + product)
        with b.m.If(self.flag("valid", 4)):
            b.m.d.sync += total.eq(Mux(self.extreme(4), largest, added))
        sense = self.after(self.control.inverted, 5, "wire_inverted")
        accumulator = self.opened["mac.accumulator"]
        shown = b.seen(Mux(sense, ~accumulator, accumulator), "accumulator")
        if self.root.beside:
            # The tree's word passes the accumulator by.
            b.claim("accumulator", shown == total, when=~self.after(self.was_tree, 6, "was_tree"))
        else:
            b.claim("accumulator", shown == total)
        return total

    def claim_results(self, total: Any) -> None:
        """Claim the result register, and what is told with it."""
        b, issued = self.b, self.flag("valid", 7)
        result, width = self.opened["rounder.result"], self.width
        words = [self._rounded(total, width, "word")]
        word, beyond = words[0]
        wide = self.flag("wide", 7) if self.guard else Const(0, 1)
        b.claim("result", self.result == word, when=issued & ~wide, after=SETTLED)
        if self.guard:
            wide_word, wide_beyond = self._rounded(total, width + self.guard, "wide_word")
            b.claim("wide_result", result == wide_word, when=issued & wide, after=SETTLED)
            beyond = Mux(wide, wide_beyond, beyond)
        b.claim("result_stays", result == b.register(result, "past_result"), when=~issued, after=SETTLED)
        ends = issued & self.flag("last", 7)
        b.claim("overflow", self.root.overflow == (ends & self.field("emit", 7) & beyond), after=SETTLED)
        if "position" in self.features["root_issue"].values["b"]:
            position = Signal(signed(width), name="kept_position", reset_less=True)
            known = Signal(name="position_is_known")
            with b.m.If(ends & self._is("b", "position", 7) & b.older_than(SETTLED)):
                b.m.d.sync += [position.eq(self.result), known.eq(1)]
            b.claim("position", self.opened["position"] == position, when=known)

    def _rounded(self, total: Any, width: int, name: str) -> tuple[Any, Any]:
        """Return the word of the operation that issued 7 cycles ago, in so many bits, and whether it did not fit."""
        b = self.b
        word, beyond = whole(b, total, width, self.field("shift", 5), self.shifts, name)
        compares, relation = holds(self.field("post", 5), total)
        word = Mux(compares, Mux(relation, 1 << (self.fraction + width - self.width), 0), word)
        word, beyond = (b.register(value, f"{name}_6_{n}") for n, value in enumerate((word, beyond & ~compares)))
        return b.register(word, f"{name}_7_word"), b.register(beyond, f"{name}_7_beyond")

    def claim_functions(self) -> None:
        """Claim what the function unit is given, and what it tells."""
        b, root = self.b, self.root
        ends = self.flag("valid", 7) & self.flag("last", 7)
        given = {name: self.opened[f"functions.{name}"] for name in ("code", "operand", "divisor")}
        b.claim("function", given["code"] == Mux(ends, self.field("function", 7), 0), after=SETTLED)
        b.claim("operand_of_functions", given["operand"] == self.result)
        divisor = self.after(self.word_b, 5, "divisor")
        b.claim("divisor", given["divisor"] == divisor, when=self.flag("valid", 7), after=SETTLED)
        b.claim("function_overflow", root.function_overflow == self.opened["functions.overflow"])
        b.claim("domain_error", root.domain_error == self.opened["functions.domain_error"])

    def claim_writes(self) -> None:
        """Claim what reaches the memories, the bus and the output."""
        b, root, guard = self.b, self.root, self.guard
        then = {name: self.after(value, 1, f"given_{name}") for name, value in self.inputs.items()}
        write = {name: then["write"] & self.after(value, 1, f"write_{name}") for name, value in self.writes.items()}
        source = self.after(self.writes["source"], 1, "write_source_field")
        word = b.seen(Mux(source, self.value, self.result).as_unsigned(), "word_to_write")
        loads, load_word = then["load_memory"], then["load_word"]
        self._claim_copies(write, then, Mux(loads, load_word[guard:], word), loads | write["to_memory"])
        models = write["to_memory"] & self.after(self.writes["model"], 1, "write_model_field")
        b.claim("update", root.update == models, after=2)
        leaves = b.register(write["to_output"], "past_to_output")
        b.claim("output_valid", root.output_valid == leaves, after=3)
        leaving = word
        if guard:
            leaving = Mux(then["write_wide"], Cat(self.guards(source), Const(0, self.width - guard)), word)
        b.claim("output", root.output_word == b.register(leaving, "past_leaving"), when=leaves, after=SETTLED)
        bus, moves = root.bus, b.register(write["to_bus"], "past_to_bus")
        b.claim("bus", bus == b.register(word, "past_word_to_write"), when=moves, after=SETTLED)
        b.claim("bus_stays", bus == b.register(bus, "past_bus"), when=~moves, after=3)

    def guards(self, source: Any) -> Any:
        """Return the guard bits of the word that is to be written: those of a wide result, otherwise zeros."""
        if self._wide is None:
            b, wide = self.b, Signal(name="result_was_wide")
            self._wide = b.seen(Mux(self.flag("valid", 7), self.flag("wide", 7), wide), "shown_result_is_wide")
            b.m.d.sync += wide.eq(self._wide)
            known = b.register(self.opened["result_is_wide"], "past_result_is_wide")
            b.claim("wide_as_the_result", known == self._wide)
        return Mux(self._wide & ~source, self.opened["rounder.result"][: self.guard], 0)

    def _claim_copies(self, write: Mapping[str, Any], then: Mapping[str, Any], word: Any, enable: Any) -> None:
        """Claim that all copies of a memory are written alike."""
        b, guard = self.b, self.guard
        base = self.inputs["write_address"]
        if self.build.scatters:
            moved = (base + self.opened["position"])[: len(base)]
            base = Mux(self.inputs["write_scattered"], moved, base)
        where = Mux(then["load_memory"], then["load_address"], b.register(base, "past_place_of_write"))
        low = None
        if guard:
            low = Mux(then["load_memory"], then["load_word"][:guard],
                      self.guards(self.after(self.writes["source"], 1, "write_source_field")))  # fmt: skip
        for operand in "abc":
            symbols = self.features["root_issue"].values[operand]
            for memory in ("data", "memory"):
                if not {memory, f"gathered_{memory}"} & symbols:
                    continue
                ports = ("write_enable", "write_address", "write_data")
                port = {each: self.opened[f"{memory}_{operand}.{each}"] for each in ports}
                name = f"{memory}_{operand}"
                size = len(port["write_address"])
                if memory == "data":
                    b.claim(f"{name}_write", port["write_enable"] == then["load_data"], after=2)
                    b.claim(f"{name}_place", port["write_address"] == then["load_address"][:size], after=2)
                    b.claim(f"{name}_word", port["write_data"] == then["load_word"][guard:], after=2)
                    continue
                b.claim(f"{name}_write", port["write_enable"] == enable, after=2)
                b.claim(f"{name}_place", port["write_address"] == where[:size], when=enable, after=2)
                wide = operand == "c" and memory in self.control.wide_sources
                wanted = Cat(low, word) if wide else word
                b.claim(f"{name}_word", port["write_data"] == wanted, when=enable, after=SETTLED)


def root(*, shifts: tuple[int, ...], **changes: Any) -> Bench:
    """The whole root."""
    proof = RootProof(shifts=shifts, **changes)
    proof.claim_operands()
    proof.claim_results(proof.total())
    proof.claim_functions()
    proof.claim_writes()
    return proof.b
