"""The function unit's tables against the real functions, and its words against the decision's formulas."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt, trunc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabla.graph import function_reals, function_words, functions
from tabla.graph.format import Format
from tabla.graph.functions import apply_to_reals, apply_to_words, table
from tabla.graph.graph import FunctionName, Graph
from tests.graph.error_bounds import error_bound
from tests.graph.naive import Naive

SIXTEEN_BITS = ["q6.10", "q4.12", "q8.8", "q2.14"]
TABULATED: list[str] = ["sigmoid", "tanh", "gaussian", "exp", "log", "sin", "cos", "erf", "atan", "arc"]
FUNCTIONS = tuple(f.name for f in functions.FUNCTIONS.values() if f.operands == 1)
formats = st.integers(8, 32).flatmap(
    lambda width: st.integers(max(2, width - 30), width).map(
        lambda integer: Format(integer=integer, fraction=width - integer)
    )
)


def reference(name: FunctionName, words: np.ndarray, fmt: Format) -> tuple[np.ndarray, np.ndarray]:
    """Real results in units in the last place, clamped into the format, and where they are defined."""
    domain = {"log": words > 0, "sqrt": words >= 0}.get(name, np.ones(words.shape, dtype=bool))
    real = apply_to_reals(name, np.where(domain, words, 1) / fmt.one)
    return np.clip(real, fmt.lowest / fmt.one, fmt.highest / fmt.one) * fmt.one, domain


@pytest.mark.parametrize("text", SIXTEEN_BITS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_word_of_16_bits_within_the_bound(name: FunctionName, text: str) -> None:
    fmt = Format.parse(text)
    words = np.arange(fmt.lowest, fmt.highest + 1)
    made = apply_to_words(name, words, fmt).words
    real, domain = reference(name, words, fmt)
    worst = np.abs(made - real)[domain].max()
    bound = error_bound(name, fmt)
    assert worst <= bound <= 1.5 * worst, "the bound holds and is not idle"
    rounded = np.floor(real + 0.5)
    assert np.abs(made - rounded)[domain].max() <= int(bound + 0.5), "words against the correctly rounded reference"


@pytest.mark.parametrize("text", ["q2.6", "q8.0", "q6.12", "q3.17", "q8.24", "q12.20", "q16.16", "q2.30", "q32.0"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_other_widths_within_the_bound(name: FunctionName, text: str) -> None:
    fmt = Format.parse(text)
    random = np.random.default_rng(2)
    wide = random.integers(fmt.lowest, fmt.highest + 1, 20_000)
    words = np.concatenate(
        [wide, wide >> random.integers(0, fmt.width, wide.size), [fmt.lowest, fmt.highest, 0, 1, -1]]
    )
    real, domain = reference(name, words, fmt)
    assert np.abs(apply_to_words(name, words, fmt).words - real)[domain].max() <= error_bound(name, fmt)


@pytest.mark.parametrize("text", SIXTEEN_BITS)
def test_division_is_the_rounded_quotient(text: str) -> None:
    fmt = Format.parse(text)
    random = np.random.default_rng(3)
    left, right = random.integers(fmt.lowest, fmt.highest + 1, (2, 2_000))
    right >>= random.integers(0, fmt.width, right.size)
    made = function_words.divide(left, right, fmt)
    overflows = 0
    for a, b, word in zip(left.tolist(), right.tolist(), made.words.tolist(), strict=True):
        if b == 0:
            assert word == (fmt.highest if a >= 0 else fmt.lowest)
            continue
        exact = Fraction(a * fmt.one, b)
        assert word == fmt.saturate((2 * exact + 1) // 2)
        overflows += not fmt.lowest <= (2 * exact + 1) // 2 <= fmt.highest
    assert (made.overflows, made.domain_errors) == (overflows, int(np.count_nonzero(right == 0)))


@settings(deadline=None)
@given(fmt=formats, data=st.data())
def test_words_follow_the_decision(fmt: Format, data: st.DataObject) -> None:
    """The formulas of decision 4 in plain integers, for one word at a time, in any format."""
    word = data.draw(st.integers(fmt.lowest, fmt.highest) | st.sampled_from([fmt.lowest, fmt.highest, 0, 1, -1]))
    name = data.draw(st.sampled_from(FUNCTIONS))
    width, fraction = fmt.width, fmt.fraction
    overflow = domain = 0
    made = table(name, fmt)

    def value(i: int, f: int, more: int = 0) -> int:
        slope = made.slope[i]
        if fraction > 16:
            c = max(0, made.shift - 17)
            slope += made.curve[i] * ((2**made.shift - 1 - f) >> c) >> (made.shift - c)
        total = (made.base[i] << made.shift) + slope * f + (more << made.shift)
        return (total + (1 << (made.shift + made.guard - 1))) >> (made.shift + made.guard)

    match name:
        case "sigmoid" | "tanh" | "gaussian" | "erf" | "atan" | "arc":
            reach = 1 << made.reach
            u = max(-reach, min(reach - 1, word)) + reach
            y = value(u >> made.shift, u & ((1 << made.shift) - 1))
        case "exp":
            scaled, e = word * made.constant, 24 if fraction > 16 else 16
            n = scaled >> (fraction + e)
            r = (scaled % (1 << (fraction + e))) >> (fraction + e - made.fraction_bits)
            f_bits = made.fraction_bits - made.index_bits
            if n >= fmt.integer - 1:
                y, overflow = fmt.highest, 1
            else:
                s = width + 1 - fraction - n
                y = 0 if s > width + 2 else (value(r >> f_bits, r % (1 << f_bits)) + (1 << (s - 1))) >> s
                overflow = y != fmt.saturate(y)
        case "log":
            if word <= 0:
                y, domain = fmt.lowest, 1
            else:
                p = word.bit_length() - 1
                z = (word << (width - 2 - p)) % (1 << (width - 2))
                f_bits = width - 2 - made.index_bits
                y = value(z >> f_bits, z % (1 << f_bits), made.exponent[p])
                overflow = y != fmt.saturate(y)
        case "sin" | "cos":
            point = fraction + min(width + 3, 33)
            r = (word * made.constant % (1 << point)) >> (point - made.fraction_bits)
            f_bits = made.fraction_bits - made.index_bits
            y = value(r >> f_bits, r % (1 << f_bits))
        case "sqrt":
            domain = word < 0
            y = 0 if word < 0 else (isqrt(4 * (word << fraction)) + 1) >> 1
    got = apply_to_words(name, np.array([word]), fmt)
    assert (got.words.tolist(), got.overflows, got.domain_errors) == ([fmt.saturate(y)], overflow, domain)


@pytest.mark.parametrize("text", ["q2.6", "q6.4", "q8.0", "q5.6"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_word_of_narrow_formats_follows_the_decision(name: FunctionName, text: str) -> None:
    fmt = Format.parse(text)
    naive = Naive(graph=Graph(name="none", tensors={}, statements=()), format=fmt, words={})
    words = np.arange(fmt.lowest, fmt.highest + 1)
    expected = [naive.function(name, word) for word in words.tolist()]
    got = apply_to_words(name, words, fmt)
    assert got.words.tolist() == expected
    assert (got.overflows, got.domain_errors) == (naive.overflows, naive.domain_errors)


@pytest.mark.parametrize("text", [*SIXTEEN_BITS, "q2.6", "q16.16", "q2.30", "q3.17", "q32.0"])
@pytest.mark.parametrize("name", TABULATED)
def test_tables_have_their_stated_shape(name: str, text: str) -> None:
    made = table(name, Format.parse(text))
    assert len(made.base) == len(made.slope) == 1 << made.index_bits
    fine = Format.parse(text).fraction > 16
    assert len(made.base) == 1024 if fine else 2 <= len(made.base) <= 2048
    assert len(made.curve) == (len(made.base) if fine else 0)
    assert made.shift >= 0 and made.guard == 3
    # Segments join: each ends where the next begins.
    ends = np.array(made.base) + np.array(made.slope)
    assert (ends[:-1] == np.array(made.base)[1:]).all()


@pytest.mark.parametrize("name", TABULATED)
def test_functions_of_q8_24_are_within_one_part_in_a_million(name: FunctionName) -> None:
    """Networks of several layers add their errors up, and still keep 16 bits (decision 26)."""
    fmt = Format.parse("q8.24")
    random = np.random.default_rng(5)
    words = random.integers(1, 4 << 24, 200_000) * (1 if name == "log" else random.choice([-1, 1], 200_000))
    real, _ = reference(name, words, fmt)
    away = np.abs(apply_to_words(name, words, fmt).words - real) / np.maximum(fmt.one, np.abs(real))
    assert away.max() < 2**-20


@pytest.mark.parametrize("text", ["q2.6", "q8.0"])
def test_integers_divide_toward_zero(text: str) -> None:
    fmt = Format.parse(text)
    words = np.arange(fmt.lowest, fmt.highest + 1)
    left, right = (side.ravel() for side in np.meshgrid(words, words))
    made = function_words.quotient(left, right, fmt)
    for a, b, word in zip(left.tolist(), right.tolist(), made.words.tolist(), strict=True):
        if b == 0:
            assert word == (fmt.highest if a >= 0 else fmt.lowest)
        else:
            assert word == min(fmt.highest, trunc(Fraction(a, b)))
    assert (made.overflows, made.domain_errors) == (1, words.size)


def test_known_integers() -> None:
    fmt = Format.parse("q6.10")
    sigmoid = table("sigmoid", fmt)
    assert (sigmoid.reach, sigmoid.shift) == (14, 7)
    assert sigmoid.base[128] == 1 << 12, "sigmoid(0) = 1/2 with 13 fraction bits"
    assert table("exp", fmt).constant == 94548
    assert table("log", fmt).exponent[10] == 0, "log 1 = 0"
    assert table("divide", fmt).base == ()


@pytest.mark.parametrize("width", range(8, 33))
def test_the_tables_of_exp_lie_between_1_and_2(width: int) -> None:
    """The hardware finds overflows by the word alone, which needs a value of at least 1 from the table."""
    made = table("exp", Format(integer=width - width // 2, fraction=width // 2))
    one = 1 << (width + 1 + made.guard)
    assert made.base[0] == one and list(made.base) == sorted(made.base)
    assert min(made.slope) > 0 and made.base[-1] + made.slope[-1] <= 2 * one


def test_corners_saturate_and_are_counted() -> None:
    fmt = Format.parse("q6.10")
    words = np.array([fmt.highest, 4 * fmt.one, 0])
    exp = apply_to_words("exp", words, fmt)
    assert (exp.words.tolist(), exp.overflows) == ([fmt.highest, fmt.highest, fmt.one], 2)
    log = apply_to_words("log", np.array([0, -5, fmt.one]), fmt)
    assert (log.words.tolist(), log.domain_errors, log.overflows) == ([fmt.lowest, fmt.lowest, 0], 2, 0)
    root = apply_to_words("sqrt", np.array([-1, 4 * fmt.one]), fmt)
    assert (root.words.tolist(), root.domain_errors) == ([0, 2 * fmt.one], 1)


def test_roots_that_float64_rounds_up_are_mended() -> None:
    """4 * (2^30 + 1) * 2^30 is one less than the square of 2^31 + 1."""
    words = np.array((1 << 30) + 1)
    assert apply_to_words("sqrt", words, Format.parse("q2.30")).words == 1 << 30


def test_sigmoid_keeps_its_small_side() -> None:
    tails = function_reals.sigmoid(np.array([-700.0, 0.0, 700.0]))
    assert tails.tolist() == [pytest.approx(np.exp(-700.0), rel=1e-12), 0.5, 1.0]
