"""From an operation's fields to the control wires of a multiply-accumulate pipeline, for lanes and roots alike."""

from collections.abc import Sequence
from typing import Any

from amaranth.hdl import Array, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from tabla.hw.features import UnitFeatures
from tabla.hw.instruction import instruction_fields, instruction_width
from tabla.hw.predicting import described
from tabla.program.image import Parameters
from tabla.templates.instructions import OperationFormat, operation_format


def sources(form: OperationFormat, field: str, features: UnitFeatures) -> tuple[str, ...]:
    """Return the operand sources of a field in use, in the order of their codes. `zero` needs no wire."""
    choices = next(f.choices for f in form.fields if f.name == field)
    return tuple(c for c in choices if c != "zero" and features.uses(field, c))


def limit_words(width: int, lowest: Any, highest: Any, guard: int = 0) -> list[tuple[Any, Any]]:
    """Return the least and the greatest word, each with the wire that makes it the start value of an extreme. Below a
    word there are `guard` zeros.
    """
    half = 1 << (width - 1)
    return [(Const(word << guard, width + guard), wire) for word, wire in ((half, lowest), (half - 1, highest))]


MAC_WIRES = (
    "a_select",
    "b_select",
    "c_select",
    "invert",
    "half_all",
    "half_lane0",
    "start_shift",
    "keep",
    "inverted",
    "shift",
    "issued",
    "post",
    "emit",
)
"""The wires of the stage table that ``MacControl`` decodes for every lane."""

WIDE_WIRES = ("wide_select",)
"""The wire that ``MacControl`` decodes too where operations take addends with guard bits."""

EXTREME_WIRES = ("lowest", "highest", "extreme", "complement")
"""The wires that ``MacControl`` decodes too where operations keep the larger or smaller word."""

_OUTPUT_OF = {
    "start_shift": "shift",
    "complement": "inverted",
    "take": "a_select",
    "late_select": "c_select",
    "tree_select": "tree",
}


def output_of(wire: str) -> str:
    """Return the output of ``MacControl`` that carries a wire of the stage table.

    One output may be wanted in several cycles. The table then has a name for each of them.
    """
    return _OUTPUT_OF.get(wire, wire)


_PREDICTING = """
predict : In(1), stable between restarts
    The array predicts.
learns, function_learns : In(1)
    While the array predicts, `emit` is 0 for an operation that `learns`, and `function_code` for one with
    `function_learns`, which only a root has.
"""


class MacControl(wiring.Component):
    """Decodes an operation of `lane_issue` or `root_issue` into operand selects, start value and sense of the sum.

    An operation of cycle *t* shows decoded in cycle *t* + ``LATENCY``. It takes one operation a cycle. In a cycle
    without an operation the wires select no operand and keep the sum as it is.

    Members
    -------
    valid, first, last, open : In(1), instruction : In(Inst)
        As a ``Sequencer`` gives them.
    a_select, b_select, c_select : Out(one bit for each of `a_sources`, `b_sources`, `c_sources`)
    invert, half_all, half_lane0, half_array0, keep, tree, array, tree_half : Out(1), shift : Out(2)
        As ``Mac`` takes them; `tree`: the start value is a tree's word; `array`: that of the whole array.
    inverted : Out(1)
        The sum of this operation is kept as its complement.
    issued : Out(1), post : Out(3), emit : Out(1)
        As ``Rounder`` takes them; `emit`: a saturated result counts.
    function_code : Out(4)
        0, or the function that takes this operation's result.
    wide : In(1), wide_result : Out(1), with wide models
        The operation has guard bits.
    wide_select : Out(one bit for each of `wide_sources`), if the program has addends with guard bits
    holds : Out(1), if the program has operations whose result is kept as a position
    extreme, lowest, highest : Out(1), if the program has operations that keep the larger or smaller word
        As ``Mac`` takes `extreme`; the start value is the least or the greatest word, with the addend's timing.
    """

    LATENCY = 2

    def __init__(
        self, *, unit: str, parameters: Parameters, features: UnitFeatures, shifts: Sequence[Any] = ()
    ) -> None:
        self.unit = unit
        # In an overlay the registers that hold the numbers of a program's shifts.
        self.shifts = shifts
        self.form = operation_format(unit)
        self.a_sources = sources(self.form, "a", features)
        self.b_sources = sources(self.form, "b", features)
        self.c_sources = sources(self.form, "c", features)
        self.wide_sources = tuple(sorted(features.wide_sources))
        members: dict[str, Any] = {name: In(1) for name in ("valid", "first", "last", "open")}
        members["instruction"] = In(instruction_width(unit, parameters.far_shift_bits))
        members |= {
            f"{operand}_select": Out(max(1, len(names)))
            for operand, names in (("a", self.a_sources), ("b", self.b_sources), ("c", self.c_sources))
        }
        halves = ("half_all", "half_lane0", "half_array0", "tree_half")
        single = ("invert", *halves, "keep", "tree", "array", "inverted", "issued", "emit")
        members |= {name: Out(1) for name in single}
        self.shift_bits = parameters.shift_bits
        members |= {"shift": Out(self.shift_bits), "post": Out(3), "function_code": Out(4)}
        self.guard = parameters.model_guard
        if self.guard:
            members |= {"wide": In(1), "wide_result": Out(1)}
        if self.wide_sources:
            members |= {"wide_select": Out(len(self.wide_sources))}
        self.extremes = features.uses("post", "extreme")
        if self.extremes:
            members |= {"extreme": Out(1), "lowest": Out(1), "highest": Out(1)}
        self.holds_positions = features.uses("b", "position")
        if self.holds_positions:
            members |= {"holds": Out(1)}
        self.marks = self.form.predicting if parameters.predicts else ()
        if self.marks:
            self.data_sheet = described(self, _PREDICTING)
            members |= {"predict": In(1), **dict.fromkeys(self.marks, In(1))}
        super().__init__(members)

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        begins = Signal()
        m.d.comb += begins.eq(self.valid & self.first)
        fresh = begins & (self._is("base", "zero") | self._is("base", "addend"))

        # First register: what one operation alone determines.
        once: dict[str, Any] = {
            "loads": begins & ~self._is("base", "accumulator"),
            "negate": self._field("negate"),
            "tree": begins & (self._is("base", "tree") | self._is("base", "array")),
            "array": begins & self._is("base", "array"),
            "half_all": fresh & self._is("half", "all"),
            "half_lane0": fresh & self._is("half", "lane0"),
            "half_array0": fresh & self._is("half", "array0"),
            "tree_half": begins & self._is("half", "all") & (self._is("base", "tree") | self._is("base", "array")),
            "issued": self.valid,
            "emit": self._counted("learns", self.valid & self.last & self._field("emit")),
        }
        if self.extremes:
            extreme = self._is("post", "extreme")
            limit = begins & self._is("base", "zero") & extreme
            once["extreme"] = self.valid & extreme
            once["lowest"], once["highest"] = limit & ~self._field("negate"), limit & self._field("negate")
        if self.guard:
            once["wide_result"] = self.valid & self.wide
        if self.holds_positions:
            once["holds"] = self.valid & self.last & self._is("b", "position")
        stage = {}
        for name, value in once.items():
            stage[name] = Signal(name=f"decoded_{name}")
            m.d.sync += stage[name].eq(value)
        shift = Signal(self.shift_bits, name="decoded_shift", reset_less=True)
        post = Signal(3, name="decoded_post", reset_less=True)
        function = Signal(4, name="decoded_function")
        m.d.sync += [shift.eq(self._shift()), post.eq(self._field("post"))]
        if "function" in (field.name for field in self.form.fields):
            applies = self._counted("function_learns", self.valid & self.last)
            m.d.sync += function.eq(Mux(applies, self._field("function"), 0))
        selects = {
            "a": (self.a_sources, self.valid & self.open),
            "b": (self.b_sources, 1),
            "c": (self.c_sources, begins & self._is("base", "addend")),
        }
        if self.guard:
            names, adds = selects["c"]
            selects["c"] = names, adds & ~self.wide
            if self.wide_sources:
                selects["wide"] = self.wide_sources, adds & self.wide
        for operand, (names, condition) in selects.items():
            select = Signal(max(1, len(names)), name=f"decoded_{operand}_select")
            for index, name in enumerate(names):
                m.d.sync += select[index].eq(self._is("c" if operand == "wide" else operand, name) & condition)
            m.d.sync += getattr(self, f"{operand}_select").eq(select)

        # Second register: what depends on how the last operation left the sum.
        sense = Signal()
        with m.If(stage["issued"]):
            m.d.sync += sense.eq(stage["negate"])
        flips = Mux(stage["loads"], stage["negate"], stage["negate"] ^ sense)
        m.d.sync += [
            self.keep.eq(~stage["loads"]),
            self.invert.eq(flips & stage["issued"]),
            self.half_all.eq(stage["half_all"]),
            self.half_lane0.eq(stage["half_lane0"]),
            self.half_array0.eq(stage["half_array0"]),
            self.tree.eq(stage["tree"]),
            self.array.eq(stage["array"]),
            self.tree_half.eq(stage["tree_half"]),
            self.issued.eq(stage["issued"]),
            self.emit.eq(stage["emit"]),
            self.shift.eq(shift),
            self.post.eq(post),
            self.function_code.eq(function),
        ]
        limits = ("extreme", "lowest", "highest") if self.extremes else ()
        more = (("holds",) if self.holds_positions else ()) + (("wide_result",) if self.guard else ())
        for name in (*limits, *more):
            m.d.sync += getattr(self, name).eq(stage[name])
        m.d.comb += self.inverted.eq(sense)
        return m

    def _counted(self, mark: str, value: Any) -> Any:
        """Return a bit that is 0 for operations with a mark while the array predicts, and otherwise `value`."""
        return value & ~(self.predict & getattr(self, mark)) if mark in self.marks else value

    def _shift(self) -> Any:
        """Return the number of the operation's shift in the table of the hardware."""
        field = self._field("shift")
        return Array(self.shifts)[field] if self.shifts else field

    def _field(self, name: str) -> Any:
        return instruction_fields(self.unit, self.instruction)[name]

    def _is(self, field: str, symbol: str) -> Any:
        """Return whether the field holds the symbol. A symbol that the unit does not know is never held."""
        choices = next(f.choices for f in self.form.fields if f.name == field)
        return self._field(field) == choices.index(symbol) if symbol in choices else 0
