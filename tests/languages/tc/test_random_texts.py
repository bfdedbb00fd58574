"""No text is a fault of ours: programs with words taken out, doubled or exchanged are read or refused with a cure."""

from __future__ import annotations

import re
from cProfile import Profile
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tabla.base.source import Source, TablaError
from tabla.languages.preprocess import preprocess
from tabla.languages.tc import parse, ranges_text

PROGRAMS = sorted((Path(__file__).parents[2] / "programs" / "tc").glob("*.tc"))
WORDS = re.compile(r"\w+|[-+*/%<>=!&|]+|[^\w\s]|\s+")
EXTRA = "( ) { } , : ? = +=! max=! min= -> def where in exists min float int32 0 1 2.5 . ; $n [ A B i N x exp".split()


def read(text: str) -> None:
    try:
        ranges_text(parse(Source.from_text(text, "k.tc")))
    except TablaError as fault:
        for one in (fault, *fault.more):
            assert one.hint and one.labels and str(one)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(PROGRAMS), st.data())
def test_broken_programs(path: Path, data: Any) -> None:
    words = WORDS.findall(path.read_text(encoding="utf-8"))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(words) - 1))
        match data.draw(st.integers(0, 3)):
            case 0:
                del words[at]
            case 1:
                words.insert(at, words[at])
            case 2:
                words[at] = data.draw(st.sampled_from(EXTRA))
            case _:
                other = data.draw(st.integers(0, len(words) - 1))
                words[at], words[other] = words[other], words[at]
    read("".join(words))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(EXTRA), max_size=40))
def test_any_words(words: list[str]) -> None:
    read("def f(float(N) A) -> (B) { B(i) = " + " ".join(words))


def test_long_programs_take_linear_work() -> None:
    def calls(statements: int) -> int:
        body = "\n".join(f"  B{n}(i) = A(i) * {n} + A(i)" for n in range(statements))
        profile = Profile()
        profile.runcall(read, f"def f(float(N) A) -> (B0) {{\n{body}\n}}")
        return sum(entry.callcount for entry in profile.getstats())

    # Calls, not seconds: those of a busy machine say little.
    calls(50)
    assert calls(800) < 9 * calls(100)


def test_long_sums_are_no_deep_ones() -> None:
    parse(Source.from_text("def f(float(N) A) -> (B) { B(i) = " + " + ".join(["A(i)"] * 120) + " }"))
    read("def f(float(N) A) -> (B) { B(i) = " + " + ".join(["A(i)"] * 3000) + " }")
    read("def f(float(N) A) -> (B) { B(i) = " + "(" * 3000 + "A(i)" + ")" * 3000 + " }")
    read("def f(float(N) A) -> (B) { B(i) = " + "(" * 3000)


def test_behind_the_preprocessor() -> None:
    text = "$t = float\n$k ?= 3\ndef f($t(N) A) -> (B) {\n  B(i) +=! A(i + k) where k in 0:$k\n}\n"
    source = Source.from_text(text, "k.tc")
    expanded = preprocess(source, {"k": "5"})
    with expanded.pointing_back():
        assert "i in [0, N-4)" in ranges_text(parse(expanded.source))
    broken = preprocess(Source.from_text("$k = 2.5\ndef f(float(N) A) -> (B) { B(i) = A(i) where i in 0:$k }", "k.tc"))
    try:
        with broken.pointing_back():
            parse(broken.source)
    except TablaError as fault:
        assert (fault.line, fault.column) == (2, 53) and "'$k' stands for '2.5'" in str(fault)
    else:
        raise AssertionError("a range ends at an integer")
