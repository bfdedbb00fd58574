"""Mistakes of ``tabla check``."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tabla.commands.cli import main
from tests.mistakes.conftest import Refused
from tests.mistakes.mistake import mistake, usage

CHECK = {
    "no program": usage("check", "FILE"),
    "two programs": usage("check model.t model.t", "unrecognized arguments: model.t"),
    "no such file": mistake("check nothing.t", "cannot read 'nothing.t'", "hint: check the path"),
    "a folder": mistake("check .", "'.' is not a program", "model.t"),
    "another kind of file": mistake("check data.npz", "'data.npz' is not a program"),
    "no such kernel": mistake("check kernel.tc:cross --size N=4", "cross", "dot"),
    "no such function": mistake("check layer.py:triple --shape I=4", "triple", "double"),
    "sizes of a .t file": mistake("check model.t --size m=4", "--size", "-D"),
    "an unknown constant": mistake("check model.t -D n=4", "n", "m"),
    "too many PEs": mistake("check model.t --pes 129", "129"),
    "PEs in words": usage("check model.t --pes many", "--pes", "'many' is not a whole number"),
    "a format of another world": mistake("check model.t --format fp16", "'fp16' is not a number format"),
    "an unknown option": usage("check model.t --strict", "--strict"),
    "JSON to a missing folder": mistake("check model.t --json no/out.json", "there is no folder 'no'"),
}


@pytest.mark.parametrize("name", CHECK)
def test_check(refused: Refused, name: str) -> None:
    assert "hint: " in refused(CHECK[name])


PIPES = {
    "check": "check pipe.t",
    "gen": "gen pipe.t",
    "a kernel": "check pipe.tc",
    "a Tile function": "check pipe.py:f",
    "data": "train model.t --engine model --data pipe.npz",
    "a table": "sim model.t --inputs pipe.csv",
    "weights": "sim model.t --inputs data.npz --weights pipe.npz",
    "records": "tblgen pipe.td",
    "a text": "preprocess pipe.t",
    "ranges": "ranges pipe.tc",
}


@pytest.mark.parametrize("name", PIPES)
def test_a_pipe_that_nobody_writes_is_no_file(refused: Refused, folder: Path, name: str) -> None:
    words = PIPES[name]
    (pipe,) = (word.partition(":")[0] for word in words.split() if word.startswith("pipe."))
    os.mkfifo(folder / pipe)
    refused(mistake(words, f"'{pipe}' is a pipe, not a file", "hint: write its content to a file first"))


def test_the_pipes_of_a_shell_are_read(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    reading, writing = os.pipe()
    os.write(writing, b"def A { int N = 3; }")
    os.close(writing)
    assert main(["tblgen", f"/dev/fd/{reading}"]) == 0
    os.close(reading)
    assert "int N = 3;" in capsys.readouterr().out
