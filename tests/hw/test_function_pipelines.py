"""Every pipeline of the function unit against the few lines of decision 4 that define it."""

import itertools
import math
import random
from fractions import Fraction
from typing import Any

import pytest

from tabla.hw.function_unit import FunctionUnit, pipeline_for
from tabla.hw.functions.interpolation import Interpolation
from tabla.hw.functions.pipeline import REGISTER
from tabla.program.image import FunctionTable, Parameters
from tabla.templates.template import functions
from tests.hw.bench import corners, played
from tests.sim.hand_assembler import parameters, table

DIVIDING = ("divide", "quotient")
FORMATS = [(8, 6), (8, 4), (16, 10), (18, 11), (32, 16), (20, 17), (32, 24), (32, 30)]
GUARD = 3


def interpolated(t: FunctionTable, segment: int, inside: int, offset: int = 0) -> int:
    slope = t.slope[segment]
    if t.curve:
        c = max(0, t.shift - 17)
        slope += t.curve[segment] * (((1 << t.shift) - 1 - inside) >> c) >> (t.shift - c)
    total = ((t.base[segment] + offset) << t.shift) + slope * inside
    return (total + (1 << (t.shift + t.guard - 1))) >> (t.shift + t.guard)


def filled(build: Parameters, name: str, segments: int, scale: int, **fields: Any) -> FunctionTable:
    """A table of made-up values, wild enough to reach beyond the format now and then."""
    chance = random.Random(segments)
    ends = [chance.randrange(-scale, scale) for _ in range(segments + 1)]
    slopes = tuple(b - a for a, b in itertools.pairwise(ends))
    fields |= {"curve": curves(build, segments, scale)}
    return table(name, build, base=tuple(ends[:-1]), slope=slopes, guard=GUARD, **fields)


def curves(build: Parameters, segments: int, scale: int) -> tuple[int, ...]:
    """Made-up curves in a fine format. Any curve of a quarter of a slope or less keeps a segment rising or falling."""
    chance = random.Random(scale)
    return tuple(chance.randrange(-scale // 4, scale // 4 + 1) for _ in range(segments)) if build.fraction > 16 else ()


def clamped(value: int, width: int) -> tuple[int, int]:
    low, high = -(1 << (width - 1)), (1 << (width - 1)) - 1
    return max(low, min(high, value)), int(not low <= value <= high)


def direct(t: FunctionTable, build: Parameters, x: int) -> tuple[int, int, int]:
    reach = 1 << t.reach
    u = max(-reach, min(reach - 1, x)) + reach
    value = interpolated(t, u >> t.shift, u & ((1 << t.shift) - 1))
    return clamped(value, build.width)[0], 0, 0


def exponential(t: FunctionTable, build: Parameters, x: int) -> tuple[int, int, int]:
    width, fraction = build.width, build.fraction
    power = x * t.constant
    e = 24 if fraction > 16 else 16
    n = power >> (fraction + e)
    r = (power >> (fraction + e - t.fraction_bits)) & ((1 << t.fraction_bits) - 1)
    rest = t.fraction_bits - t.index_bits
    m = interpolated(t, r >> rest, r & ((1 << rest) - 1))
    top = (1 << (width - 1)) - 1
    if n >= width - fraction - 1:
        return top, 1, 0
    q = width + 1
    s = q - fraction - n
    y, beyond = clamped(0 if s > q + 1 else (m + (1 << (s - 1))) >> s, width)
    return y, beyond, 0


def logarithm(t: FunctionTable, build: Parameters, x: int) -> tuple[int, int, int]:
    width = build.width
    if x <= 0:
        return -(1 << (width - 1)), 0, 1
    p = x.bit_length() - 1
    z = (x << (width - 2 - p)) & ((1 << (width - 2)) - 1)
    rest = width - 2 - t.index_bits
    y, beyond = clamped(interpolated(t, z >> rest, z & ((1 << rest) - 1), t.exponent[p]), width)
    return y, beyond, 0


def circular(t: FunctionTable, build: Parameters, x: int) -> tuple[int, int, int]:
    point = build.fraction + min(build.width + 3, 33)
    r = ((x * t.constant) >> (point - t.fraction_bits)) & ((1 << t.fraction_bits) - 1)
    rest = t.fraction_bits - t.index_bits
    return clamped(interpolated(t, r >> rest, r & ((1 << rest) - 1)), build.width)[0], 0, 0


def square_root(t: FunctionTable, build: Parameters, x: int) -> tuple[int, int, int]:
    if x < 0:
        return 0, 0, 1
    return (math.isqrt(4 * (x << build.fraction)) + 1) >> 1, 0, 0


def quotient(t: FunctionTable, build: Parameters, x: int, d: int) -> tuple[int, int, int]:
    if d == 0:
        return (-(1 << (build.width - 1)) if x < 0 else (1 << (build.width - 1)) - 1), 0, 1
    # floor(x * 2^F / d + 1/2) as one exact floor division.
    y, beyond = clamped(((x << (build.fraction + 1)) + d) // (2 * d), build.width)
    return y, beyond, 0


def whole_quotient(t: FunctionTable, build: Parameters, x: int, d: int) -> tuple[int, int, int]:
    if d == 0:
        return quotient(t, build, x, d)
    y, beyond = clamped(math.trunc(Fraction(x, d)), build.width)
    return y, beyond, 0


def tables(build: Parameters) -> list[tuple[FunctionTable, Any]]:
    width, fraction = build.width, build.fraction
    k = 5
    made = []
    for reach, name in ((width - 1, "sigmoid"), (width - 3, "tanh"), (width, "gaussian")):
        shift = reach + 1 - k
        made.append((filled(build, name, 1 << k, 1 << (width + 2), reach=reach, shift=shift), direct))
    e, most = (24, 26) if fraction > 16 else (16, 20)
    t = min(fraction + e, most)
    constant = round(math.log2(math.e) * (1 << e))
    q = width + 1
    ends = [round(2 ** (i / (1 << k)) * (1 << (q + GUARD))) for i in range((1 << k) + 1)]
    exp = table(
        "exp",
        build,
        base=tuple(ends[:-1]),
        slope=tuple(b - a for a, b in itertools.pairwise(ends)),
        curve=curves(build, 1 << k, min(b - a for a, b in itertools.pairwise(ends))),
        guard=GUARD,
        index_bits=k,
        fraction_bits=t,
        shift=t - k,
        constant=constant,
    )
    made.append((exp, exponential))
    scale = 1 << (fraction + GUARD)
    exponents = tuple(round((p - fraction) * math.log(2) * scale) for p in range(width - 1))
    log = filled(build, "log", 1 << k, scale, index_bits=k, shift=width - 2 - k, exponent=exponents)
    bits = min(width + 3, 33)
    turn = min(fraction + bits, width + 4)
    fields = {"index_bits": k, "fraction_bits": turn, "shift": turn - k, "constant": round((1 << bits) / math.tau)}
    made += [(filled(build, name, 1 << k, 1 << (width + 2), **fields), circular) for name in ("sin", "cos")]
    made += [(log, logarithm), (table("sqrt", build), square_root)]
    return [*made, (table("divide", build), quotient), (table("quotient", build), whole_quotient)]


@pytest.mark.parametrize(("width", "fraction"), FORMATS)
@pytest.mark.parametrize("number", range(10))
def test_pipeline_follows_the_definition(width: int, fraction: int, number: int) -> None:
    build = parameters(1, width=width, fraction=fraction)
    t, definition = tables(build)[number]
    chance = random.Random(number)
    half = 1 << (width - 1)
    words = corners(width) + [1 << p for p in range(width - 1)] + [(1 << p) - 1 for p in range(width - 1)]
    words += list(range(-half, half)) if width <= 8 else [chance.randrange(-half, half) for _ in range(1500)]
    # Small words too: where quotients overflow and exponentials do not.
    words += [chance.randrange(-(1 << p), 1 << p) for p in range(1, width - 1) for _ in range(10)]
    divisors = [chance.choice([*corners(width), chance.randrange(-half, half)]) for _ in words]
    pipeline = pipeline_for(t, width=width, fraction=fraction)
    assert pipeline.latency == t.latency == functions()[t.name].cycles(width, fraction)
    late = pipeline.latency - REGISTER
    seen = played(pipeline, [{"operand": x, "divisor": d} for x, d in zip(words, divisors, strict=True)], more=late)
    for cycle, (x, d) in enumerate(zip(words, divisors, strict=True)):
        wanted = definition(t, build, x, d) if t.name in DIVIDING else definition(t, build, x)
        shown = seen[cycle + late]
        assert (shown["value"], shown["overflow"], shown["domain_error"]) == wanted, (t.name, x, d)


@pytest.mark.parametrize("scale", [1 << 9, 1 << 13, 1 << 18])
@pytest.mark.parametrize(("reach", "width", "fraction"), [(13, 16, 10), (15, 16, 10), (18, 20, 17)])
def test_tight_tables_give_the_same_words(reach: int, width: int, fraction: int, scale: int) -> None:
    build = parameters(1, width=width, fraction=fraction)
    t = filled(build, "sigmoid", 32, scale, reach=reach, shift=reach - 4)
    pipeline = pipeline_for(t, width=build.width, fraction=build.fraction, tight=True)
    words = corners(build.width) + random.Random(scale).sample(range(-(1 << width - 1), 1 << width - 1), 400)
    late = pipeline.latency - REGISTER
    seen = played(pipeline, [{"operand": x} for x in words], more=late)
    assert [shown["value"] for shown in seen[late:]] == [direct(t, build, x)[0] for x in words]


@pytest.mark.parametrize("fraction", [10, 18])
def test_interpolation_latency_is_what_it_says(fraction: int) -> None:
    build = parameters(1, width=fraction + 6, fraction=fraction)
    t = filled(build, "tanh", 8, 1 << 14, reach=12, shift=10)
    part = Interpolation(t)
    assert part.latency == Interpolation.latency_of(t) == (7 if fraction > 16 else 5)
    seen = played(part, [{"index": 3, "fraction": 700}, {"index": 0, "fraction": 0}], more=8)
    assert seen[part.latency]["value"] == interpolated(t, 3, 700)
    assert seen[part.latency + 1]["value"] == interpolated(t, 0, 0)


def test_the_unit_shows_one_result_a_cycle_from_pipelines_of_different_length() -> None:
    width, fraction = 16, 10
    build = parameters(1, width=width, fraction=fraction)
    made = tables(build)
    unit = FunctionUnit(parameters=parameters(1, functions=tuple(t for t, _ in made)))
    chance = random.Random(5)
    ends: dict[int, tuple[int, int, int]] = {}
    inputs = []
    for cycle in range(400):
        t, definition = chance.choice(made)
        x, d = chance.randrange(-(1 << 15), 1 << 15), chance.randrange(-(1 << 15), 1 << 15)
        code = t.code if cycle + t.latency not in ends and chance.random() < 0.8 else 0
        if code:
            ends[cycle + t.latency] = definition(t, build, x, d) if t.name in DIVIDING else definition(t, build, x)
        inputs.append({"code": code, "operand": x, "divisor": d})
    seen = played(unit, [*inputs, {"code": 0}], more=60)
    for cycle, shown in enumerate(seen):
        flags = (shown["overflow"], shown["domain_error"])
        if cycle in ends:
            assert (shown["value"], *flags) == ends[cycle]
        else:
            assert flags == (0, 0)
