"""Multiply, accumulate, round, compare: the whole path of a lane or root against plain integers."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from amaranth.hdl import Module, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from tabla.hw.control import MacControl, limit_words
from tabla.hw.instruction import instruction_width
from tabla.hw.mac import Mac
from tabla.hw.pipeline import delayed, selected
from tabla.hw.rounder import POSTS, Rounder
from tabla.program.image import Parameters
from tabla.templates.instructions import operation_format
from tabla.templates.template import timing
from tests.hw.bench import corners, every_feature, played
from tests.sim.hand_assembler import parameters

FORMATS = [(8, 6), (16, 10), (32, 16)]


class Path(wiring.Component):
    """``MacControl``, ``Mac`` and ``Rounder`` wired as in a root: operands come with the operation."""

    def __init__(self, build: Parameters, addend_shifts: Sequence[int] | None = None) -> None:
        self.build = build
        self.addend_shifts = range(len(build.shifts)) if addend_shifts is None else addend_shifts
        bits = instruction_width("root_issue", build.far_shift_bits)
        word = signed(build.width)
        super().__init__(
            {
                **{name: In(1) for name in ("valid", "first", "last", "open")},
                "instruction": In(bits),
                "a": In(word),
                "b": In(word),
                "c": In(word),
                "tree": In(signed(build.accumulator)),
                "result": Out(word),
                "saturated": Out(1),
                "emit": Out(1),
                "accumulator": Out(signed(build.accumulator)),
                "inverted": Out(1),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        build = self.build
        m.submodules.control = control = MacControl(
            unit="root_issue", parameters=build, features=every_feature("root_issue")
        )
        m.submodules.mac = mac = Mac(
            width=build.width,
            accumulator=build.accumulator,
            shifts=build.shifts,
            addend_shifts=self.addend_shifts,
            tree=True,
            late=True,
            extremes=True,
        )
        m.submodules.rounder = rounder = Rounder(
            width=build.width, fraction=build.fraction, accumulator=build.accumulator, shifts=build.shifts
        )
        for name in ("valid", "first", "last", "open", "instruction"):
            m.d.comb += getattr(control, name).eq(getattr(self, name))
        operands = {name: delayed(m, getattr(self, name), 4, name=name) for name in "abc"}
        a_select, b_select, c_select = (
            delayed(m, getattr(control, f"{name}_select"), 2, name=f"{name}_select") for name in "abc"
        )
        late = {
            name: [delayed(m, getattr(control, name), cycles, name=f"{name}_{cycles}_") for cycles in range(8)]
            for name in ("invert", "half_all", "shift", "keep", "tree", "inverted", "issued", "post", "emit", "extreme")
        }
        lowest, highest = (delayed(m, getattr(control, name), 2, name=name) for name in ("lowest", "highest"))
        early, joins = (control.c_sources.index(name) for name in ("data", "late_result"))
        limits = selected(limit_words(build.width, lowest, highest), build.width)
        m.d.comb += [
            mac.a.eq(operands["a"] & a_select.any().replicate(build.width)),
            mac.b.eq(operands["b"] & b_select.any().replicate(build.width)),
            mac.addend.eq((operands["c"] & c_select[early].replicate(build.width)) | limits),
            mac.late_addend.eq(delayed(m, operands["c"] & c_select[joins].replicate(build.width), 1, name="joins")),
            mac.extreme.eq(late["extreme"][4]),
            mac.complement.eq(late["inverted"][4]),
            mac.take.eq(delayed(m, a_select.any(), 2, name="take")),
            mac.invert.eq(late["invert"][3]),
            mac.half.eq(late["half_all"][3]),
            mac.shift.eq(late["shift"][3]),
            mac.keep.eq(late["keep"][4]),
            mac.tree_select.eq(late["tree"][4]),
            mac.tree.eq(delayed(m, self.tree, 6, name="tree")),
            rounder.accumulator.eq(mac.accumulator),
            rounder.inverted.eq(late["inverted"][5]),
            rounder.shift.eq(late["shift"][5]),
            rounder.valid.eq(late["issued"][6]),
            rounder.post.eq(late["post"][6]),
            self.accumulator.eq(mac.accumulator),
            self.inverted.eq(late["inverted"][5]),
            self.result.eq(rounder.result),
            self.saturated.eq(rounder.saturated),
            self.emit.eq(late["emit"][7]),
        ]
        return m


@dataclass(kw_only=True)
class Step:
    """One cycle's operation; `valid` 0 is a bubble."""

    valid: int
    first: int
    last: int
    open: int
    fields: dict[str, Any]
    a: int
    b: int
    c: int
    tree: int

    def inputs(self) -> dict[str, int]:
        instruction = 0
        for field in operation_format("root_issue").fields:
            value = self.fields.get(field.name, 0)
            code = field.choices.index(value) if isinstance(value, str) else value
            instruction |= (code & ((1 << field.width) - 1)) << field.offset
        instruction |= self.fields["shift"] >> 2 << sum(f.width for f in operation_format("root_issue").fields)
        flags = {name: getattr(self, name) for name in ("valid", "first", "last", "open", "a", "b", "c", "tree")}
        return {**flags, "instruction": instruction}


HOLDS = {
    "<": lambda x: x < 0,
    "<=": lambda x: x <= 0,
    "==": lambda x: x == 0,
    "!=": lambda x: x != 0,
    ">=": lambda x: x >= 0,
    ">": lambda x: x > 0,
}


def expected(steps: list[Step], build: Parameters) -> list[tuple[int, int, int, int]]:
    """Accumulator, result, saturated, emit of each operation that is no bubble."""
    total, found = 0, []
    low, high = -(1 << (build.width - 1)), (1 << (build.width - 1)) - 1
    for step in steps:
        if not step.valid:
            continue
        f = step.fields
        shift = build.shifts[f["shift"]]
        half = (1 << shift >> 1) if f["half"] == "all" else 0
        start = total
        if step.first:
            match f["base"]:
                case "zero" if f["post"] == "extreme":
                    start = ((high if f["negate"] else low) << shift) + half
                case "zero":
                    start = half
                case "addend":
                    start = (step.c << shift) + half
                case "tree":
                    start = step.tree
        taken = f["a"] != "zero" and step.open
        product = step.a * step.b if taken else 0
        total = start - product if f["negate"] else start + product
        if f["post"] == "extreme":
            compared = min if f["negate"] else max
            total = compared(start, product) if taken else start
        value = total >> shift
        result, saturated = max(low, min(high, value)), int(not low <= value <= high)
        if f["post"] in HOLDS:
            result, saturated = (1 << build.fraction if HOLDS[f["post"]](total) else 0), 0
        found.append((total, result, saturated, int(step.last and f["emit"])))
    return found


def check(steps: list[Step], build: Parameters, addend_shifts: Sequence[int] | None = None) -> None:
    seen = played(Path(build, addend_shifts), [step.inputs() for step in steps], more=12)
    decode = MacControl.LATENCY
    accumulated, shown = decode + timing().accumulated, decode + timing().result
    at = [cycle for cycle, step in enumerate(steps) if step.valid]
    for cycle, (total, result, saturated, emit) in zip(at, expected(steps, build), strict=True):
        then = seen[cycle + accumulated]
        kept = ~then["accumulator"] if then["inverted"] else then["accumulator"]
        assert kept == total, cycle
        then = seen[cycle + shown]
        assert (then["result"], then["saturated"], then["emit"]) == (result, saturated, emit), (cycle, steps[cycle])


def step(chance: random.Random, words: list[int], **fixed: Any) -> Step:
    fields = {
        "a": chance.choice(["data", "data", "zero"]),
        "b": "data",
        "c": chance.choice(["data", "late_result"]),
        "negate": chance.randint(0, 1),
        "base": chance.choice(["zero", "accumulator", "addend", "tree"]),
        "half": chance.choice(["none", "all"]),
        "shift": chance.randint(0, 3),
        "post": chance.choice(POSTS),
        "emit": chance.randint(0, 1),
    }
    return Step(
        valid=int(chance.random() < 0.8),
        first=int(chance.random() < 0.6),
        last=chance.randint(0, 1),
        open=int(chance.random() < 0.8),
        fields=fields | fixed,
        a=chance.choice(words),
        b=chance.choice(words),
        c=chance.choice(words),
        tree=chance.choice(words) << chance.randint(0, 6),
    )


def wide(width: int, fraction: int) -> Parameters:
    # 20 bits of head room: up to a million random products in a row cannot wrap.
    return parameters(1, width=width, fraction=fraction, accumulator=2 * width + 20)


@pytest.mark.parametrize(("width", "fraction"), FORMATS)
def test_random_operations_with_bubbles(width: int, fraction: int) -> None:
    chance = random.Random(width)
    words = corners(width) + [chance.randrange(-(1 << (width - 1)), 1 << (width - 1)) for _ in range(40)]
    check([step(chance, words) for _ in range(3000)], wide(width, fraction))


@pytest.mark.parametrize("addend_shifts", [(1,), (1, 2), (1, 2, 3, 4, 5), (2, 3, 4, 5, 6, 1)])
def test_an_accumulator_is_as_wide_as_its_sums_and_not_as_its_shifts(addend_shifts: tuple[int, ...]) -> None:
    """Addends reach bit 36 and results bit 46, and the accumulator has 38 bits.

    Half a unit of a place without addends is added as everywhere, also where addends move through a barrel shifter.
    """
    shifts = (0, 10, 14, 1, 20, 12, 21, 28, 31)
    build = parameters(1, width=16, fraction=10, accumulator=38, shifts=shifts, far_shift_bits=2)
    chance = random.Random(len(addend_shifts))
    words = corners(16) + [chance.randrange(-(1 << 15), 1 << 15) for _ in range(40)]
    steps = []
    for _ in range(3000):
        made = step(chance, words, shift=chance.randrange(len(shifts)))
        if made.fields["base"] == "addend" or made.fields["post"] == "extreme":
            made.fields["shift"] = chance.choice(addend_shifts)
        made.first = int(made.first or chance.random() < 0.5)
        steps.append(made)
    check(steps, build, addend_shifts)


@pytest.mark.parametrize(("width", "fraction"), FORMATS)
def test_every_rounding_and_comparison_of_corner_products(width: int, fraction: int) -> None:
    chance = random.Random(1)
    build = wide(width, fraction)
    steps = []
    few = corners(width)[:: 3 if width > 8 else 1]
    for post in POSTS:
        for base in ("zero", "addend"):
            for negate in (0, 1):
                for a in few:
                    for b in few[::2]:
                        made = step(
                            chance, few, post=post, base=base, negate=negate, half="all", shift=1, a="data", emit=1
                        )
                        made.valid = made.first = made.open = 1
                        made.a, made.b = a, b
                        steps.append(made)
    check(steps, build)


def test_ties_go_up_for_both_senses() -> None:
    build = wide(16, 10)
    chance = random.Random(2)
    steps = []
    for a in range(-4, 5):
        for negate in (0, 1):
            made = step(chance, [0], post="none", base="zero", negate=negate, half="all", shift=1, a="data")
            made.valid = made.first = made.open = 1
            made.a, made.b = a, 512
            steps.append(made)
    check(steps, build)
    assert {expected([s], build)[0][1] for s in steps if s.a in (-1, 1)} == {0, 1}


def test_posts_are_those_of_the_records() -> None:
    for unit in ("lane_issue", "root_issue"):
        choices = next(f.choices for f in operation_format(unit).fields if f.name == "post")
        assert choices == POSTS
