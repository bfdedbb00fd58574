"""Mistakes of ``tabla preprocess`` and ``tabla ranges``."""

from __future__ import annotations

import pytest

from tests.mistakes.conftest import KERNEL, Refused
from tests.mistakes.mistake import mistake, usage

PREPROCESS = {
    "no text": usage("preprocess", "FILE"),
    "two texts": usage("preprocess model.t kernel.tc", "unrecognized arguments: kernel.tc"),
    "no such file": mistake("preprocess no.t", "cannot read 'no.t'", "check the path"),
    "a folder": mistake("preprocess .", "cannot read '.'"),
    "not a text": mistake("preprocess p.t", "'p.t' is not UTF-8 text", "save it as UTF-8", p_t=b"\xff\xfe"),
    "an unknown definition": mistake("preprocess model.t -D n=3", "'model.t' does not use $n", "leave it out"),
    "a definition without a value": usage(
        "preprocess model.t -D m", "'m' is not NAME=VALUE", "hint: write a name and its value: m=30"
    ),
    "a definition without a name": usage("preprocess model.t -D =3", "'=3' is not NAME=VALUE"),
    "a use before the definition": mistake(
        "preprocess p.t", "'$a' is used but not defined", " --> p.t:1:5", p_t="x = $a;"
    ),
    "a slip": mistake("preprocess p.t", "did you mean '$size'?", p_t="$size = 3;\nx = $sise;\n"),
    "a definition by itself": mistake("preprocess p.t", "'$a' is used but not defined", p_t="$a = $a + 1; x = $a;"),
    "a definition of nothing": mistake("preprocess p.t", "expected a value, not ';'", p_t="$a = ;"),
    "an operator between": mistake("preprocess p.t", "ends before '/'", "!calc(1 0 /)", p_t="$a = 1 / 0; x = $a;"),
    "a division by zero": mistake("preprocess p.t", " --> p.t:1", p_t="$a = !calc(1 / 0); x = $a;"),
    "the end of a text": mistake("preprocess p.t", " --> p.t:1", p_t='$a = "text'),
    "an output in no folder": mistake("preprocess model.t -o no/out.t", "there is no folder 'no'", "make it first"),
    "a folder as output": mistake("preprocess model.t -o .", "'.' is a folder", "name a file"),
}
RANGES = {
    "no kernel": usage("ranges", "FILE.tc"),
    "no such file": mistake("ranges no.tc", "cannot read 'no.tc'", "check the path"),
    "a model": mistake("ranges model.t", "'model.t' has no ranges to infer", "ranges are those of a .tc file"),
    "a Tile function": mistake("ranges layer.py:double", "has no ranges to infer"),
    "a folder": mistake("ranges .", "'.' has no ranges to infer"),
    "no such kernel": mistake("ranges kernel.tc:cross", "there is no function 'cross'", "the file defines dot"),
    "no text": mistake("ranges k.tc", "there is no function", k_tc=""),
    "a slip": mistake("ranges k.tc", " --> k.tc:1", k_tc=KERNEL.replace("B(i)", "B(i")),
    "a size with a slip": mistake("ranges kernel.tc --size M=4", "'dot' has no size 'M'", "the sizes of 'dot' are N"),
    "no elements": usage("ranges kernel.tc --size N=0", "0 is less than 1"),
    "a size of letters": usage("ranges kernel.tc --size N=four", "'four' is not a whole number"),
    "a size without a value": usage("ranges kernel.tc --size N", "'N' is not NAME=NUMBER"),
    "a definition": mistake("ranges kernel.tc -D a=3", "'kernel.tc' does not use $a", "--size a="),
    "no such inputs": mistake("ranges kernel.tc --inputs no.npz", "cannot read 'no.npz'"),
    "inputs of another kind": mistake("ranges kernel.tc --inputs model.t", "neither .npz nor .csv"),
    "inputs of another program": mistake("ranges kernel.tc --inputs data.npz", "'dot'"),
}


@pytest.mark.parametrize("name", PREPROCESS)
def test_preprocess(refused: Refused, name: str) -> None:
    assert "hint: " in refused(PREPROCESS[name])


@pytest.mark.parametrize("name", RANGES)
def test_ranges(refused: Refused, name: str) -> None:
    assert "hint: " in refused(RANGES[name])
