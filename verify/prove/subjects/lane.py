"""Lanes of all shapes, and the multiplier that their proof cuts out."""

from __future__ import annotations

from functools import partial

from amaranth.hdl import Const, Mux, signed

from tabla.hw.multiplier import Multiplier
from verify.prove.bench import Bench
from verify.prove.lane_proof import lane
from verify.prove.planted import mutants
from verify.prove.subject import Speed, Subject


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
        ("word if together else word ^ self._half_unit()", "word"),
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
    ("others, last = [], min(self.places) - together", "others, last = [], min(self.places)"),
    ("distance(self.shift, self.places)", "distance(self.shift, self.places[::-1])"),
) + mutants(
    "barrel.py",
    ("word[-1].replicate(places)", "Const(0, places)"),
    ("(2, one & two)", "(2, two)"),
    ("(0, one | two)", "(0, one)"),
    ("beyond.append(~by[bit] & unlike(word[rest:]))", "beyond.append(unlike(word[rest:]))"),
    ("[unlike(word[reach:])] if len(word) > reach else []", "[]"),
)

WIDE = (
    mutants(
        "lane.py",
        ("wide_mask.eq(controls.wide_select & takes_part)", "wide_mask.eq(controls.wide_select)"),
        ("word[extra:] if (extra", "word[: -extra] if (extra"),
        ("data if extra == shape.guard else data[shape.guard :]", "data"),
        ("word = above(controls.bus, shape.guard)", "word = controls.bus"),
        ("(mac.addend, shape.c_sources, controls.c_select, limits, shape.guard)",
         "(mac.addend, shape.c_sources, controls.c_select, limits, 0)"),
        ("fraction=parameters.fraction + shape.guard", "fraction=parameters.fraction"),
        ("shifts = self.parameters.shift_places(self.guard)", "shifts = self.parameters.shifts"),
    )
    + mutants(
        "mac.py",
        ("addend, shift = addend[-shift:], 0", "shift = 0"),
        ("self.places = places or shifts", "self.places = shifts"),
    )
    + mutants("control.py", ('selects["c"] = names, adds & ~self.wide', 'selects["c"] = names, adds'))
)  # fmt: skip
PLAIN = (
    mutants(
        "rounder.py",
        ("flips = self.inverted ^ (beyond & ~total[-1])", "flips = self.inverted ^ beyond"),
        ("late.eq(beyond)", "late.eq(outside)"),
        ("flip.eq(Mux(load, 0, flips))", "flip.eq(flips)"),
    )
    + mutants(
        "lane.py",
        ("load = controls.through if shape.bus_through else controls.load",
         "load = controls.invert if shape.bus_through else controls.load"),
        ("rounder.valid.eq(1 if shape.bus_through else controls.issued)", "rounder.valid.eq(controls.emit)"),
        ("(shifts[min(self.result_shifts, default=0)],) if self.plain", "(shifts[0],) if self.plain"),
        ('data = word if written[name] or (shape.through and name != "data")', 'data = word if name != "interim"'),
    )
)  # fmt: skip

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
        bounds=f"{width} bits, shifts {', '.join(map(str, shifts))}{also}; products and words of memories are free",
        build=partial(lane, width=width, fraction=fraction, shifts=shifts, **changes),
        depth=14,
        solver=solver,
        speed=speed,
        mutants=planted,
        search=14,
    )
    for name, width, fraction, shifts, also, changes, solver, speed, planted in (
        ("lane, 8 bits", 8, 6, (0, 6, 10, 1), "", {}, "yices", Speed.QUICK, MUTANTS),
        ("lane, 16 bits", 16, 10, (0, 10, 14, 1), "", {}, "yices", Speed.LONG, ()),
        (
            "lane of an overlay, 8 bits",
            8,
            6,
            (6, 7, 8, 9, 10, 11, 12, 13),
            "",
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
            "",
            {"addend_shifts": frozenset({1})},
            "yices",
            Speed.QUICK,
            EARLY,
        ),
        (
            "lane with guard bits, 8 bits",
            8,
            6,
            (6, 10, 0, 2),
            ", 4 guard bits in `model` and `interim`; no wide extremes",
            {
                "sizes": {"model_guard": 4, "wide_memories": ("model", "interim"), "wide_shifts": (3,)},
                "wide_sources": frozenset(("model", "interim")),
            },
            "yices",
            Speed.QUICK,
            WIDE,
        ),
        (
            "lane of several roots, 8 bits",
            8,
            6,
            (0, 6, 10, 1),
            ", results of shift 6",
            {
                "sizes": {"pes": 2, "pes_per_pu": 1, "roots": 2},
                "posts": ("none",),
                "result_shifts": frozenset({1}),
            },
            "yices",
            Speed.QUICK,
            PLAIN,
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
