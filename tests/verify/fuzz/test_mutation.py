"""Planted faults of Python sources, the verdicts that are kept, and the page that shows them."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from verify.fuzz.equivalence import proved_equivalent
from verify.fuzz.judges import judge_of
from verify.fuzz.mutation import CAMPAIGNS, files_of
from verify.fuzz.mutation_page import PAGE, page
from verify.fuzz.planting import ROOT
from verify.fuzz.source_mutants import changed_texts, source_mutants
from verify.fuzz.verdicts import keep, keep_only, known
from verify.fuzz.verilog_mutants import Mutant

SOURCE = '''
def f(a: int | None, b: bool = True) -> int | None:
    """Return a + 1."""
    if a and b:
        raise ValueError(f"{a + 1}")
    with m.If(~a | (b << 2)):
        m.d.sync += c.eq(Mux(a, b, c))
    return None if a < 3 else -a
'''
CHANGED = {
    (2, "b: bool = False"),
    (4, "if a or b:"),
    (4, "if not (a and b):"),
    (6, "m.If(a | (b << 2))"),
    (6, "m.If(~a & (b << 2))"),
    (6, "m.If(~a | (b >> 2))"),
    (6, "m.If(~a | (b << 3))"),
    (6, "m.If(~(~a | (b << 2)))"),
    (7, "c.eq(Mux(a, c, b))"),
    (8, "if a >= 3 else"),
    (8, "if a < 4 else"),
    (8, "else a"),
}
ADDERS = """module adder(input clk, input [1:0] a, input [1:0] b, output reg [1:0] s);
  wire [2:0] sum = {1'b0, a} + {1'b0, b};
  always @(posedge clk) s <= sum[1:0];
endmodule

module unseen(input clk, input [1:0] a, output [1:0] s);
  wire [1:0] carry;
  adder inner (.clk(clk), .a(a), .b(2'b01), .s(carry));
  assign s = carry & 2'b00;
endmodule

module top(input clk, input [1:0] a, input [1:0] b, output [1:0] s, output [1:0] none);
  adder seen (.clk(clk), .a(a), .b(b), .s(s));
  unseen other (.clk(clk), .a(a), .s(none));
endmodule
"""


def test_every_change_of_a_source_is_one_of_behaviour() -> None:
    found = changed_texts(SOURCE)
    assert len(found) == len(CHANGED)
    for line, part in CHANGED:
        (text,) = [text for at, text in found if at == line and part in text.split("\n")[at - 1]]
        ast.parse(text)


def test_a_longer_drawing_begins_with_a_shorter_one() -> None:
    files = files_of("check")
    few, many = source_mutants(ROOT, files, 5, 1), source_mutants(ROOT, files, 20, 1)
    assert many[:5] == few != source_mutants(ROOT, files, 5, 2)
    assert len({mutant.key for mutant in many}) == 20


@pytest.mark.parametrize("campaign", CAMPAIGNS)
def test_every_file_has_judges_that_there_are(campaign: str) -> None:
    for file in files_of(campaign):
        judge = judge_of(file)
        assert judge.tests and all((ROOT / test.partition("::")[0]).is_file() for test in judge.tests)


def test_a_case_that_judges_name_is_none_that_they_leave_out() -> None:
    """Judges leave out slow tests, but for proofs. So a case that they name must not become a slow one."""
    judges = [judge_of(file) for campaign in CAMPAIGNS for file in files_of(campaign)]
    named = {test for judge in judges for test in (*judge.tests, *judge.wider) if "::" in test}
    cases = sorted(test for test in named if not test.startswith("tests/verify/prove/"))
    assert len(cases) > 20
    words = ["-q", "-p", "no:cacheprovider", "-m", "not slow", "--collect-only", *cases]
    ended = subprocess.run([sys.executable, "-m", "pytest", *words], cwd=ROOT, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout
    found = ended.stdout.splitlines()
    assert [case for case in cases if not any(line.startswith(case) for line in found)] == []


def test_verdicts_are_kept_side_by_side(tmp_path: Path) -> None:
    kept = tmp_path / "verdicts.json"
    for campaign, asked, key in (("hw", 5, "a"), ("check", 2, "a"), ("hw", 3, "b")):
        keep(campaign, asked, key, {"caught": key == "a"}, kept)
    assert known(kept) == {
        "check": {"asked": 2, "verdicts": {"a": {"caught": True}}},
        "hw": {"asked": 5, "verdicts": {"a": {"caught": True}, "b": {"caught": False}}},
    }


def test_the_page_is_that_of_the_verdicts() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(known())


@pytest.mark.parametrize(
    ("before", "after", "equal"),
    [
        ("{1'b0, a} + {1'b0, b}", "{1'b1, a} + {1'b0, b}", True),
        ("{1'b0, a} + {1'b0, b}", "{1'b0, a} - {1'b0, b}", False),
        ("carry & 2'b00", "carry & 2'b01", False),
        (".b(2'b01)", ".b(2'b11)", True),
    ],
)
def test_a_change_that_nobody_sees_is_proved_to_be_none(before: str, after: str, equal: bool) -> None:
    """A bit that nobody takes, and a word that is gated off one level up."""
    line = ADDERS[: ADDERS.index(before)].count("\n") + 1
    module = "adder" if "sum" in before or "1'b0" in before else "unseen"
    mutant = _mutant(line, module, before, after)
    assert mutant.text == ADDERS.replace(before, after)
    assert proved_equivalent(ADDERS, mutant, 1) == equal


def _mutant(line: int, module: str, before: str, after: str) -> Mutant:
    lines = ADDERS.split("\n")
    changed = lines[line - 1].replace(before, after)
    return Mutant(line=line, module=module, before=before, after=after, sound=lines, changed=changed)


def test_verdicts_on_faults_that_are_no_longer_drawn_are_forgotten(tmp_path: Path) -> None:
    kept = tmp_path / "verdicts.json"
    for campaign, key in (("hw", "a"), ("hw", "gone"), ("check", "gone")):
        keep(campaign, 3, key, {"caught": True}, kept)
    keep_only("hw", ["a", "not judged yet"], kept)
    keep_only("bench", ["a"], kept)
    assert known(kept) == {
        "check": {"asked": 3, "verdicts": {"gone": {"caught": True}}},
        "hw": {"asked": 2, "verdicts": {"a": {"caught": True}}},
    }


def test_a_change_elsewhere_draws_the_same_faults(tmp_path: Path) -> None:
    """A new line changes the drawing only by its own faults, which take the place of others."""
    (tmp_path / "a.py").write_text(SOURCE, encoding="utf-8")
    before = {mutant.key for mutant in source_mutants(tmp_path, ["a.py"], 8, 1)}
    (tmp_path / "a.py").write_text(f"first = other + 1\n{SOURCE}", encoding="utf-8")
    after = {mutant.key for mutant in source_mutants(tmp_path, ["a.py"], 8, 1)}
    assert all("first" in key for key in after - before) and len(before & after) >= 5
