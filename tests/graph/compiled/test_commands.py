"""Which evaluations of a build take machine code: all those that judge or score long runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tabla
from tabla.driver import Build
from tabla.graph.compiled import plans
from tabla.graph.compiled.plans import CompiledFixedPlan
from tests.graph.compiled.interpreted import without_compiler

LOGISTIC = """m = 4;
mu = 0.5;
model_input x[m]; model_output y; model w[m]; gradient g[m] -> w; iterator i[0:m];
h = sigmoid(sum[i](w[i] * x[i]));
e = h - y;
g[i] = e * x[i];
"""
W = {"w": np.full(4, 0.25)}
X = np.random.default_rng(3).uniform(-1, 1, (12, 4))
DATA = {"x": X, "y": (X[:, 0] > 0).astype(float)}
CALLS: dict[str, Callable[[Build], Any]] = {
    "sim": lambda made: made.simulate(DATA, weights=W).arrays["w"],
    "test": lambda made: made.test(DATA, weights=W).accelerator,
    "eval": lambda made: made.evaluate(DATA, weights=W)["w"],
}


@pytest.mark.parametrize("name", CALLS)
def test_long_runs_are_evaluated_in_machine_code(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "model.t").write_text(LOGISTIC)
    made = tabla.compile(tmp_path / "model.t", pes=1, effort=0)
    expected = CALLS[name](made)
    ran, run = [], CompiledFixedPlan.run

    def seen(plan: CompiledFixedPlan, *arguments: Any) -> Any:
        ran.append(plan)
        return run(plan, *arguments)

    monkeypatch.setattr(CompiledFixedPlan, "run", seen)
    assert np.array_equal(CALLS[name](made), expected) and not ran, "a short run is left to numpy"
    without_compiler(monkeypatch)
    monkeypatch.setattr(plans, "LONG", 0.0)
    assert np.array_equal(CALLS[name](made), expected) and ran
