"""Real arrays to words and back."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabla.base.source import TablaError
from tabla.graph.format import Format
from tabla.graph.graph import Tensor
from tabla.graph.words import WordType, integer_words, to_real, to_words

Q6_10 = Format.parse("q6.10")


@settings(deadline=None)
@given(st.floats(-32, 31.999))
def test_nearest_word_half_up(value: float) -> None:
    assert to_words(value, Q6_10) == Q6_10.nearest(Fraction(value))


def test_the_largest_number_below_a_tie_goes_down() -> None:
    below = np.nextafter(0.5, 0) / 1024
    assert to_words([below, 0.5 / 1024, -0.5 / 1024, -1.5 / 1024], Q6_10).tolist() == [0, 1, 0, -1]


@settings(deadline=None)
@given(st.integers(Q6_10.lowest, Q6_10.highest))
def test_words_come_back(word: int) -> None:
    assert to_words(to_real(word, Q6_10), Q6_10) == word


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.float32, np.bool_])
def test_every_kind_of_real_array(kind: type) -> None:
    assert to_words(np.array([[0, 1]], dtype=kind), Q6_10).tolist() == [[0, 1024]]


@pytest.mark.parametrize(
    ("text", "value", "hint"),
    [
        ("q6.10", 32.0, "q7.10"),
        ("q6.10", -300.0, "q10.10"),
        ("q6.10", 31.9996, "q7.10"),
        ("q8.24", 1000.0, "q11.21"),
        ("q2.30", 1e12, "no number format holds it and small numbers as well: divide 'w' by 1,000,000,000,000"),
        ("q6.10", 8e6, "use --format q24.8, or divide 'w' by 10,000,000"),
        ("q6.10", 9e6, "no number format holds it and small numbers as well: divide 'w' by 10,000,000"),
        ("q20.4", 1e7, "use --format q25.4, or divide 'w' by 10,000,000"),
        ("q28.4", 1e9, "no number format"),
    ],
)
def test_values_outside_name_a_format_that_works(text: str, value: float, hint: str) -> None:
    fmt = Format.parse(text)
    with pytest.raises(TablaError) as fault:
        to_words([0.0, value, value / 2], fmt, "w")
    assert f"'w' holds {value:g}" in str(fault.value) and hint in str(fault.value)
    if hint.startswith("q"):
        assert to_real(to_words(value, Format.parse(hint)), Format.parse(hint)) == pytest.approx(value, abs=1e-3)


def test_values_outside_name_what_they_are_and_their_sample() -> None:
    with pytest.raises(TablaError, match=r"label 'y' holds -346 in sample 3, outside the range of q6\.10"):
        to_words([0.0, 40.0, -346.0, 99.0], Q6_10, "y", role="label")
    with pytest.raises(TablaError, match=r"input 'x' holds 40 in sample 2, outside"):
        to_words([[0.0, 1.0], [40.0, 33.0]], Q6_10, "x", role="input")
    with pytest.raises(TablaError, match="model 'w' holds 40, outside"):
        to_words([0.0, 40.0], Q6_10, "w", role="model")


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_refused_with_its_place(value: float) -> None:
    with pytest.raises(TablaError, match=r"not finite, first at \[1, 0\]"):
        to_words([[0.0, 1.0], [value, 2.0]], Q6_10, "x")


def test_what_is_no_number_is_refused() -> None:
    with pytest.raises(TablaError, match="not real numbers"):
        to_words(np.array(["one"]), Q6_10)


@pytest.mark.parametrize(
    ("text", "value", "hint"),
    [
        ("q6.10", 40000, "use --format q7.10"),
        ("q6.10", -70000, "use --format q8.10"),
        ("q2.6", 128, "use --format q3.6"),
        ("q16.16", 1 << 31, "no word of 32 bits"),
    ],
)
def test_integers_are_words_and_their_cure_keeps_the_fraction(text: str, value: int, hint: str) -> None:
    fmt = Format.parse(text)
    assert integer_words([fmt.lowest, 3, fmt.highest], fmt).tolist() == [fmt.lowest, 3, fmt.highest]
    with pytest.raises(TablaError) as fault:
        integer_words([0, value, value // 2], fmt, "a")
    assert f"'a' holds {value}, outside the integers of {text}" in str(fault.value) and hint in str(fault.value)


REAL, WIDE = WordType(name="x", format=Q6_10, role="input"), WordType(name="w", format=Q6_10, role="model", guard=4)
WHOLE = WordType(name="k", format=Q6_10, role="input", integer=True)


@pytest.mark.parametrize(
    ("kind", "reals", "words"),
    [
        (REAL, [0.5, -1.0, 31.75], [512, -1024, 32512]),
        # Half a unit of a word is 8 stored integers above the value.
        (WIDE, [0.5, -1.0, 2**-14], [8200, -16376, 9]),
        (WHOLE, [3, -32768, 32767], [3, -32768, 32767]),
    ],
)
def test_a_type_turns_numbers_into_words_and_back(kind: WordType, reals: list[float], words: list[int]) -> None:
    assert kind.to_words(reals).tolist() == words
    np.testing.assert_array_equal(kind.to_reals(words), reals)
    low, high = kind.limits
    assert kind.to_words(kind.to_reals([low, high])).tolist() == [low, high]


def test_the_type_of_a_tensor_is_that_of_its_role_and_its_guard_bits() -> None:
    tensor = Tensor(name="w", shape=(2,), role="model", guard=4)
    assert WordType.of(tensor, Q6_10) == WIDE
    assert WordType.of(Tensor(name="k", shape=(), role="input"), Q6_10, integer=True) == WHOLE


@pytest.mark.parametrize(
    ("kind", "array", "message", "hint"),
    [
        (REAL, [1.0, 40.0], r"input 'x' holds 40 in row 11, outside the range of q6\.10", "use --format q7.10"),
        (WIDE, [1.0, -40.0], r"model 'w' holds -40, outside the range of q6\.10", "use --format q7.10"),
        (WHOLE, [1.0, 0.5], "'k' is a tensor of integers, but its array has fractions", "round the data"),
        (WHOLE, [1, np.inf], "'k' holds a value that is not finite", "replace nan and inf"),
        (WHOLE, [np.nan], "'k' holds a value that is not finite", "replace nan and inf"),
        (WHOLE, [1, 40000], r"'k' holds 40000, outside the integers of q6\.10", "use --format q7.10"),
    ],
)
def test_a_type_names_its_tensor_in_faults(kind: WordType, array: list[float], message: str, hint: str) -> None:
    with pytest.raises(TablaError, match=message) as fault:
        kind.to_words(array, lambda sample: f"row {sample + 10}")
    assert hint in str(fault.value.hint)


def test_reals_outside_are_brought_inside_and_integers_are_not() -> None:
    array, outside = REAL.inside(np.array([1.0, 40.0, -99.0]))
    assert array.tolist() == [1.0, 32767 / 1024, -32.0] and outside == 2
    array, outside = WHOLE.inside(np.array([40000.0]))
    assert array.tolist() == [40000.0] and outside == 0
