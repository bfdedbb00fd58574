"""The clock rates of two flows: the form of their table, and that the README says what the table says."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from benchmarks import flows
from benchmarks.flows import markdown, verilog_of

ROOT = Path(__file__).resolve().parents[2]
ROW = re.compile(
    r"^\| (the core alone|with the AXI wrapper, 32 bits) \| ([^|]+) \| ([\d.]+) \(4\) \| ([\d.]+) \|", re.MULTILINE
)
TAKEN = {"LUT": 4230, "FF": 5433, "DSP": 18, "RAM": 52}


def test_a_row_has_the_best_and_the_worst_seed() -> None:
    runs = [
        {"design": "core", "flow": "plain", "seed": seed, "megahertz": rate, **TAKEN}
        for seed, rate in ((1, 120.0), (2, 131.25), (3, 118.5))
    ]
    row = "| the core alone | plain `synth_ecp5` and nextpnr | 131.2 (3) | 118.5 | 4,230 | 5,433 | 18 | 52 |"
    assert markdown(runs).splitlines()[2:] == [row]


def test_the_wrapper_is_around_the_core() -> None:
    (core, top), (whole, wrapper) = verilog_of("core"), verilog_of("axi")
    assert wrapper == f"{top}_axi" and f"module {wrapper} " in whole and f"module {wrapper} " not in core


def test_runs_that_are_there_are_not_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made: list[tuple[str, int]] = []

    def runs_of(design: str) -> object:
        def run(seed: int) -> dict[str, float]:
            made.append((design, seed))
            return {**TAKEN, "megahertz": 100.0 + seed}

        return run

    monkeypatch.setattr(flows, "plain_runs", runs_of)
    file = tmp_path / "flows.json"
    assert flows.main(["--only", "plain", "--seeds", "1", "--json", str(file)]) == 0
    assert flows.main(["--only", "plain", "--seeds", "2", "--json", str(file)]) == 0
    assert made == [("core", 1), ("axi", 1), ("core", 2), ("axi", 2)]
    assert len(json.loads(file.read_text(encoding="utf-8"))["runs"]) == 4
    assert "| 102.0 (2) | 101.0 |" in file.with_suffix(".md").read_text(encoding="utf-8")
    assert "seed 2: 102.0 MHz" in capsys.readouterr().out


def test_the_readme_has_the_best_rates_of_the_page() -> None:
    page = (ROOT / "docs" / "fpga.md").read_text(encoding="utf-8")
    rows = ROW.findall(page)
    assert page.count(markdown([])) == 1 and len(rows) == 4
    assert all(float(best) >= float(worst) for *_, best, worst in rows)
    core_synth, core_plain, axi_synth, axi_plain = (best for *_, best, _ in rows)
    words = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    for said in (
        f"reaches {core_synth} MHz",
        f"and {axi_synth} MHz with the",
        f"reach {core_plain} and {axi_plain} MHz",
    ):
        assert said in words, said
