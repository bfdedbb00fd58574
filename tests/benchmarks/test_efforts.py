"""The benchmark of the levels of effort: one row an example and level, with what the build itself says."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.efforts import LEAST_EFFORT_SECONDS, EffortRow, bench_efforts
from tabla.build.options import Options
from tabla.driver import build
from tabla.examples.catalogue import EXAMPLES


@pytest.fixture(scope="module")
def row() -> EffortRow:
    (found,) = bench_efforts(4, ("linear",), (0,))
    return found


def test_rows(row: EffortRow) -> None:
    assert (row.example, row.effort) == ("linear", 0) and 0 < row.compile_seconds < row.gen_seconds
    assert row.cycles == build(EXAMPLES["linear"].program, Options(pes=4, effort=0)).schedule.cycles


def test_only_the_least_effort_has_a_limit(row: EffortRow) -> None:
    assert replace(row, compile_seconds=LEAST_EFFORT_SECONDS).fine
    assert not replace(row, compile_seconds=LEAST_EFFORT_SECONDS + 0.01).fine
    assert replace(row, effort=1, compile_seconds=100.0).fine
