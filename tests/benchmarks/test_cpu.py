"""The learning problems in C: every kind learns what the evaluation in float64 learns."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from benchmarks.cpu import measure
from benchmarks.cpu.measure import PROBLEMS, STRICT, Row, compiled, drawn, learnt, markdown, measured
from benchmarks.fpga import SIZES
from benchmarks.learning.problems import Problem
from tabla.driver import build

needs_compiler = pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no gcc")


def test_the_problems_are_those_of_the_table_of_the_array() -> None:
    assert tuple(problem.name for problem in PROBLEMS) == SIZES


@needs_compiler
@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.kind)
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
