"""The calculator and the scopes against independent witnesses; places there and back."""

from __future__ import annotations

import re
from fractions import Fraction
from math import trunc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabla.base.source import Source, Span, TablaError
from tabla.languages.preprocess import preprocess

OPERATORS = ("+", "-", "*", "/", "%", "^", "min", "max")
NUMBERS = st.one_of(st.integers(-9, 9), st.integers(-(2**63), 2**63 - 1), st.integers(55, 70))
# A calculation is an integer, or (operator, left, right).
CALCULATIONS = st.recursive(NUMBERS, lambda inner: st.tuples(st.sampled_from(OPERATORS), inner, inner), max_leaves=8)


def polish(calculation: Any) -> str:
    if isinstance(calculation, int):
        return str(calculation)
    operator, left, right = calculation
    return f"{polish(left)} {polish(right)} {operator}"


def exactly(calculation: Any) -> int | None:
    """The value by rational arithmetic, None where there is none in 64 bits."""
    if isinstance(calculation, int):
        return calculation
    operator, left, right = calculation[0], exactly(calculation[1]), exactly(calculation[2])
    if left is None or right is None:
        return None
    match operator:
        case "/" | "%" if right == 0:
            return None
        case "/":
            result = trunc(Fraction(left, right))
        case "%":
            result = left - right * trunc(Fraction(left, right))
        case "^" if right < 0:
            return None
        case "^" if abs(left) <= 1:
            result = [1, left][right % 2] if left else int(right == 0)
        case "^" if right > 64:
            return None
        case "^":
            result = 1
            for _ in range(right):
                result *= left
        case "min" | "max":
            result = sorted((left, right))[operator == "max"]
        case _:
            result = {"+": left + right, "-": left - right, "*": left * right}[operator]
    return result if -(2**63) <= result < 2**63 else None


@given(CALCULATIONS)
def test_calculations(calculation: Any) -> None:
    expected = exactly(calculation)
    source = Source.from_text(f"$c = !calc({polish(calculation)})\n$c")
    if expected is None:
        with pytest.raises(TablaError):
            preprocess(source)
    else:
        assert preprocess(source).source.text.strip() == str(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("-7 2 /", -3), ("-7 2 %", -1), ("7 -2 %", 1), ("0 0 ^", 1), ("-2 63 ^", -(2**63)),
     ("-1 9223372036854775807 ^", -1), ("-9223372036854775808 -1 %", 0), ("5 1-", 4), ("3 4+", 7)],
)  # fmt: skip
def test_corners(text: str, expected: int) -> None:
    assert preprocess(Source.from_text(f"$c = !calc({text})\n$c")).source.text.strip() == str(expected)


NAMES = st.sampled_from(("a", "b", "c", "0", "ab"))
# A text is a list of definitions (name, value), uses (name) and regions (texts).
TEXTS = st.recursive(
    st.one_of(st.tuples(NAMES, st.integers(0, 99)), NAMES), lambda inner: st.lists(inner, max_size=5), max_leaves=12
)


def written(item: Any) -> str:
    match item:
        case str():
            return f"${item} "
        case tuple():
            name, value = item
            return f"${name} = {value} "
        case _:
            return "{ " + "".join(written(part) for part in item) + "} "


def walk(items: list[Any], environment: dict[str, int]) -> list[str]:
    """The words that a list of items becomes; `KeyError` for a fault of names."""
    words: list[str] = []
    for item in items:
        match item:
            case str():
                words.append(str(environment[item]))
            case tuple():
                name, value = item
                if name in environment:
                    raise KeyError(name)
                environment[name] = value
            case _:
                words += ["{", *walk(item, dict(environment)), "}"]
    return words


@given(st.lists(TEXTS, max_size=6))
def test_scopes(items: list[Any]) -> None:
    source = Source.from_text("".join(map(written, items)))
    try:
        expected = walk(items, {})
    except KeyError:
        with pytest.raises(TablaError):
            preprocess(source)
    else:
        assert preprocess(source).source.text.split() == expected


PIECES = st.sampled_from((" word", " ", "\n", "$a", "$b", "$0", "{", "}", "; $a\n", '"$b"', "[1:", "]", " x"))


@given(st.lists(PIECES, max_size=30))
def test_places(pieces: list[str]) -> None:
    text = "$a = 123\n$b =\n memref<f32 x 4>\n$0 = 5 " + "".join(pieces)
    expanded = preprocess(Source.from_text(text))
    new, old = expanded.source.text, expanded.original.text
    for found in re.finditer(r"[a-z]+|[]{}[]", new):
        place = expanded.locate(Span(source=expanded.source, start=found.start(), end=found.end()))
        assert old[place.start : place.end] in (found.group(), "$a", "$b", "$0")
    whole = expanded.locate(Span(source=expanded.source, start=0, end=len(new)))
    assert whole.end == len(old)


@given(st.text(alphabet='$ab01=?! \n{}[]<>,()"calcmemrefx+-.;', max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        preprocess(Source.from_text(text))
    except TablaError as fault:
        assert fault.hint and fault.labels and str(fault)
