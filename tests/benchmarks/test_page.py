"""The page of the learning problems says what is scheduled now."""

from __future__ import annotations

from pathlib import Path

from benchmarks.learning.problems import problems
from tabla.driver import build

PAGE = Path(__file__).parents[2] / "docs" / "learning-benchmarks.md"
PES = 64


def test_cycles_and_bounds_of_the_page() -> None:
    lines = [line.split("|") for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    head = [cell.strip() for cell in lines[0]]
    rows = {(row[head.index("program")].strip(), row[head.index("PEs")].strip()): row for row in lines[1:]}
    for problem in problems():
        report = build(problem.file, problem.options(PES)).report()
        row = rows[problem.name, str(PES)]
        said = [float(row[head.index(name)].split()[0].replace(",", "")) for name in ("cycles", "bound")]
        assert said == [report.cycles, report.bound], problem.name
