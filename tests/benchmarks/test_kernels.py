"""The table of kernels: a small kernel of each family, and the text of a row."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.kernels.measure import measure
from benchmarks.kernels.problems import Kernel, kernels

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
