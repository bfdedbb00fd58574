"""The benchmark of the evaluation in machine code."""

from __future__ import annotations

import pytest

from benchmarks.evaluation import Row, best, measured
from tabla.build.options import Options
from tabla.driver import build
from tabla.examples.catalogue import EXAMPLES


def test_the_first_run_does_not_count() -> None:
    runs: list[int] = []
    best(lambda: runs.append(sum(range(20_000))), 10)
    assert len(runs) == 4


@pytest.mark.parametrize(("words", "fine"), [(99.0, False), (100.0, True)])
def test_an_aim_is_reached_or_missed(words: float, fine: bool) -> None:
    assert Row(program="p", words=words, float64=1.0, aim=100.0).fine is fine


@pytest.mark.slow
def test_an_example_is_measured() -> None:
    pytest.importorskip("numba")
    row = measured("linear", build(EXAMPLES["linear"].program, Options(format="q4.12")), 100_000, 1.0)
    assert row.words > 10_000 and row.float64 > 10_000
