"""Division: exhaustive for 8 bits, and for 16 an invariant of each step, which is schoolbook division."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import product
from math import floor, trunc
from typing import Any

from amaranth.hdl import Cat, Const, Mux, Signal, signed

from tabla.hw.functions.pipeline import REGISTER
from tabla.hw.functions.quotient import Quotient
from tests.hw.bench import played
from verify.prove.bench import Bench, Opened
from verify.prove.exhaustion import Exhaustion
from verify.prove.planted import mutants
from verify.prove.subject import Speed, Subject


def steps(*, width: int, fraction: int, whole: bool) -> Bench:
    """Claim of each stage that its remainder is below the divisor, and what its bit of the quotient took away.

    A stage whose bit is 0 took the divisor away all the same: it holds r - divisor, and its sign says so. Let r be the
    remainder behind a stage and q the quotient so far. With the next bit d of the dividend, the next stage has r' = 2 r
    + d - b * divisor and q' = 2 q + b, and 0 <= r' < divisor. So after the last stage dividend = q * divisor + r with
    0 <= r < divisor, which says that q is the quotient rounded down.
    """
    b = Bench()
    part = Quotient(width=width, fraction=fraction, whole=whole)
    opened = b.add(Opened(part), "quotient")
    b.drive(part)
    bits = width if whole else width + fraction
    most = (1 << (width - 1)) - 1
    # The magnitudes and signs, a cycle later, as they enter the first stage.
    operand, divisor = (b.register(value, f"past_{name}") for name, value in (("n", part.operand), ("d", part.divisor)))
    size = Signal(width, name="size_of_operand")
    by = Signal(width, name="size_of_divisor")
    b.m.d.comb += [size.eq(Mux(operand < 0, -operand, operand)), by.eq(Mux(divisor < 0, -divisor, divisor))]
    dividend = Cat(Const(0, bits - width), size)
    negative, zero, below = (operand < 0) ^ (divisor < 0), divisor == 0, operand < 0
    rest: Any = Const(0, width)
    so_far: Any = Const(0, 1)
    for stage in range(bits):
        now = b.seen(Cat(dividend[-1], rest), f"begins_{stage}")
        by_1 = b.register(by, f"past_by_{stage}")
        now_1, so_far_1 = b.register(now, f"past_now_{stage}"), b.register(so_far, f"past_so_far_{stage}")
        held = opened[f"remainder_{stage}"]
        age = stage + 2
        bit = ~held[-1]
        rest = b.seen(Mux(bit, held, held + by_1)[:width], f"rest_{stage}")
        b.claim(f"remainder_{stage}", rest == now_1 - Mux(bit, by_1, 0), when=by_1 != 0, after=age)
        b.claim(f"below_{stage}", rest < by_1, when=by_1 != 0, after=age)
        b.claim(f"size_{stage}", by_1 <= 1 << (width - 1), after=age)
        b.claim(f"once_{stage}", held.as_signed() + by_1 >= 0, when=by_1 != 0, after=age)
        if stage:
            b.claim(f"quotient_{stage}", opened[f"quotient_{stage}"] == so_far_1, after=age)
        b.claim(f"divisor_{stage}", opened[f"divisor_{stage}"] == by_1, after=age)
        signs = Cat(negative, zero, below)
        signs_1 = b.register(signs, f"past_signs_{stage}")
        b.claim(f"signs_{stage}", opened[f"signs_{stage}"] == signs_1, after=age)
        negative, zero, below = signs_1[0], signs_1[1], signs_1[2]
        b.claim(f"zero_{stage}", zero == (by_1 == 0), after=age)
        if stage < bits - 1:
            dividend = b.register(dividend[:-1], f"past_dividend_{stage}")
            b.claim(f"dividend_{stage}", opened[f"dividend_{stage}"] == dividend, after=age)
        by, so_far = by_1, b.seen(Cat(bit, so_far_1) if stage else bit, f"digits_{stage}")
    _rounded(b, part, so_far=so_far, rest=rest, by=by, signs=(negative, zero, below), most=most, whole=whole, age=bits)
    return b


def _rounded(
    b: Bench,
    part: Any,
    *,
    so_far: Any,
    rest: Any,
    by: Any,
    signs: tuple[Any, Any, Any],
    most: int,
    whole: bool,
    age: int,
) -> None:
    """Claim the word that the last quotient and its remainder give: rounded half up, or toward zero if `whole`."""
    negative = signs[0]
    zero, below = (b.past(sign, 2, f"sign_{n}") for n, sign in enumerate(signs[1:]))
    # Let x = q + r / divisor. A positive quotient is floor(x + 1/2), a negative one floor(-x + 1/2) = -ceil(x - 1/2).
    rises = Mux(negative, (rest << 1) > by, (rest << 1) >= by)
    exact = Signal(signed(len(so_far) + 2), name="exact")
    rounded = so_far if whole else so_far + rises
    b.m.d.comb += exact.eq(Mux(negative, -rounded, rounded))
    exact_2 = b.past(exact, 2, "exact")
    word = Mux(exact_2 > most, most, Mux(exact_2 < ~most, ~most, exact_2))
    outside = (exact_2 > most) | (exact_2 < ~most)
    late = age + 4
    b.claim("value", part.value == Mux(zero, Mux(below, ~most, most), word), after=late)
    b.claim("overflow", part.overflow == (outside & ~zero), after=late)
    b.claim("domain_error", part.domain_error == zero, after=late)


def quotient(operand: int, divisor: int, *, width: int, fraction: int, whole: bool) -> tuple[int, int, int]:
    """Return the word, whether it overflowed, and whether the divisor was 0, by the definition of decision 4."""
    most = (1 << (width - 1)) - 1
    if divisor == 0:
        return (~most if operand < 0 else most), 0, 1
    exact = Fraction(operand, divisor) if whole else Fraction(operand << fraction, divisor)
    value = trunc(exact) if whole else floor(exact + Fraction(1, 2))
    return max(~most, min(most, value)), int(not ~most <= value <= most), 0


def fault(*, width: int, fraction: int, whole: bool) -> str:
    """Return what is wrong with the quotients of all pairs of words."""
    half = 1 << (width - 1)
    pairs = list(product(range(-half, half), repeat=2))
    pipeline = Quotient(width=width, fraction=fraction, whole=whole)
    late = pipeline.latency - REGISTER
    seen = played(pipeline, [{"operand": n, "divisor": d} for n, d in pairs], more=late)[late:]
    for (n, d), row in zip(pairs, seen, strict=True):
        shown = row["value"], row["overflow"], row["domain_error"]
        wanted = quotient(n, d, width=width, fraction=fraction, whole=whole)
        if shown != wanted:
            return f"{n} / {d} gives {shown} and not {wanted}"
    return ""


MUTANTS = mutants(
    "functions/quotient.py",
    ("~rest[-1] & ~(signs[0] & (rest == 0))", "~rest[-1]"),
    ("less = ~remainder[-1]", "less = ~remainder[-1] & (remainder != 0)"),
    ("less.replicate(self.width)) + less)", "less.replicate(self.width)))"),
    ("Cat(~remainder[-1], quotient) if stage", "Cat(remainder[-1], quotient) if stage"),
    ("Mux(last[2], ~self.most_positive, self.most_positive)", "self.most_positive"),
    ("self.overflow.eq(beyond & ~divides_by_zero)", "self.overflow.eq(beyond)"),
    ("new_divisor.eq(divisor)", "new_divisor.eq(divisor | new_divisor[0])"),
    ("Mux(self.divisor[-1], -self.divisor, self.divisor)", "self.divisor"),
)
WHOLE = mutants(
    "functions/quotient.py",
    ("rises.eq(0 if self.whole else", "rises.eq((remainder != 0) & signs[0] if self.whole else"),
)

STAGES = 4
"""The cycles that the induction looks back: a stage follows from the one before, and the last step takes three."""

SUBJECTS = (
    *(
        Subject(
            group="division",
            name=f"{'quotient of integers' if whole else 'division'}, {width} bits",
            property="In every step the remainder is below the divisor, and what the bit of the quotient says was "
            "taken from it. The last step rounds, saturates and counts as decision 4 says.",
            bounds="every operand and every divisor, one in each cycle",
            build=partial(steps, width=width, fraction=fraction, whole=whole),
            depth=STAGES,
            mutants=planted,
            search=(width if whole else width + fraction) + 5,
        )
        for width, fraction, whole, planted in (
            (8, 6, False, MUTANTS),
            (8, 0, True, WHOLE),
            (16, 10, False, ()),
            (16, 0, True, ()),
        )
    ),
    *(
        Exhaustion(
            group="division",
            name=f"{'quotients of all integers' if whole else 'all quotients'} of 8 bits",
            property="The word, its overflow and its domain error are those of the definition, with exact fractions.",
            bounds="every operand with every divisor",
            build=Bench,
            depth=0,
            solver="simulation",
            speed=Speed.LONG,
            words=1 << 16,
            fault=partial(fault, width=8, fraction=fraction, whole=whole),
        )
        for fraction, whole in ((4, False), (0, True))
    ),
)
