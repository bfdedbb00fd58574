"""The pages of the learning problems show the cycles that are scheduled now, and agree with each other."""

from __future__ import annotations

from itertools import takewhile
from pathlib import Path

import pytest

from benchmarks.learning.problems import problems
from benchmarks.learning.table import COLUMN_NOTES
from tabla.driver import build
from tabla.schedule.bound import full

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "learning-benchmarks.md"
PES = 64


def table(file: Path) -> tuple[list[str], list[list[str]]]:
    """Return the head of the first table of a file that has a column of programs, and the rows of all such tables with
    the same head.
    """
    lines = file.read_text(encoding="utf-8").splitlines()
    head = next(line for line in lines if line.startswith("| program |"))
    rows = [row for n, line in enumerate(lines) if line == head for row in takewhile(_in_table, lines[n + 2 :])]
    return _cells(head), [_cells(row) for row in rows]


def _in_table(line: str) -> bool:
    return line.startswith("| ")


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.split("|")]


@pytest.mark.slow
def test_cycles_and_bounds_of_the_page() -> None:
    """This makes every schedule of the page, which takes most of a minute."""
    head, lines = table(PAGE)
    rows = {(row[head.index("program")], row[head.index("PEs")]): row for row in lines}
    for problem in problems():
        made = build(problem.file, problem.options(PES))
        schedule = made.schedule
        bound = full(made.graph, schedule.template, made.format)
        row = rows[problem.name, str(PES)]
        said = [float(row[head.index(name)].split()[0].replace(",", "")) for name in ("cycles", "bound")]
        assert said == [schedule.per_sample(schedule.cycles), schedule.per_sample(bound.cycles)], problem.name


def test_the_page_explains_the_columns_as_the_benchmark_does() -> None:
    assert COLUMN_NOTES in PAGE.read_text(encoding="utf-8")


def test_cycles_on_the_fpga_are_those_of_the_page() -> None:
    head, lines = table(PAGE)
    said = {(row[head.index("program")], row[head.index("PEs")]): row[head.index("cycles")] for row in lines}
    head, lines = table(ROOT / "docs" / "fpga.md")
    assert len(lines) >= 5
    for row in lines:
        name, pes, cycles = (row[head.index(column)] for column in ("program", "PEs", "cycles"))
        assert said[name, pes] == cycles, (name, pes)


def test_the_readme_s_rows_are_rows_of_the_page_of_the_fpga() -> None:
    """Its table has figures of two tables of that page: of the array in grade 6 on 64 PEs, and of the processor."""
    text = (ROOT / "docs" / "fpga.md").read_text(encoding="utf-8")
    head, lines = table(ROOT / "docs" / "fpga.md")
    array = {
        row[head.index("program")]: row
        for row in lines
        if row[head.index("PEs")] == "64" and row[head.index("part, grade")] == "LFE5U-85F, 6"
    }
    _, shown = table(ROOT / "README.md")
    assert [row[1] for row in shown] == list(array)
    for row in shown:
        _, name, cycles, peer, rate, latency, luts, strict, fast, _ = row
        columns = ("cycles", "cycles of VeriGOOD-ML", "samples/s", "LUT4 (per PE)")
        said = [array[name][head.index(column)] for column in columns]
        assert [cycles, peer, rate] == said[:3] and said[3].startswith(f"{luts} (")
        assert f"| {name} | {strict} | {fast} | {rate} | {latency} |" in text
