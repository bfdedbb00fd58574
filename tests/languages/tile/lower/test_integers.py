"""Casts to sized integers, and the operators of integers: all integers of a format, and the machine."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tabla.base.source import TablaError
from tabla.graph.format import Format
from tabla.languages.tile import trace
from tabla.languages.tile.lower import lower
from tabla.languages.tile.text import program_text
from tabla.tile import cast, gradient, update
from tests.languages.tile.lower.witnesses import agreed, evaluated, graph_of, in_words
from tests.languages.tile.meaning import evaluate

FORMAT = Format.parse("q5.3")
WHOLE = np.arange(-16.0, 16.0)
LEFT, RIGHT = (side.ravel() for side in np.meshgrid(WHOLE, WHOLE))
BITS: dict[str, Callable[[Any, Any], Any]] = {"&": operator.and_, "|": operator.or_, "^": operator.xor}


def saturated(values: Any, fmt: Format = FORMAT) -> Any:
    return np.clip(values, fmt.lowest / fmt.one, fmt.highest / fmt.one)


@pytest.mark.parametrize("name", sorted(BITS))
def test_bits_of_all_pairs(name: str) -> None:
    def joined(A: Any, B: Any) -> Any:
        return BITS[name](cast(A, "integer"), cast(B, "int8"))

    expected = BITS[name](LEFT.astype(int), RIGHT.astype(int))
    assert np.array_equal(evaluated(joined, {"A": LEFT, "B": RIGHT})[0], expected)
    assert np.array_equal(in_words(joined, {"A": LEFT, "B": RIGHT}, "q5.3")[0], expected)


@pytest.mark.parametrize("name", sorted(BITS))
@pytest.mark.parametrize("mask", [-16, -7, 0, 5, 15])
def test_bits_with_a_number(name: str, mask: int) -> None:
    def joined(A: Any) -> Any:
        return BITS[name](mask, cast(A, "integer")), BITS[name](cast(A, "integer"), mask)

    expected = BITS[name](WHOLE.astype(int), mask)
    for found in (*evaluated(joined, {"A": WHOLE}), *in_words(joined, {"A": WHOLE}, "q5.3")):
        assert np.array_equal(found, expected)


@pytest.mark.parametrize("text", ["q5.3", "q8.0"])
def test_remainders_of_all_pairs(text: str) -> None:
    """The sign is that of the left side, as in C; nothing is taken away by a division by 0."""

    def left_over(A: Any, B: Any) -> Any:
        return cast(A, "integer") % cast(B, "integer")

    fmt = Format.parse(text)
    whole = np.arange(fmt.lowest // fmt.one, fmt.highest // fmt.one + 1.0)
    one, other = (side.ravel() for side in np.meshgrid(whole, whole))
    expected = [left - right * int(left / right) if right else left for left, right in zip(one, other, strict=True)]
    assert np.array_equal(evaluated(left_over, {"A": one, "B": other})[0], expected)
    assert np.array_equal(in_words(left_over, {"A": one, "B": other}, text)[0], expected)


@pytest.mark.parametrize("places", [0, 1, 3, 4, 7])
@pytest.mark.parametrize("text", ["q8.0", "q7.1", "q5.11"])
def test_shifts(places: int, text: str) -> None:
    def shifted(A: Any) -> Any:
        return cast(A, "integer") >> places

    def back(A: Any) -> Any:
        return cast(A, "integer") << places

    assert np.array_equal(in_words(shifted, {"A": WHOLE}, text)[0], np.floor(WHOLE / 2**places))
    assert np.array_equal(evaluated(shifted, {"A": WHOLE})[0], np.floor(WHOLE / 2**places))
    assert np.array_equal(evaluated(back, {"A": WHOLE})[0], WHOLE * 2**places)
    fmt = Format.parse(text)
    if fmt.holds(2**places):
        assert np.array_equal(in_words(back, {"A": WHOLE}, text)[0], saturated(WHOLE * 2**places, fmt))


def test_complements_and_logic() -> None:
    truths = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])

    def logic(A: Any, T: Any) -> Any:
        true = T > 0.5
        other = true ^ (A > 2)
        return ~cast(A, "integer"), ~true, true & other, true | other, true ^ other

    one = truths > 0.5
    given = np.array([[3.0, -16.0], [0.0, 5.0], [-1.0, 2.0], [15.0, 1.0]])
    two = one ^ (given > 2)
    agreed(logic, {"A": given, "T": truths}, [-given - 1, ~one * 1.0, one & two, one | two, one ^ two])  # type: ignore[list-item]


CASTS: dict[Any, tuple[float, float]] = {
    "int8": (-128, 127),
    "int16": (-32768, 32767),
    "uint8": (0, 255),
    "uint": (0, np.inf),
    "uint64": (0, np.inf),
    "int32": (-(2**31), 2**31 - 1),
    np.int8: (-128, 127),
    np.dtype(np.uint16): (0, 65535),
}


@pytest.mark.parametrize("kind", CASTS, ids=str)
def test_casts_saturate(kind: Any) -> None:
    low, high = CASTS[kind]

    def casts(A: Any) -> Any:
        return cast(A, kind)

    wild = np.array([-1e6, -300.5, -128.9, -1.5, -0.5, 0.5, 127.9, 128.0, 254.9, 256.0, 1e5])
    assert np.array_equal(evaluated(casts, {"A": wild})[0], np.clip(np.trunc(wild), low, high))
    for text in ("q6.10", "q8.8", "q12.4"):
        fmt = Format.parse(text)
        held = np.round(saturated(wild, fmt) * fmt.one) / fmt.one
        whole = np.clip(np.trunc(held), low, high)
        assert np.array_equal(in_words(casts, {"A": held}, text)[0], whole)


def test_casts_of_what_no_integer_holds() -> None:
    def casts(A: Any) -> Any:
        return cast(A, "int64"), cast(A, "bool"), cast(A, np.float32), cast(A, bool)

    whole, *others = evaluated(casts, {"A": np.array([1e300, -np.inf, np.nan, 2.5])})
    ends = np.iinfo(np.int64)
    assert whole.tolist() == [ends.max, ends.min, 0, 2]
    assert [other.dtype.kind for other in others] == ["b", "f", "b"]


@pytest.mark.slow
def test_on_the_machine() -> None:
    def mixed(A: Any, B: Any) -> Any:
        one, two = cast(A, "int8"), cast(B, "uint8")
        return one & two, one | two, one ^ 6, one % two, one >> 2, one << 1, ~one

    A = np.array([[-15.5, 7.0, 9.25], [3.0, -1.0, 12.0]])
    B = np.array([[3.0, -2.0, 6.5], [5.0, 15.0, 7.0]])
    one, two = np.trunc(A).astype(int), np.clip(np.trunc(B), 0, 255).astype(int)
    rest = np.where(two == 0, one, np.fmod(one, np.where(two == 0, 1, two)))
    expected = [one & two, one | two, one ^ 6, rest, one >> 2, one << 1, ~one]
    agreed(mixed, {"A": A, "B": B}, expected)


def test_the_text_reads_as_the_same_function() -> None:
    def mixed(A: Any) -> Any:
        whole = cast(A, "integer")
        return ~whole, whole % 3, whole << 2, (whole & 6) | 1

    space: dict[str, Any] = {}
    exec("from tabla.tile import *\n" + program_text(trace(mixed, {"A": (4,)})).replace("T.", "T_"), space)
    given = {"A": np.array([-3.0, 0.0, 5.0, 7.5])}
    for one, two in zip(evaluated(space["mixed"], given), evaluated(mixed, given), strict=True):
        assert np.array_equal(one, two)


FAULTS: dict[str, tuple[Callable[..., Any], str, str]] = {
    "float": (lambda A, W: A & 3, "'&' is an operator of integers", 'cast(A, "integer") & B'),
    "float_right": (lambda A, W: 3 % A, "'%' is an operator of integers", 'cast(A, "integer") % B'),
    "complement": (lambda A, W: ~A, "'~' is an operator of integers", "cast"),
    "negative": (lambda A, W: cast(A, int) >> -1, "a shift by -1", "the other way"),
    "type": (lambda A, W: cast(A, "int9"), "cast to 'int9'", "int8"),
    "object": (lambda A, W: cast(A, 3), "cast to 3", "int8"),
    "shift": (lambda A, W: cast(A, int) << cast(W, int), "a shift by a tensor", "powers of two"),
    "mask": (lambda A, W: cast(A, int) & 255, "255 does not fit into q6.10", "end at 31.99"),
    "places": (lambda A, W: cast(A, int) << 5, "32 does not fit", "format"),
}


@pytest.mark.parametrize("name", sorted(FAULTS))
def test_faults(name: str) -> None:
    function, message, cure = FAULTS[name]
    with pytest.raises(TablaError) as caught:
        graph_of(lambda A, W: function(A, W), {"A": WHOLE, "W": WHOLE})
    assert message in caught.value.message and cure in str(caught.value.hint)


def test_they_learn_nothing() -> None:
    """They are constant between jumps, and float64 does not take the machine's steps."""

    def learns(X: Any, W: Any) -> None:
        update(W, ((X > 0) >> 1) * W, 0.5)

    with pytest.raises(TablaError, match="shift_right in a program that learns does not run on the machine"):
        lower(trace(learns, {"X": (3,), "W": (3,)}), number_format=Format.parse("q6.10"))

    def slope(X: Any) -> Any:
        return gradient((cast(X, int) & 3) * X, [X])[0]

    assert evaluate(trace(slope, {"X": ()}), {"X": 6.0})["out0"] == 2
