"""Real arrays to words and back."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabla.base.source import TablaError
from tabla.graph.format import Format
from tabla.graph.words import integer_words, to_real, to_words

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
