"""The rounder: saturation and comparisons, for all sums, shifts and formats, against arithmetic of integers."""

from __future__ import annotations

from functools import partial
from typing import Any

from amaranth.hdl import Const, Mux, Signal, signed

from tabla.hw.rounder import POSTS, Rounder
from verify.prove.bench import Bench
from verify.prove.planted import mutants
from verify.prove.subject import Speed, Subject


def whole(b: Bench, value: Any, width: int, shift: Any, shifts: tuple[int, ...], name: str) -> tuple[Any, Any]:
    """Return ``value >> shifts[shift]`` as a word of `width` bits, saturated, and whether it did not fit."""
    moved = Signal(value.shape(), name=f"{name}_moved")
    with b.m.Switch(shift):
        for index, places in enumerate(shifts):
            with b.m.Default() if index == len(shifts) - 1 else b.m.Case(index):
                b.m.d.comb += moved.eq(value >> places)
    most = (1 << (width - 1)) - 1
    high, low = moved > most, moved < ~most
    word = Signal(signed(width), name=f"{name}_word")
    b.m.d.comb += word.eq(Mux(high, most, Mux(low, ~most, moved)))
    return word, high | low


def holds(post: Any, total: Any) -> tuple[Any, Any]:
    """Return whether the code of a post is one of a comparison with zero, and whether the comparison holds."""
    relations = {
        "<": total < 0,
        "<=": total <= 0,
        "==": total == 0,
        "!=": total != 0,
        ">=": total >= 0,
        ">": total > 0,
    }
    compares, result = Const(0, 1), Const(0, 1)
    for name, relation in relations.items():
        asked = post == POSTS.index(name)
        compares, result = compares | asked, result | (asked & relation)
    return compares, result


def full(*, width: int, fraction: int, shifts: tuple[int, ...], loads: bool) -> Bench:
    """A rounder with all its posts."""
    b = Bench(resets=True)
    bits = 2 * width + 12
    rounder = b.add(Rounder(width=width, fraction=fraction, accumulator=bits, shifts=shifts, loads=loads))
    b.drive(rounder)
    total = b.seen(Mux(rounder.inverted, ~rounder.accumulator, rounder.accumulator), "total")
    b.assume("a_shift_of_the_table", rounder.shift < len(shifts))
    word, beyond = whole(b, total, width, rounder.shift, shifts, "now")
    word, beyond, total = (b.register(v, n) for v, n in ((word, "word"), (beyond, "beyond"), (total, "total_before")))
    compares, relation = holds(rounder.post, total)
    load, loaded = (rounder.load, rounder.loaded) if loads else (Const(0, 1), Const(0, width))
    load_before = b.register(load, "load_before")
    plainly = ~load & ~load_before
    passes = load & load_before & (rounder.post == 0)
    if loads:
        b.assume("loaded_only_with_load", load | (loaded == 0))
    one = 1 << fraction
    # What the next cycle shows.
    expected = Signal(signed(width), reset_less=True)
    saturated = Signal(reset_less=True)
    known = Signal()
    b.m.d.sync += known.eq(known & ~rounder.valid | (rounder.valid & (plainly | passes) & b.older_than(1)))
    with b.m.If(rounder.valid):
        b.m.d.sync += [
            expected.eq(Mux(passes, loaded.as_signed(), Mux(compares, Mux(relation, one, 0), word))),
            saturated.eq(beyond & ~compares & ~passes),
        ]
    b.claim("result", b.seen(rounder.result, "result") == expected, when=known)
    b.claim("saturated", b.seen(rounder.saturated, "saturated") == saturated, when=known)
    held = b.register(~rounder.valid, "held")
    b.claim("keeps", rounder.result == b.register(rounder.result, "result_before"), when=held)
    b.claim("keeps_saturated", rounder.saturated == b.register(rounder.saturated, "saturated_before"), when=held)
    return b


def plain(*, width: int, shift: int, joins: bool) -> Bench:
    """A rounder of a single shift, without logic before its word."""
    b = Bench(resets=True)
    bits = 2 * width + 12
    rounder = b.add(
        Rounder(
            width=width,
            fraction=10,
            accumulator=bits,
            shifts=(shift,),
            posts=("none",),
            loads=True,
            plain=True,
            joins=joins,
        )
    )
    b.drive(rounder)
    raw = rounder.accumulator
    if joins:
        raw = raw | rounder.joined
        b.assume("one_of_two", (rounder.accumulator == 0) | (rounder.joined == 0))
        b.assume("its_own_flag", rounder.joined_outside == whole(b, rounder.joined, width, 0, (shift,), "joined")[1])
    total = b.seen(Mux(rounder.inverted, ~raw, raw), "total")
    word, beyond = whole(b, total, width, 0, (shift,), "now")
    word, beyond = b.register(word, "word"), b.register(beyond, "beyond")
    passes = b.register(rounder.load, "load_before")
    b.assume("loaded_only_with_load", passes | (rounder.loaded == 0))
    expected, saturated = Signal(signed(width), reset_less=True), Signal(reset_less=True)
    known = Signal()
    with b.m.If(rounder.valid):
        b.m.d.sync += [expected.eq(Mux(passes, rounder.loaded.as_signed(), word)), saturated.eq(beyond)]
        b.m.d.sync += known.eq(b.older_than(1))
    b.claim("result", b.seen(rounder.result, "result") == expected, when=known)
    b.claim("saturated", b.seen(rounder.saturated, "saturated") == saturated, when=known)
    return b


FULL = mutants(
    "rounder.py",
    ("word.eq(_from(sum_, shift, self.width))", "word.eq(_from(sum_, shift + 1, self.width))"),
    ("Const(~most_positive, signed(self.width))", "Const(-most_positive, signed(self.width))"),
    ('"<=": negative | zero', '"<=": negative'),
    ("differ(above, self._reach - 1)", "differ(above + 1, self._reach - 1)"),
    ("if shift + self.width - 1 < above", "if shift + self.width < above - 9"),
    ("kept ^ self.inverted.replicate", "kept & ~self.inverted.replicate"),
    ("m.d.sync += [word.eq(0), outside.eq(0)]", "m.d.sync += [word.eq(0)]"),
    ("zero.eq(sum_ == 0)", "zero.eq(sum_[1:] == 0)"),
)
PLAIN = mutants(
    "rounder.py",
    ("flips = self.inverted ^ (beyond & ~total[-1])", "flips = self.inverted ^ beyond"),
    ("word[-1] | outside)", "word[-1])"),
    ("late.eq(beyond)", "late.eq(outside)"),
    ("outside.eq(Mux(load, 0, beyond))", "outside.eq(beyond)"),
    ("beyond | self.joined_outside", "beyond"),
    ("accumulator[self.shifts[0] + self.width - 1 :]", "accumulator[self.shifts[0] + self.width :]"),
)

MANY = mutants(
    "barrel.py",
    ("(place - least) >> bit & 1", "place >> bit & 1"),
    ("(3, Const(0, 1))", "(3, one & two)"),
    ("(1, two)", "(1, one)"),
    ("word[1 << bit :], word[:rest]", "word[1 << bit :], word[1 : rest + 1]"),
    ("[unlike(word[reach:])] if len(word) > reach else []", "[]"),
    ("(2, one & two)", "(2, one)"),
)
SCATTERED = mutants("barrel.py", ("sign.replicate(max(0, reach - len(word)))", "Const(0, max(0, reach - len(word)))"))
MUTATED = {(0, 10, 14, 20): FULL, tuple(range(10, 18)): MANY, (33, 0, 9, 4, 20): SCATTERED}

ALL_POSTS = (
    "The result is the sum, shifted right and saturated, or ONE or 0 by its comparison with zero; `saturated` says "
    "whether it did not fit; both stay while `valid` is low; a loaded word passes."
)
SUBJECTS = tuple(
    Subject(
        group="rounder",
        name=f"rounder, {width} bits" + (f", {len(shifts)} shifts" if len(shifts) > 4 else ""),
        property=ALL_POSTS,
        bounds=f"accumulators of {2 * width + 12} bits, shifts {', '.join(map(str, shifts))}",
        build=partial(full, width=width, fraction=fraction, shifts=shifts, loads=True),
        depth=3,
        solver="z3",
        speed=Speed.TEST if shifts in MUTATED else Speed.QUICK,
        mutants=MUTATED.get(shifts, ()),
        search=4,
    )
    for width, fraction, shifts in (
        (8, 6, (0, 6, 10, 1)),
        (16, 10, (0, 10, 14, 20)),
        (32, 16, (0, 16, 20, 1)),
        # More than a multiplexer chooses from, in one row and scattered, with sums that end above and in the last word.
        (16, 10, tuple(range(10, 18))),
        (16, 10, (33, 0, 9, 4, 20)),
    )
) + tuple(
    Subject(
        group="rounder",
        name=f"plain rounder{', of two words' if joins else ''}, {width} bits",
        property="The result is the sum, shifted right and saturated; a word from elsewhere takes its place, and hides "
        "no overflow.",
        bounds=f"accumulators of {2 * width + 12} bits, shift 10",
        build=partial(plain, width=width, shift=10, joins=joins),
        depth=3,
        solver="z3",
        speed=Speed.TEST if joins else Speed.QUICK,
        mutants=PLAIN if joins else (),
        search=4,
    )
    for width in (16,)
    for joins in (False, True)
)
