"""Mistakes of ``tabla check``."""

from __future__ import annotations

import pytest

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
    refused(CHECK[name])
