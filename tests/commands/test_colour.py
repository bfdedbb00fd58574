"""Colour: where a terminal has it, where a variable asks for it, and never in a pipe."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabla.commands.cli import main
from tabla.commands.colour import _line, has_colour

VARIABLES = ("NO_COLOR", "FORCE_COLOR", "TERM")
SEQUENCE = re.compile(r"\x1b\[[0-9;]*m")


class Terminal(io.StringIO):
    """A terminal that keeps what is written."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("variables", "terminal", "pipe"),
    [
        ({"TERM": "xterm"}, True, False),
        ({"TERM": "xterm", "NO_COLOR": "1"}, False, False),
        ({"TERM": "xterm", "NO_COLOR": ""}, True, False),
        ({"TERM": "dumb"}, False, False),
        ({"TERM": "dumb", "FORCE_COLOR": "1"}, True, True),
        ({"TERM": "xterm", "FORCE_COLOR": "1", "NO_COLOR": "1"}, False, False),
        ({}, True, False),
    ],
)
def test_who_has_colour(monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], terminal: bool, pipe: bool) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert has_colour(Terminal()) is terminal
    assert has_colour(io.StringIO()) is pipe


@given(st.text(st.characters(exclude_characters="\x1b\n")))
def test_colour_changes_no_character(line: str) -> None:
    assert SEQUENCE.sub("", _line(line)) == line


def test_a_fault_has_its_word_place_and_caret_in_colour(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    file = tmp_path / "p.t"
    file.write_text("model_input x;\nmodel w;\ngradient g -> w;\ng = x * 3 ^ v;\n")
    assert main(["check", str(file)]) == 1
    plain = capsys.readouterr().err
    assert "\x1b" not in plain
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert main(["check", str(file)]) == 1
    colour = capsys.readouterr().err
    assert SEQUENCE.sub("", colour) == plain
    assert colour.startswith("\x1b[1;31merror:\x1b[0m ") and "\x1b[34m -->" in colour and "\x1b[1;31m^" in colour
    assert "\x1b[1;32mhint:\x1b[0m" in colour


def test_a_wrong_command_line_has_colour_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert main(["gen"]) == 2
    assert capsys.readouterr().err.startswith("\x1b[1;31merror:\x1b[0m ")


def test_standard_output_of_a_pipe_has_none(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    assert main(["targets"]) == 0
    assert "note: gowin" in (said := capsys.readouterr().out) and "\x1b" not in said
