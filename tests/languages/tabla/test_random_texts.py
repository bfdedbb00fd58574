"""Any text gives a program or a `TablaError`; right texts give programs that print and read back."""

from __future__ import annotations

import importlib.util
import random
import sys
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from tabla.base.source import Source, TablaError
from tabla.languages.tabla import parse
from tabla.languages.tabla.program import Program
from tabla.languages.tabla.text import program_text

_spec = importlib.util.spec_from_file_location("random_programs", Path(__file__).with_name("random_programs.py"))
assert _spec is not None and _spec.loader is not None
random_programs = importlib.util.module_from_spec(_spec)
sys.modules["random_programs"] = random_programs  # dataclasses look their module up there
_spec.loader.exec_module(random_programs)

WORDS = [
    *(
        "model_input",
        "model_output",
        "model",
        "gradient",
        "iterator",
        "->",
        "=",
        "==",
        "<",
        ">=",
        "!=",
        "+",
        "-",
        "*",
    ),
    *(
        "/",
        "(",
        ")",
        "[",
        "]",
        ";",
        ";",
        ":",
        ",",
        "x",
        "y'",
        "w",
        "g",
        "i",
        "j",
        "m",
        "mu",
        "sum",
        "pi",
        "norm",
    ),
    *(
        "sigmoid",
        "log",
        "min",
        "0",
        "1",
        "3",
        "0.5",
        "1e9",
        "//",
        "/*",
        "*/",
        "\n",
        " ",
        "\t",
        "é",
        "$",
        "'",
        ".",
    ),
]


def outcome(text: str) -> Program | TablaError:
    try:
        return parse(Source.from_text(text))
    except TablaError as fault:
        assert fault.message and fault.file and fault.line and fault.column
        assert str(fault).startswith("error: ")
        return fault


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(WORDS), max_size=40).map(" ".join))
def test_word_soup(text: str) -> None:
    outcome(text)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=60))
def test_character_soup(text: str) -> None:
    outcome(text)


@settings(max_examples=200, deadline=None)
@given(random_programs.programs())
def test_right_texts(text: str) -> None:
    program = outcome(text)
    assert isinstance(program, Program), f"{text}\n{program}"
    printed = program_text(program)
    again = outcome(printed)
    assert isinstance(again, Program), f"{printed}\n{again}"
    assert again.assignments == program.assignments and again.gradients == program.gradients
    assert program_text(again) == printed


@settings(max_examples=200, deadline=None)
@given(random_programs.programs(), st.randoms(use_true_random=False))
def test_damaged_texts(text: str, chance: random.Random) -> None:
    at = chance.randrange(len(text))
    outcome(text[:at] + chance.choice(["", ";", "]", "+", "q", "@", " "]) + text[at + 1 :])
