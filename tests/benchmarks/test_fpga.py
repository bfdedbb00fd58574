"""The table of ``make bench-fpga``: its arithmetic, and its form in docs/fpga.md."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks.fpga import SIZES, key, markdown, show
from benchmarks.learning.aims import PEER

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "fpga.md"
ROW = {
    "program": "svm 54",
    "pes": 16,
    "part": "LFE5U-85F",
    "grade": 6,
    "words_per_beat": 2,
    "cycles": 50,
    "LUT": 3200,
    "FF": 10,
    "DSP": 17,
    "RAM": 60,
    "lut_per_pe": 200,
    "megahertz": 150.0,
    "limit": "",
    "samples_per_second": 3_000_000,
    "seeds": {"1": 140.0, "2": 150.0},
    "critical_path": "",
}


def test_a_row_in_text_and_markdown() -> None:
    assert show(ROW).split() == "svm 54 16 LFE5U-85F, 6 50 3200 200 10 17 60 150.0 3,000,000".split()
    line = "| svm 54 | 16 | 50 | 158 | LFE5U-85F, 6 | 150.0 (2) | 3,000,000 | 3,200 (200) | 17 | 60 |"
    assert markdown([ROW]).splitlines()[2:] == [line]
    unplaced = {**ROW, "megahertz": None, "samples_per_second": None, "seeds": {}}
    assert "| not routed |  |" in markdown([unplaced]) and " - " in show(unplaced)


def test_rows_are_ordered_by_size_then_program() -> None:
    larger, other = {**ROW, "pes": 64}, {**ROW, "program": "linear 55"}
    assert sorted([larger, ROW, other], key=key) == [other, ROW, larger]


def test_the_figures_of_a_row_fit_together() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text.count(markdown([])) == 1
    found = re.findall(
        r"^\| ([\w -]+) \| (\d+) \| (\d+) \| (\d*) \| LFE5U\w*-85F, \d"
        r" \| ([\d.]+ \(\d\)|not routed) \| ([\d,]*) \| ([\d,]+) \((\d+)\)",
        text,
        re.MULTILINE,
    )
    assert len(found) == 30
    for program, pes, cycles, peer, clock, rate, luts, each in found:
        assert program in SIZES
        assert peer == str(PEER.get((program, int(pes)), ""))
        assert round(int(luts.replace(",", "")) / int(pes)) == int(each)
        if clock == "not routed":
            assert rate == ""
        else:
            assert int(rate.replace(",", "")) == pytest.approx(float(clock.split()[0]) * 1e6 / int(cycles), rel=1e-3)
