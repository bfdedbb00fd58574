"""Roots of all shapes."""

from __future__ import annotations

from functools import partial
from typing import Any

from verify.prove.planted import mutants
from verify.prove.root_proof import root
from verify.prove.subject import Speed, Subject

# The tree's word with its half unit, and extremes.
ROOT = mutants(
    "root.py",
    ('Mux(at("inverted", of="tree_half"), -unit, unit)', "unit"),
    ('mac.take.eq(at("take").any())', "mac.take.eq(1)"),
    ('at("invert", of="tree_inverted") ^ (at("tree", of="tree_inverted") & tree_inverted)',
     'at("invert", of="tree_inverted")'),
)  # fmt: skip
WIDE = mutants(
    "root.py",
    ('Mux(at("issued"), at("wide_result", of="issued"), delayed(m, wide, 1, name="was_wide"))',
     'at("wide_result", of="issued")'),
    ("word = word[self.guard :]", "word = word[: -self.guard]"),
    ("stored = Cat(low, word)", "stored = Cat(Const(0, guard), word)"),
)  # fmt: skip
SEVERAL = mutants(
    "root.py",
    ("mac.tree_half.eq(self._tree_half(m, at))", "mac.tree_half.eq(0)"),
    ('tree_inverted = Mux(at("array", of="array_inverted"), self.array_inverted, tree_inverted)', "pass"),
)
# The rest is in all roots, and this one is proved soonest.
BESIDE = mutants(
    "root.py",
    ('at("invert", after=late) & ~at("tree", of="invert", after=late)', 'at("invert", after=late)'),
    ("tree_word.eq(Mux(own, self.tree, 0))", "tree_word.eq(self.tree)"),
    ("tree_outside = own & unlike(", "tree_outside = unlike("),
    ("place = self.shifts[0] + self.parameters.width - 1", "place = self.shifts[0] + self.parameters.width"),
    ('kept(m, at("keep", after=-1), name="own_keep")', 'at("keep", after=-1)'),
    ('Mux(from_tree, tree_sense, at("inverted", after=-1))', 'at("inverted", after=-1)'),
    ('with m.If(at("holds")):', 'with m.If(at("issued")):'),
    ("_moved(address, position, chosen)", "_moved(address, position, 1)"),
    ("_moved(address, position, self.write_scattered)", "address"),
    ("_moved(address, position, self.write_scattered)", "_moved(address, position, 1)"),
    ("_moved(address, position, self.write_scattered)",
     '_moved(address, delayed(m, position, 1, name="late_position"), self.write_scattered)'),
    ("_moved(address, position, self.write_scattered)",
     '_moved(address, position, delayed(m, self.write_scattered, 1, name="late_mark"))'),
    ("Mux(self.load_memory, self.load_address, address)", "address"),
    ('late = wanted("root_issue", "late_select")', 'late = wanted("root_issue", "late_select") - 1'),
    ('wanted("root_issue", "divisor") - wanted("root_issue", "b_select")', 'wanted("root_issue", "divisor")'),
    ('rounder.saturated & at("emit")', "rounder.saturated"),
    ("~(self.load_memory | of_function))\n        loaded", "~self.load_memory)\n        loaded"),
    ("Mux(self.load_memory, self.load_word, 0)", "self.load_word"),
    ('self.write & places["to_memory"] & places["model"]', 'self.write & places["model"]'),
    ('(self.write & places["to_memory"]) | self.load_memory', 'self.write & places["to_memory"]'),
    ("of_function & self.write if", "of_function if"),
)  # fmt: skip

SEVERAL_SIZES = {"pes": 2, "pes_per_pu": 1, "roots": 2}
SHAPES: tuple[tuple[str, str, tuple[int, ...], dict[str, Any], Any], ...] = (
    ("root, 8 bits", "", (0, 6, 10, 1), {}, ROOT),
    (
        "root with guard bits, 8 bits",
        ", 4 guard bits in the memory; no wide extremes, writes may be scattered",
        (6, 10, 0, 2),
        {
            "sizes": {"model_guard": 4, "wide_memories": ("root memory",), "wide_shifts": (3,), "scatters": True},
            "wide_sources": frozenset(("memory",)),
        },
        WIDE,
    ),
    (
        "one of several roots, 8 bits",
        ", of which operations have two; no extremes",
        (0, 6, 10, 1),
        {
            "sizes": SEVERAL_SIZES,
            "values": {"shift": ("1", "3"), "post": ("none", "<", ">=")},
            "addend_shifts": frozenset({1, 3}),
            "result_shifts": frozenset({1, 3}),
        },
        SEVERAL,
    ),
    (
        "one of several roots, tree beside the sum, 8 bits",
        ", results of shift 6, nothing is added to the tree's word, writes may be scattered",
        (0, 6, 10, 1),
        {
            "sizes": {**SEVERAL_SIZES, "scatters": True},
            "values": {"shift": ("1",), "post": ("none",)},
            "addend_shifts": frozenset({1}),
            "result_shifts": frozenset({1}),
            "tree_alone": True,
        },
        BESIDE,
    ),
)

SUBJECTS = tuple(
    Subject(
        group="root",
        name=name,
        property="The operands of decision 3.5 reach the multiplier, gathered and late ones too. The accumulator holds "
        "the start value, which may be the tree's word, plus or minus the products, or the extreme. The result is "
        "rounded once, and stays until the next one. Functions get their operands. The memories, the bus and the "
        "output get the word of a write, and a scattered write goes where the position says. Each event is told in its "
        "cycle.",
        bounds=f"8 bits, shifts {', '.join(map(str, shifts))}{also}; products, words of memories and values are free",
        build=partial(root, shifts=shifts, **changes),
        depth=11,
        speed=Speed.LONG if name in ("root, 8 bits", "root with guard bits, 8 bits") else Speed.QUICK,
        mutants=planted,
        search=11,
    )
    for name, also, shifts, changes, planted in SHAPES
)
