"""A tensor that the lanes take from the bus and the root reads itself, on arrays with several sequencers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tabla

PROGRAM = """m = 3;
model_input x;
model_output y;
model w[m];
gradient g[m] -> w;
iterator i[0:m];
mu = 0.5;
h = x + sum[i](x * w[i]);
g[i] = (h - y) * x;
"""


@pytest.mark.parametrize("sequencers", [1, 2, 4])
@pytest.mark.parametrize("pes", [4, 8])
def test_the_root_adds_what_the_lanes_multiply(pes: int, sequencers: int, tmp_path: Path) -> None:
    (tmp_path / "model.t").write_text(PROGRAM, encoding="utf-8")
    build = tabla.compile(tmp_path / "model.t", pes=pes, sequencers=sequencers, results=("h",))
    found = build.simulate({"x": [0.5, -1.0], "y": [1.0, 0.0], "w": np.array([1.0, 2.0, -0.5])})
    assert found.as_predicted and found.arrays["w"].shape == (3,)
