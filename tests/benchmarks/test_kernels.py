"""The table of kernels: a small kernel of each family, and the text of a row."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.kernels.measure import measure
from benchmarks.kernels.problems import GEN_SECONDS, Kernel, kernels
from tests.benchmarks.test_page import table

KERNELS = {kernel.name: kernel for kernel in kernels()}
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


@pytest.mark.parametrize("kernel", SMALL, ids=lambda kernel: kernel.name)
def test_counted_as_predicted(kernel: Kernel) -> None:
    row = measure(kernel)
    assert row.cycles == row.counted >= row.bound and row.met
    assert row.line().startswith(kernel.name) and "MISSED" not in row.line()
    assert "MISSED" in replace(row, most=row.cycles - 1).line()
    assert "MISSED" in replace(row, aim=1.5).line() and not replace(row, aim=1.5).as_json()["met"]


def test_files_are_all_in_the_table() -> None:
    listed = {kernel.path for kernel in kernels()}
    assert listed == set(next(iter(listed)).parent.glob("*.tc"))


def rows_of_the_page() -> list[object]:
    """Return the kernels of which the record on kernels says cycles, bound and latency; all but one are slow."""
    _, lines = table(Path(__file__).parents[2] / "docs" / "decisions" / "0011-kernels.md")
    cases = [(row[1], [int(cell.replace(",", "")) for cell in row[2:5]]) for row in lines if row[1] in KERNELS]
    marks = [() if number == 7 else pytest.mark.slow for number in range(len(cases))]
    return [pytest.param(name, said, id=name, marks=mark) for (name, said), mark in zip(cases, marks, strict=True)]


@pytest.mark.parametrize(("name", "said"), rows_of_the_page())
def test_rows_of_the_page(name: str, said: list[int]) -> None:
    row = measure(KERNELS[name])
    assert [row.cycles, row.bound, row.latency] == said and row.counted == row.cycles
    assert row.seconds <= GEN_SECONDS


def test_the_page_has_all_networks_and_attentions() -> None:
    shown = {name for name in KERNELS if name.startswith(("MLP 64-64", "attention"))}
    assert {case.id for case in rows_of_the_page()} == shown  # type: ignore[attr-defined]
