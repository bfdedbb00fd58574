"""The learning problems in C: every kind learns what the evaluation in float64 learns."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from benchmarks.cpu import measure
from benchmarks.cpu.measure import PES, PROBLEMS, STRICT, Row, compiled, drawn, learnt, markdown, measured
from benchmarks.fpga import SIZES
from benchmarks.learning.problems import Problem
from tabla.driver import build

needs_compiler = pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no gcc")
ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "fpga.md"
BESIDE = re.compile(r"^\| ([\w -]+) \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \| (\d+) cycles, ([\d.]+) µs \|$", re.MULTILINE)


def test_the_problems_are_those_of_the_table_of_the_array() -> None:
    assert tuple(problem.name for problem in PROBLEMS) == SIZES


@needs_compiler
@pytest.mark.parametrize(
    "problem",
    [
        pytest.param(problem, id=problem.kind, marks=[pytest.mark.slow] if problem.kind == "backprop" else [])
        for problem in PROBLEMS
    ],
)
def test_a_problem_learns_the_models_of_the_evaluation(problem: Problem) -> None:
    """`measured` compares them."""
    small = Problem(kind=problem.kind, sizes=tuple(size // 2 + 1 for size in problem.sizes))
    row = measured(small, pes=4)
    assert row.program == small.name and row.strict > 1000 and row.fast > 1000
    assert 0 < row.cycles and 0 < row.latency


@needs_compiler
def test_models_that_differ_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(program: Path, models: object, data: object) -> object:
        found, rate = learnt(program, models, data)  # type: ignore[arg-type]
        return {name: array + 0.01 for name, array in found.items()}, rate

    monkeypatch.setattr(measure, "learnt", wrong)
    with pytest.raises(AssertionError, match="linear 5: w"):
        measured(Problem(kind="linear", sizes=(5,)), pes=2)


@needs_compiler
def test_every_sample_is_a_step(tmp_path: Path) -> None:
    """A step of a neuron by hand, for two samples."""
    problem = Problem(kind="linear", sizes=(2,))
    models, data = drawn(build(problem.file, problem.options(1)))
    w = np.zeros(2)
    for x, y in zip(data["x"], data["y"], strict=True):
        w = w - 0.1 * (w @ x - y) * x
    found, _ = learnt(compiled(problem, STRICT, tmp_path), models, data)
    assert np.allclose(found["w"], w, atol=1e-4)


def test_the_table() -> None:
    text = markdown([Row(program="svm 54", strict=1e6, fast=2.5e6, cycles=33, latency=90)])
    assert text.splitlines()[-1] == "| svm 54 | 1,000,000 | 2,500,000 | 33 | 90 |"


def test_the_table_fits_the_rows_of_the_array() -> None:
    rows = BESIDE.findall(PAGE.read_text(encoding="utf-8"))
    assert tuple(name for name, *_ in rows) == SIZES
    for name, strict, fast, rate, latency, time in rows:
        array = re.search(
            rf"^\| {name} \| {PES} \| \d+ \| \d* \| LFE5U-85F, 6 \| ([\d.]+) \(\d\) \| ([\d,]+) \|",
            PAGE.read_text(encoding="utf-8"),
            re.MULTILINE,
        )
        assert array and array[2] == rate
        assert float(time) == pytest.approx(int(latency) / float(array[1]), abs=0.0051)
        assert int(strict.replace(",", "")) < int(fast.replace(",", ""))


@pytest.mark.parametrize("problem", PROBLEMS[:3], ids=lambda problem: problem.kind)
def test_the_latency_of_the_pages_is_that_of_a_build(problem: Problem) -> None:
    (shown,) = (row for row in BESIDE.findall(PAGE.read_text(encoding="utf-8")) if row[0] == problem.name)
    assert int(shown[4]) == build(problem.file, problem.options(PES)).schedule.latency
