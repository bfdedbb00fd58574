"""The table of kernels: a small kernel of each family, and the text of a row."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.kernels.measure import measure
from benchmarks.kernels.problems import GEN_SECONDS, LATENCY, Kernel, kernels
from tests.benchmarks.test_page import table

KERNELS = {kernel.name: kernel for kernel in kernels()}
# Rows whose latency is more than 1.15 times the plain path; record 29 says why.
MISSED = {
    "MLP 64-64-32-10, 1 row, 64 PEs, latency",
    "MLP 64-64-32-10, 16 rows, 64 PEs, latency",
    "attention 16 x 16, 16 PEs, latency",
    "attention 16 x 16, 64 PEs, latency",
    "attention 32 x 16, 16 PEs, latency",
    "attention 32 x 16, 64 PEs, latency",
    "softmax of 8 rows of 64, latency",
}
QUICK = {"attention 16 x 16, 64 PEs", "MLP 64-32-10, latency", "mean of 2, 16 channels"}
SMALL = [
    replace(KERNELS["matmul 16, A and B on chip"]),
    replace(KERNELS["matmul 16, B on chip"]),
    replace(KERNELS["conv2d 3x3, F on chip"], sizes={"C": 2, "H": 6, "W": 7, "O": 5}, aim=None),
    replace(
        KERNELS["sparse conv2d 3x3, F on chip"],
        sizes={"C": 5, "H": 3, "W": 3, "KC": 8, "KH": 2, "KW": 2, "O": 16},
        aim=0.8,
    ),
    KERNELS["MLP 64-32-10"],
    replace(KERNELS["MLP 64-64-32-10, 1 row, 16 PEs, latency"], sizes={"N": 1, "I": 16, "H": 8, "G": 8, "O": 4}, pes=4),
    replace(KERNELS["attention 16 x 16, 16 PEs"], sizes={"T": 4, "S": 4, "D": 4, "E": 4}, pes=8),
    replace(KERNELS["softmax of 8 rows of 64"], sizes={"N": 2, "D": 9}),
    replace(KERNELS["cumulative sum of 64"], sizes={"N": 8}),
    replace(KERNELS["gather 64 rows of 16"], sizes={"V": 4, "D": 3, "N": 8}),
    replace(KERNELS["argmin of 16 rows of 32"], sizes={"N": 4, "D": 8}),
    KERNELS["softmax 16x64, 64 PEs, S 8"],
    KERNELS["depthwise 3x3, 64 PEs, S 8"],
    replace(KERNELS["transposed conv2d 3x3 stride 2"], sizes={"C": 4, "H": 3, "W": 4, "K": 3, "O": 4}),
]


# Those on 64 PEs take long, and a row of the page is measured on as many.
SLOW = {"softmax 16x64, 64 PEs, S 8", "depthwise 3x3, 64 PEs, S 8"}


@pytest.mark.parametrize(
    "kernel",
    [pytest.param(kernel, id=kernel.name, marks=[pytest.mark.slow] if kernel.name in SLOW else []) for kernel in SMALL],
)
def test_counted_as_predicted(kernel: Kernel) -> None:
    # A tiny network waits for latencies rather than for its products, and is no row of the table.
    row = replace(measure(kernel), path=None)
    assert row.cycles == row.counted >= row.bound and row.met
    assert "MISSED" in replace(row, path=int(row.latency / 1.16)).line()
    assert row.line().startswith(kernel.name) and "MISSED" not in row.line()
    assert "MISSED" in replace(row, most=row.cycles - 1).line()
    assert "MISSED" in replace(row, aim=1.5).line() and not replace(row, aim=1.5).as_json()["met"]


def test_files_are_all_in_the_table() -> None:
    listed = {kernel.path for kernel in kernels()}
    assert listed == set(next(iter(listed)).parent.glob("*.tc"))


Said = list[int]


def rows_of_the_page() -> list[object]:
    """Return the kernels of which the record on kernels says cycles, bound, latency and plain path; most are slow."""
    _, lines = table(Path(__file__).parents[2] / "docs" / "decisions" / "0011-kernels.md")
    cases = [(row[1], [int(cell.replace(",", "") or 0) for cell in row[2:6]]) for row in lines if row[1] in KERNELS]
    marks = [() if name in QUICK else pytest.mark.slow for name, _ in cases]
    return [pytest.param(name, said, id=name, marks=mark) for (name, said), mark in zip(cases, marks, strict=True)]


@pytest.mark.parametrize(("name", "said"), rows_of_the_page())
def test_rows_of_the_page(name: str, said: Said) -> None:
    row = measure(KERNELS[name])
    assert [row.cycles, row.bound, row.latency, row.path or 0] == said and row.counted == row.cycles
    assert row.seconds <= GEN_SECONDS
    assert row.met == (name not in MISSED)


def test_the_page_has_all_networks_and_attentions_and_all_with_aims_for_cycles_or_latency() -> None:
    shown = {name for name in KERNELS if name.startswith(("MLP 64-64", "attention", "mean"))}
    shown |= {name for name, kernel in KERNELS.items() if kernel.most or kernel.objective == "latency"}
    assert {case.id for case in rows_of_the_page()} == shown  # type: ignore[attr-defined]


def test_ratios_of_the_page_are_those_of_its_latencies_and_paths() -> None:
    head, lines = table(Path(__file__).parents[2] / "docs" / "decisions" / "0011-kernels.md")
    for row in lines:
        latency, path, ratio = (row[head.index(name)].replace(",", "") for name in ("latency", "path", "ratio"))
        assert ratio == (f"{int(latency) / int(path):.2f}" if path else ""), row
        assert not path or (int(latency) > LATENCY * int(path)) == (row[1] in MISSED), row
