"""Models wider than words: a witness in plain integers against the evaluation, the cycle model and the Verilog."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tabla
from tabla.driver import Build
from tabla.learn.data.dataset import Data
from tabla.learn.options import LearnOptions
from tabla.learn.runs import evaluation
from tests.end_to_end.algorithms import need
from tests.end_to_end.guard_witness import Witness, text_of

RATES = ("1", "0.5", "0.0625", "0.3", "-0.25", "0.0078125", "2", "1.5")
FORMATS = ((4, 4), (4, 8), (2, 6), (6, 10), (5, 13), (8, 0), (10, 14))


@dataclass(frozen=True, kw_only=True)
class Case:
    """What a program runs on, and what is sure to happen in it."""

    kind: str
    rows: int
    columns: int
    options: dict[str, Any]
    places: frozenset[str]


CASES = {
    "scalar": Case(kind="scalar", rows=1, columns=1, options={"pes": 1}, places=frozenset()),
    "one word": Case(kind="layer", rows=1, columns=1, options={"pes": 1}, places=frozenset()),
    "own": Case(kind="decay", rows=2, columns=3, options={"pes": 2}, places=frozenset()),
    "own and error": Case(kind="both", rows=2, columns=3, options={"pes": 3}, places=frozenset()),
    "minibatch": Case(kind="layer", rows=2, columns=5, options={"pes": 4, "minibatch": 3}, places=frozenset()),
    "roots": Case(kind="layer", rows=8, columns=12, options={"pes": 8, "pes_per_pu": 4}, places=frozenset({"roots"})),
    "root": Case(kind="layer", rows=1, columns=2, options={"pes": 4}, places=frozenset({"root"})),
    "bus": Case(kind="layer", rows=3, columns=7, options={"pes": 4}, places=frozenset({"bus"})),
}


def _rate_of(format: tuple[int, int], random: int) -> Fraction:
    """A rate that a format can hold."""
    usable = [rate for rate in map(Fraction, RATES) if _shift(rate) >= -format[1] and (format[1] or rate == 1)]
    return usable[random % len(usable)]


def _build(case: Case, format: tuple[int, int], guard: int, rate: Fraction) -> Build:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "unit.t"
        path.write_text(text_of(case.kind, case.rows, case.columns, rate), encoding="utf-8")
        return tabla.compile(path, format=f"q{format[0]}.{format[1]}", model_guard=guard, effort=0, **case.options)


def _shift(rate: Fraction) -> int:
    """The s of ``rate = m * 2^-s`` with 1/2 < m <= 1."""
    return next(s for s in range(-40, 40) if Fraction(1, 2) < abs(rate) * Fraction(2) ** s <= 1)


def _largest(format: tuple[int, int], rate: Fraction) -> int:
    return min(sum(format), 32 - sum(format), format[1] + _shift(rate))


def _drawn(random: np.random.Generator, width: int, shape: tuple[int, ...], ends: float) -> np.ndarray:
    """Integers of `width` bits; a share of `ends` lies at the ends of the range."""
    low, high = -(1 << (width - 1)), (1 << (width - 1)) - 1
    near = random.integers(0, 4, shape)
    at_end = np.where(random.integers(0, 2, shape) == 1, low + near, high - near)
    small = random.integers(low, high + 1, shape) >> random.integers(0, width - 1, shape)
    found: np.ndarray = np.where(random.random(shape) < ends, at_end, small)
    return found


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """What a seed draws for a case: format, rate, guard bits, the most that they allow, and what draws the rest."""

    format: tuple[int, int]
    rate: Fraction
    guard: int
    limit: int
    random: np.random.Generator


def drawn_case(name: str, seed: int) -> Drawn:
    """Draw a case. Guard bits are often at one of the two ends of what is allowed."""
    random = np.random.default_rng([seed, len(name)])
    format = FORMATS[seed % len(FORMATS)]
    rate = _rate_of(format, int(random.integers(0, 99)))
    limit = _largest(format, rate)
    guard = (0, limit, int(random.integers(0, limit + 1)))[int(random.integers(0, 3))]
    return Drawn(format=format, rate=rate, guard=guard, limit=limit, random=random)


def hold(name: str, engine: str, seed: int, steps: int = 4) -> None:
    """Run a case with a format, a rate, a number of guard bits and models of this seed, and compare everything."""
    case, drawn = CASES[name], drawn_case(name, seed)
    format, rate, guard, random = drawn.format, drawn.rate, drawn.guard, drawn.random
    build = _build(case, format, guard, rate)
    width, fraction = sum(format), format[1]
    bias, unit = (1 << guard) >> 1, 1 << (fraction + guard)
    batch = case.options.get("minibatch", 1)
    w, b = (_drawn(random, width + guard, shape, 0.4) for shape in ((case.rows, case.columns), (case.rows,)))
    x, y = (_drawn(random, width, (steps * batch, n), 0.1) for n in (case.columns, case.rows))
    arrays = {"x": x / (1 << fraction), "y": y / (1 << fraction), "w": (w - bias) / unit, "b": (b - bias) / unit}
    if case.kind == "scalar":
        arrays = {name: array.reshape(-1) if name in "xy" else array.reshape(()) for name, array in arrays.items()}
    witness = Witness(case.kind, case.rows, case.columns, width, fraction, guard, rate, w.tolist(), b.tolist())
    for step in range(steps):
        taken = range(step * batch, (step + 1) * batch)
        witness.learn([(x[n].tolist(), y[n].tolist()) for n in taken])
    wanted = {
        "w": [[witness.value(s) for s in row] for row in witness.weights],
        "b": [witness.value(s) for s in witness.biases],
    }
    found = evaluation(build, Data(arrays), LearnOptions())
    what = f"{name}: q{format[0]}.{format[1]}, {guard} guard bits, rate {rate}, seed {seed}"
    for model, values in wanted.items():
        learnt = np.array(values).reshape(arrays[model].shape)
        np.testing.assert_array_equal(found.arrays[model], learnt, err_msg=f"{what}: evaluation, {model}")
    events = found.events
    assert events is not None
    assert (events.updates, events.zero_updates) == (witness.updates, witness.zero_updates), what
    assert events.overflows == witness.overflows, what
    assert _happens(build) >= case.places, f"{what}: {_happens(build)}"
    simulated = build.simulate(arrays, engine=engine)
    for model, values in wanted.items():
        learnt = np.array(values).reshape(arrays[model].shape)
        np.testing.assert_array_equal(simulated.arrays[model], learnt, err_msg=f"{what}: {engine}, {model}")
    assert simulated.cycles_predicted == simulated.cycles_simulated, what
    assert simulated.latency_predicted == simulated.latency_simulated, what


def _happens(build: Build) -> frozenset[str]:
    """Where models are updated, and whether a word comes over the bus meanwhile."""
    mapping, found = build.schedule.mapping, set()
    if build.schedule.template.roots > 1:
        found.add("roots")
    for statement, fit in zip(mapping.graph.statements, mapping.fits, strict=True):
        if statement.target in mapping.graph.updates.values():
            found |= {"root"} if fit.way == "root" else {"lane"}
            found |= {"bus"} if fit.bus else set()
    return frozenset(found)


@pytest.mark.parametrize("name", CASES)
def test_the_cycle_model_learns_what_the_witness_does(name: str) -> None:
    for seed in range(21):
        hold(name, "model", seed)


@pytest.mark.parametrize(("engine", "name", "seed"), [("icarus", "own and error", 1), ("cxxrtl", "minibatch", 2)])
def test_the_verilog_learns_what_the_witness_does(engine: str, name: str, seed: int) -> None:
    need(engine)
    hold(name, engine, seed)


RUNS = [
    *(("icarus", range(first, first + 7)) for first in (0, 7, 14)),
    *(("cxxrtl", range(first, first + 7)) for first in (0, 7, 14)),
    ("verilator", range(2)),
    ("amaranth", range(2)),
]
"""Every format comes up in seven seeds that follow each other. Icarus and CXXRTL see each of them three times."""


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize(("engine", "seeds"), RUNS, ids=lambda each: str(each).replace("range", "seeds"))
def test_every_engine_learns_what_the_witness_does(engine: str, seeds: range, name: str) -> None:
    need(engine)
    for seed in seeds:
        hold(name, engine, seed)


@pytest.mark.parametrize("name", CASES)
def test_guard_bits_come_at_both_ends(name: str) -> None:
    """Of the seeds of each case, some have no guard bits, some the most that are allowed, and some lie between."""
    drawn = [drawn_case(name, seed) for seed in range(21)]
    assert sum(each.guard == 0 for each in drawn) >= 3
    assert sum(each.guard == each.limit > 0 for each in drawn) >= 3
    assert sum(0 < each.guard < each.limit for each in drawn) >= 2
    assert {each.format for each in drawn} == set(FORMATS)
