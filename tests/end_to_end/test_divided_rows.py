"""Networks whose rows are divided between tap groups, in simulators: every word, and every cycle."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest

import tabla
from benchmarks.held import hold
from tabla.host.engines.cocotb_run import available
from tabla.host.engines.cxxrtl_run import available as compiled
from tests.schedule.mapping.test_divided_rows import lenet, residual

ENGINES = ["cxxrtl", pytest.param("icarus", marks=pytest.mark.slow), pytest.param("verilator", marks=pytest.mark.slow)]


@pytest.mark.timeout(900)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "model", [lenet(), pytest.param(residual(14), marks=pytest.mark.slow)], ids=["lenet", "residual"]
)
def test_the_verilog_of_a_network_with_divided_rows(model: onnx.ModelProto, engine: str, tmp_path: Path) -> None:
    if not (compiled() if engine == "cxxrtl" else available(engine)):
        pytest.skip(f"needs {engine}")
    onnx.save(model, str(tmp_path / "net.onnx"))
    made = tabla.compile(str(tmp_path / "net.onnx"), pes=16, effort=1)
    tensors = made.schedule.mapping.graph.tensors
    assert made.schedule.template.roots > 1 and any(name.startswith("rows.") for name in tensors)
    hold(made, engine)
