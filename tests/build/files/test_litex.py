"""The module for LiteX in a SoC that LiteX builds: training through its bus, its DMAs and its main memory."""

from __future__ import annotations

import re
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from tests.build.files.compiled_driver import (
    HERE,
    LINEAR,
    built,
    cases,
    compiled,
    expected,
    needs_compiler,
    needs_verilator,
    run,
    same,
)

pytestmark = pytest.mark.skipif(find_spec("litex") is None, reason="LiteX is not installed")
WORD = 0x01234567


def soc(folder: Path, work: Path, *origin: str) -> None:
    """Write the SoC around the build of ``line.t`` into `work`."""
    # LiteX warns of the Python that it runs in; that is not this test's matter.
    run([sys.executable, "-W", "ignore", str(HERE / "soc.py"), str(folder), "line", str(work), *origin], work)


@pytest.mark.parametrize("origin", [None, 0x30000000, 0x10000])
def test_the_registers_lie_where_nothing_else_does(origin: int | None, tmp_path: Path) -> None:
    """A SoC without a processor has its CSRs at 0, and LiteX places them after everything else."""
    (tmp_path / "line.t").write_text(LINEAR, encoding="utf-8")
    built(tmp_path / "build", tmp_path / "line.t", pes=2, effort=0)
    soc(tmp_path / "build", tmp_path, *([] if origin is None else [hex(origin)]))
    said = re.findall(r"^#define (\w+) 0x(\w+)u$", (tmp_path / "soc.h").read_text(encoding="utf-8"), re.MULTILINE)
    found = {name: int(address, 16) for name, address in said}
    assert found["ACCELERATOR"] == (0x10000 if origin is None else origin)
    assert found["CSR"] == 0 and found["MAIN_RAM"] == 0x40000000


@needs_compiler
@needs_verilator
@pytest.mark.slow
@pytest.mark.parametrize(("bus_bits", "number", "origin"), [(32, "q6.10", ["0x30000000"]), (64, "q16.16", [])])
def test_a_soc_learns_and_its_bytes_are_in_order(bus_bits: int, number: str, origin: list[str], tmp_path: Path) -> None:
    (tmp_path / "line.t").write_text(LINEAR, encoding="utf-8")
    folder, work = tmp_path / "build", tmp_path / "work"
    work.mkdir()
    build = built(folder, tmp_path / "line.t", pes=2, format=number, results=("h",), effort=0, bus_width=bus_bits)
    soc(folder, work, *origin)
    chance = np.random.default_rng(5)
    one, wide = build.format.one, build.format.width == 32
    # The first result is the intercept: a word whose bytes differ, all of them.
    bias = WORD if wide else WORD >> 16
    models = {"w": np.zeros(7, dtype=np.int64), "b": np.array(bias)}
    steps = {"x": chance.integers(-one, one, (9, 7)), "y": chance.integers(-one, one, 9)}
    case = cases(build, folder, models, steps)
    case.write(tmp_path / "in", 3)
    main = compiled(folder, build, work, bus_bits, 4, work / "soc.v")
    run([str(main), "train", str(tmp_path / "in"), str(tmp_path / "out")], work)
    dumps, results = case.read(tmp_path / "out", 3)
    wanted, kept = expected(case, 3)
    for found, words in zip(dumps, wanted, strict=True):
        same(found, words)
    same(results, kept)

    case.write(tmp_path / "in", 1)
    run([str(main), "train", str(tmp_path / "in"), str(tmp_path / "out")], work)
    _, results = case.read(tmp_path / "out", 1)
    assert results["h"][0] == bias
    run([str(main), "swapped", str(tmp_path / "in"), str(tmp_path / "out")], work)
    _, results = case.read(tmp_path / "out", 1)
    swapped = int.from_bytes(bias.to_bytes(4, "little"), "big", signed=True)
    # With 16 bits the DMA's words hold two containers each, and nothing is left in its place.
    assert results["h"][0] == swapped if wide else results["h"][0] != bias
