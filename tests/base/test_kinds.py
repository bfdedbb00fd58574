"""The kinds of values: what the command line reads, what Python may give, and what is written is read again."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabla.base.kinds import (
    ARGUMENTS,
    COLUMNS,
    DEFINITIONS,
    SHAPES,
    SIZES,
    ArraysOrFile,
    Choice,
    FileName,
    Kind,
    Names,
    NumberChoice,
    Object,
    RealNumber,
    Switch,
    Text,
    WholeNumber,
)
from tabla.base.source import TablaError

READ: dict[str, tuple[Kind, str, Any]] = {
    "a whole number": (WholeNumber(low=1, high=9), "9", 9),
    "a number": (RealNumber(), "-1.5e3", "-1.5e3"),
    "names": (Names(), "a, b", ["a", "b"]),
    "a definition": (DEFINITIONS, "m=10", ("m", "10")),
    "a size": (SIZES, "N=64", ("N", 64)),
    "a shape": (SHAPES, "input.1=2,8", ("input.1", (2, 8))),
    "the shape of a single value": (SHAPES, "I=", ("I", ())),
    "a literal": (ARGUMENTS, "s=(3, 3)", ("s", (3, 3))),
    "a text that is no literal": (ARGUMENTS, "s=same", ("s", "same")),
    "columns": (COLUMNS, 'x=a,"b,c"', ("x", ["a", "b,c"])),
    "one of some numbers": (NumberChoice(values=(32, 64)), "64", 64),
    "a path": (FileName(), "a/b", "a/b"),
    "arrays": (ArraysOrFile(example="{}"), "x.npz", "x.npz"),
    "an object that reads": (Object(reads=True), "0.2,0.1", "0.2,0.1"),
}
UNREADABLE: dict[str, tuple[Kind, str, str]] = {
    "too small": (WholeNumber(low=1), "0", "0 is less than 1"),
    "too large": (WholeNumber(low=1, high=9), "10", "10 is more than 9"),
    "no whole number": (WholeNumber(low=1), "1.5", "'1.5' is not a whole number"),
    "no number": (RealNumber(), "nan", "'nan' is not a number"),
    "no name": (Names(), "a,,b", "'a,,b' is not a list of names"),
    "no definition": (DEFINITIONS, "m", "'m' is not NAME=VALUE"),
    "a size of nothing": (SIZES, "N=0", "0 is less than 1"),
    "a shape of letters": (SHAPES, "I=a", "'a' is not a whole number"),
    "no column": (COLUMNS, "x=", "'x=' is not NAME=COLUMN,COLUMN,..."),
    "a value of a switch": (Switch(), "yes", "'yes' is one word too many"),
    "an object": (Object(), "f", "'f' has no meaning on the command line"),
}
WRONG: dict[str, tuple[Kind, Any, type[Exception], str]] = {
    "half": (WholeNumber(low=1), 1.5, TypeError, "n: 1.5 is not a whole number"),
    "a choice of nothing": (Choice(values=("a", "b"), what="way"), "c", ValueError, "there is no way 'c'"),
    "below all choices": (NumberChoice(values=(32, 64)), 8, ValueError, "n: 8 is less than 32"),
    "a text for a switch": (Switch(), "no", TypeError, "n: 'no' is not a truth value"),
    "a text for names": (Names(), "ab", TypeError, "n is 'ab', not names"),
    "a number for a text": (Text(example="x"), 5, TypeError, "n: 5 is not a text"),
    "a list for a mapping": (SIZES, ["N"], TypeError, "n: ['N'] does not map names to values"),
    "a size of half": (SIZES, {"N": 0.5}, TypeError, "n['N']: 0.5 is not a whole number"),
    "a number for arrays": (ArraysOrFile(example="{}"), 5, TypeError, "n: 5 does not map names to values"),
    "a number for names": (Names(example="['y']"), 5, TypeError, "n: 5 is no list of names"),
}


@pytest.mark.parametrize("case", READ)
def test_texts_are_read(case: str) -> None:
    kind, text, value = READ[case]
    assert kind.read(text) == value


@pytest.mark.parametrize("case", UNREADABLE)
def test_wrong_texts_are_refused(case: str) -> None:
    kind, text, message = UNREADABLE[case]
    with pytest.raises(TablaError) as caught:
        kind.read(text)
    assert caught.value.message == message
    assert caught.value.hint


@pytest.mark.parametrize("case", WRONG)
def test_wrong_values_are_refused(case: str) -> None:
    kind, value, fault, message = WRONG[case]
    with pytest.raises(fault) as caught:
        kind.checked("n", value)
    assert isinstance(caught.value, TablaError)
    assert caught.value.message == message


def test_later_means_that_others_check() -> None:
    assert Choice(values=("a",), what="way", later=True).checked("n", "z") == "z"


NAMES = st.from_regex(r"[a-z]\w{0,5}", fullmatch=True)


@given(st.dictionaries(NAMES, st.lists(st.integers(1, 99), max_size=3).map(tuple)))
def test_shapes_that_are_written_are_read_again(shapes: dict[str, tuple[int, ...]]) -> None:
    kept = SHAPES.checked("shapes", shapes)
    assert dict(SHAPES.read(text) for text in SHAPES.written(kept)) == shapes


@given(st.dictionaries(NAMES, st.lists(st.from_regex(r"\w[\w ,]{0,4}\w", fullmatch=True), min_size=1, max_size=3)))
def test_columns_that_are_written_are_read_again(columns: dict[str, list[str]]) -> None:
    kept = COLUMNS.checked("columns", columns)
    assert dict(COLUMNS.read(text) for text in COLUMNS.written(kept)) == columns
