"""Mistakes in TableGen files, of ``tabla tblgen``, and in the names of templates and formats."""

from __future__ import annotations

import pytest

from tests.mistakes.conftest import Refused
from tests.mistakes.mistake import Mistake, mistake, usage


def records(td: str, *says: str) -> Mistake:
    """Return the mistake of a file of records."""
    return mistake("tblgen r.td", *says, r_td=td)


def preset(td: str, *says: str) -> Mistake:
    """Return the mistake of a preset of one's own, called ``Mine``."""
    words = "check model.t --templates r.td --template Mine"
    return mistake(words, *says, r_td=f'include "machine.td"\n{td}\n')


COMMAND = {
    "no file": usage("tblgen", "FILE.td"),
    "two files": usage("tblgen mine.td mine.td", "unrecognized arguments: mine.td"),
    "no such file": mistake("tblgen no.td", "cannot read 'no.td'", "hint: check the path"),
    "a folder": mistake("tblgen .", "cannot read '.'"),
    "a program": mistake("tblgen model.t", "unexpected name m", " --> model.t:1:1"),
    "not a text": mistake("tblgen r.td", "'r.td' is not UTF-8 text", r_td=b"\xff\xfe"),
    "two actions": usage("tblgen mine.td --print-records --dump-json", "only one of them can be"),
    "an unknown action": usage("tblgen mine.td --gen-verilog", "unrecognized arguments: --gen-verilog"),
    "includes without a folder": mistake(
        "tblgen mine.td", "could not find include file 'machine.td'", "no -I directories"
    ),
    "includes in a missing folder": mistake("tblgen mine.td -I no", "could not find include file", "searched: "),
    "an output in no folder": mistake("tblgen r.td -o no/out", "there is no folder 'no'", r_td="def A;"),
    "a folder as output": mistake("tblgen r.td -o .", "'.' is a folder", r_td="def A;"),
}
# The class uses its argument, because an argument that no value names has a warning of its own before the error.
CLASS = "class A<int n> { int N = n; }"
RECORDS = {
    "no class": records("def A : B;", "couldn't find class 'B'", " --> r.td:1:9"),
    "no end": records("def A {", "the file ends in the middle of a statement"),
    "no semicolon": records("def A { int N = 3 }", " --> r.td:1:"),
    "a text as number": records(f'{CLASS}\ndef B : A<"x">;', "is of type string; expected type int", " --> r.td:2:9"),
    "a text in a field": records('def A { int N = 1; let N = "s"; }', "field 'N' of type 'int' is incompatible"),
    "an unknown field": records("def A { let N = 3; }", "'N'", " --> r.td:1:"),
    "a name twice": records("def A;\ndef A;", "def already exists: A", " --> r.td:2:"),
    "too many arguments": records(f"{CLASS}\ndef B : A<1, 2>;", "too many template arguments: 2", " --> r.td:2:14"),
    "no argument": records(f"{CLASS}\ndef B : A;", "value not specified", "'A:n'", " --> r.td:2:9"),
    "no include": records('include "no.td"', "could not find include file 'no.td'"),
    "an open #ifdef": records("#ifdef X\n", "without a matching #endif"),
    "an open text": records('def A { string S = "s; }', " --> r.td:1:"),
    "a division by zero": records("def A { int N = !div(1, 0); }", " --> r.td:1:"),
    "a class twice": records("class A { int N; }\nclass A { int M; }", "'A'", " --> r.td:2:"),
}
NAMES = {
    "an unknown template": mistake("check model.t --template Pe17", "unknown template 'Pe17'", "Pe16"),
    "another case": mistake("check model.t --template pe16", "unknown template 'pe16'", "Pe16"),
    "an empty name": mistake("check model.t --template=", "unknown template ''"),
    "no preset of one's own": mistake("check model.t --templates mine.td --template Yours", "'Yours'", "Mine"),
    "no file": mistake("check model.t --templates no.td --template Mine", "cannot read 'no.td'"),
    "a folder": mistake("check model.t --templates . --template Mine", "cannot read '.': it is a folder"),
    "a file that nothing uses": mistake("check model.t --templates mine.td", "no option uses any of them"),
    "a file that is no records": mistake("check model.t --templates model.t --template Mine", " --> model.t:1:1"),
    "200 PEs": preset("def Mine : Template<200>;", "template 'Mine': 200 PEs are not supported", "ask for 1 to 128"),
    "a PU that does not divide": preset("def Mine : Template<12, 5>;", "5 PEs per PU do not divide 12 PEs"),
    "a format that is too wide": preset(
        "def Mine : Template<4> { let FractionBits = 40; }", "Mine", "is not supported"
    ),
    "a field with a slip": preset("def Mine : Template<4> { let FractionBit = 8; }", "FractionBit", " --> r.td:2:"),
    "a preset twice": preset("def Pe16 : Template<4>;\ndef Mine : Template<4>;", "Pe16"),
    "an unknown format": mistake("check model.t --format bfloat16", "'bfloat16' is not a number format"),
    "a format without bits": mistake("check model.t --format q0.0", "format q0.0 is not supported"),
    "a format of 40 bits": mistake("check model.t --format q20.20", "format q20.20 is not supported", "8 to 32 bits"),
    "a list of unknown records": mistake("templates --templates no.td", "cannot read 'no.td'"),
}


@pytest.mark.parametrize("name", COMMAND)
def test_tblgen(refused: Refused, name: str) -> None:
    refused(COMMAND[name])


@pytest.mark.parametrize("name", RECORDS)
def test_records(refused: Refused, name: str) -> None:
    refused(RECORDS[name])


@pytest.mark.parametrize("name", NAMES)
def test_templates(refused: Refused, name: str) -> None:
    refused(NAMES[name])
