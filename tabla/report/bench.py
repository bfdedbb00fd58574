"""The cocotb test bench that ``tabla gen`` writes beside an accelerator.

The files of the test bench run from their folder, without this package. They need cocotb and a simulator.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

_TEST = '''"""A test of {name}.v with golden vectors: it loads the models, runs samples and reads everything back."""

import json
from pathlib import Path

import cocotb
from host_loop import request_fields, Request
from ports import Ports

GOLDEN = json.loads((Path(__file__).parent / "golden.json").read_text())
LOAD, RUN, DUMP = 0, 1, 2


def signed(word):
    """Return the word of a port as a signed number."""
    return word - (1 << GOLDEN["width"]) if word >> (GOLDEN["width"] - 1) else word


@cocotb.test()
async def golden(dut):
    """Every result, every model word and the cycles per sample are as predicted."""
    ports = Ports(dut)
    await ports.reset(GOLDEN["reset_cycles"])

    async def play(code, count, beats=(), each=0, outputs=0):
        fields = request_fields(Request(code=code, count=count, sample_beats=each, outputs=outputs))
        return await ports.play({{**fields, "beats": list(beats)}})

    if GOLDEN["load"]:
        await play(LOAD, 1, GOLDEN["load"], len(GOLDEN["load"]))
    seen = await play(RUN, GOLDEN["samples"], GOLDEN["run"], GOLDEN["sample_beats"], len(GOLDEN["outputs"]))
    assert [signed(word) for word in seen["outputs"]] == GOLDEN["outputs"]
    assert seen["starts"][-1] - seen["starts"][-2] == GOLDEN["period"], seen["starts"]
    if GOLDEN["dump_count"]:
        dump = (await play(DUMP, GOLDEN["dump_count"], outputs=GOLDEN["dump_words"]))["outputs"]
        for position, word in GOLDEN["check"]:
            assert signed(dump[position]) == word, f"word {{position}} of the dump"
'''

_RUN = '''"""Build and run the test bench, with cocotb and a simulator:  python run.py [icarus|verilator]"""

import os
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

from cocotb_tools.runner import get_results, get_runner

HERE = Path(__file__).resolve().parent

if __name__ == "__main__":
    simulator = sys.argv[1] if len(sys.argv) > 1 else "icarus"
    package = find_spec(simulator)
    if package and package.origin:  # the Python package of Verilator has its programs in a folder that is not in PATH
        os.environ["PATH"] = os.pathsep.join([str(Path(package.origin).parent / "bin"), os.environ["PATH"]])
    # The makefile of that package lacks the option with which g++ takes a precompiled header. It also calls
    # `python`, a name that some systems do not have.
    python = sys.executable.replace(" ", "\\\\ ")
    os.environ.setdefault("MAKEFLAGS", f"CFG_CXXFLAGS_PCH_I=-include PYTHON3={{python}}")
    runner = get_runner(simulator)
    sys.path.insert(0, str(HERE))
    with tempfile.TemporaryDirectory() as folder:
        runner.build(
            sources=[HERE.parent / "{name}.v"],
            hdl_toplevel="{module}",
            build_dir=folder,
            build_args=["-Wno-fatal", "-Wno-lint"] if simulator == "verilator" else [],
            timescale=("1ns", "1ps"),
        )
        results = runner.test(
            hdl_toplevel="{module}",
            test_module="test_golden",
            build_dir=folder,
            test_dir=folder,
            extra_env={{"PYTHONPATH": str(HERE)}},
            timescale=("1ns", "1ps"),
        )
        tests, failures = get_results(results)
    print(f"{{tests}} test{{'s' * (tests != 1)}}, {{failures}} failed")
    sys.exit(1 if failures or not tests else 0)
'''


def bench_files(name: str, module: str, golden: Mapping[str, Any]) -> dict[str, str]:
    """Return the text of every file of the folder ``tb/``, by file name.

    `name` is the stem of the Verilog file, `module` the name of its top module, and `golden` the vectors that
    :func:`tabla.vectors.golden` makes.
    """
    sim = files("tabla.sim.engines")
    ports = sim.joinpath("cocotb_bench.py").read_text(encoding="utf-8")
    return {
        "golden.json": json.dumps(golden) + "\n",
        "host_loop.py": sim.joinpath("host_loop.py").read_text(encoding="utf-8"),
        "ports.py": ports.replace("tabla.sim.engines.host_loop", "host_loop"),
        "test_golden.py": _TEST.format(name=name),
        "run.py": _RUN.format(name=name, module=module),
    }
