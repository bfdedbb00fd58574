"""Records as texts: equal after reading, shared parts included, and no text that does anything else."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabla.base.record_text import NotPlain, text_of, value_of
from tabla.base.source import Source, Span
from tabla.build.options import Options
from tabla.driver import build
from tabla.graph.format import Format

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text()
    | st.fractions()
    | st.builds(lambda start: Span(source=Source(name="model.t", text="m = 3;"), start=start, end=6), st.integers(0, 6))
)
VALUES = st.recursive(
    SCALARS,
    lambda parts: (
        st.lists(parts).map(tuple)
        | st.lists(parts)
        | st.dictionaries(st.text() | st.integers(), parts)
        | st.frozensets(SCALARS)
    ),
    max_leaves=20,
)


@given(VALUES)
def test_a_value_is_read_back(value: Any) -> None:
    read = value_of(text_of(value))
    assert repr(read) == repr(value) if not _has_set(value) else read == value


def _has_set(value: Any) -> bool:
    return "frozenset" in repr(value)


def test_what_python_calls_equal_stays_apart() -> None:
    read = value_of(text_of((1, True, 1.0, Fraction(1), 0, False, -0.0, 0.0)))
    assert [type(each) for each in read] == [int, bool, float, Fraction, int, bool, float, float]
    assert repr(read) == repr((1, True, 1.0, Fraction(1), 0, False, -0.0, 0.0))


@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "uint16", "float32", "float64"])
def test_arrays_keep_their_type_shape_and_guard(dtype: str) -> None:
    array = np.arange(6).astype(dtype).reshape(2, 3)
    array.flags.writeable = False
    read = value_of(text_of((array, array[:0], np.ones((), dtype))))
    assert np.array_equal(read[0], array) and read[0].dtype == array.dtype and not read[0].flags.writeable
    assert read[1].shape == (0, 3) and read[2].shape == () and read[2].flags.writeable


def test_shared_parts_stay_shared_and_equal_ones_apart() -> None:
    one, other = [1, 2], [1, 2]
    read = value_of(text_of((one, one, other)))
    assert read[0] is read[1] and read[0] == read[2] and read[0] is not read[2]


def test_a_schedule_is_the_same_after_reading() -> None:
    made = build("examples/backprop.t", Options(pes=4, effort=0))
    assert value_of(text_of(made.schedule)).text() == made.schedule.text()


@dataclass(frozen=True)
class Foreign:
    """A dataclass from elsewhere."""

    part: int = 0


@pytest.mark.parametrize("value", [Foreign(), len, object(), Path("x"), np.array([None]), 1j, b"x", (0, Foreign())])
def test_what_has_no_text(value: Any) -> None:
    with pytest.raises(NotPlain, match="has no text"):
        text_of(value)


def _text(classes: list[Any], *nodes: Any) -> str:
    return json.dumps({"classes": classes, "nodes": nodes})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        _text([]),
        "[" * 100_000,
        _text([["os", "system", []]], ["record", 0]),
        _text([["tabla.base.source", "Path", []]], ["record", 0]),
        _text([["tabla.base.source", "Source", ["name"]]], "a", ["record", 0, 0]),
        _text([["tabla.no", "Source", []]], ["record", 0]),
        _text([["tabla.__main__", "main", []]], ["record", 0]),
        _text([["tabla.base.record_text", "json.loads", []]], ["record", 0]),
        _text([], ["record", 0]),
        _text([], ["eval", 0]),
        _text([], ["tuple", 1]),
        _text([], 1, ["float", "x"]),
        _text([], ["fraction", "1/0"]),
        _text([], ["array", "O", [1], True, "AAAAAAAAAAA="]),
        _text([], ["array", "<i8", [3], True, "AAAAAAAAAAA="]),
        _text([], ["array", "08,i8", [1], True, "AAAAAAAAAAA="]),
        _text([], ["dict", 0]),
        _text([], [], ["dict", 0, 0]),
    ],
)
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(ValueError):
        value_of(text)


def test_a_record_of_another_version_is_refused() -> None:
    text = text_of(Format(integer=4, fraction=4))
    assert value_of(text) == Format(integer=4, fraction=4)
    with pytest.raises(ValueError, match="has other fields"):
        value_of(text.replace("fraction", "fractions"))
    assert replace(value_of(text), fraction=8) == Format(integer=4, fraction=8)
