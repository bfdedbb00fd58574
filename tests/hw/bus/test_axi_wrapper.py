"""The wrapper under masters that are not ours (cocotbext-axi), in Icarus Verilog and Verilator.

A slow test plays all scenarios on one build of one simulator. With ``-rP`` pytest shows how many cycles the wrapper
took to come to rest after each kind of fault, and how many the LOAD, the RUN and the DUMP took that followed.
"""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tabla.driver import Build
from tabla.host.engines.cocotb_run import available
from tabla.program.host import Host
from tabla.program.positions import positions

HERE = Path(__file__).resolve().parent
LEARNING = Path(__file__).resolve().parents[3] / "benchmarks" / "learning"

pytestmark = pytest.mark.skipif(
    not available("icarus") or importlib.util.find_spec("cocotbext") is None,
    reason="Icarus Verilog or cocotbext-axi is missing",
)
simulators = pytest.mark.parametrize(
    "simulator",
    [
        "icarus",
        pytest.param(
            "verilator", marks=pytest.mark.skipif(not available("verilator"), reason="Verilator cannot run here")
        ),
    ],
)

ALL = {
    name
    for file in ("axi_scenarios.py", "axi_faults.py")
    for name in re.findall(r"@cocotb.test\(\)\nasync def (\w+)", (HERE / file).read_text(encoding="utf-8"))
}
PLACES = """\
n = 4;
mu = 0.25;
model_input  x[n];
model_output y[n];
model        v[n][n], c[n];
gradient     g[n][n] -> v;
iterator     i[0:n];
iterator     j[0:n];
a[j] = sum[i](v[j][i] * x[i]) * c[j];
e[j] = a[j] - y[j];
s = sum[i](c[i] * x[i]) + 0.3;
g[j][i] = e[j] * x[i] * s;
"""
"""The array keeps `c` in two places, and a constant."""


def play(folder: Path, monkeypatch: pytest.MonkeyPatch, **options: Any) -> None:
    """Play scenarios; all of them must have been played, and none may have failed."""
    monkeypatch.syspath_prepend(str(HERE))
    from wrapped import play as played

    made = played(folder, **options)
    scenarios = options.get("scenarios")
    assert set(made.said) == {name for name in ALL if not scenarios or name in scenarios.split("|")}
    for fault, (rest, cycles, times) in sorted(made.recoveries.items()):
        print(f"{fault:<28} at rest after {rest:>5} cycles; LOAD, RUN and DUMP {cycles:>6} cycles; {times} times")
    assert not {name: text for name, text in made.said.items() if text}


@pytest.mark.parametrize(
    ("bus_bits", "number", "stream_words", "scenarios"),
    [
        # A beat of the bus has several beats of the array, as many, and a part of one.
        (
            32,
            "q4.4",
            1,
            (
                "at_full_rate_the_array_waits_for_no_word|beats_with_holes|events_are_counted_since_the_load"
                "|predictions_between_runs"
            ),
        ),
        (
            512,
            "q6.12",
            4,
            (
                "the_least_that_a_host_does|at_full_rate_the_array_waits_for_no_word|beats_with_several_faults"
                "|predictions_between_runs"
            ),
        ),
        (
            32,
            "q5.7",
            4,
            (
                "the_least_that_a_host_does|gaps_and_back_pressure_on_every_channel|commands_that_are_given_up"
                "|predictions_between_runs"
            ),
        ),
    ],
)
def test_words_of_the_evaluation(
    bus_bits: int, number: str, stream_words: int, scenarios: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {"format": number, "stream_words": stream_words, "pes": 4, "results": ("h",)}
    play(tmp_path, monkeypatch, bus_bits=bus_bits, scenarios=scenarios, **options)


@pytest.mark.slow
@simulators
@pytest.mark.parametrize("bus_bits", [32, 64, 512])
@pytest.mark.parametrize("number", ["q4.4", "q5.7", "q6.10", "q6.12", "q16.16"])
@pytest.mark.parametrize("stream_words", [1, 4, 32])
def test_every_scenario(
    simulator: str, bus_bits: int, number: str, stream_words: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {"format": number, "stream_words": stream_words, "pes": 4, "simulator": simulator}
    # Without results a run sends no packet.
    results = {"q5.7": (), "q6.10": ("h", "e", "gw")}.get(number, ("h",))
    play(tmp_path, monkeypatch, bus_bits=bus_bits, results=results, **options)


def _two_places_and_a_constant(build: Build) -> None:
    found = positions(Host(build.schedule))
    assert found["load/c"].shape[0] == 2 and found["load.template"].any()


def _roots(build: Build) -> None:
    assert build.image.parameters.roots > 1


def _guard_bits(build: Build) -> None:
    assert "load/w.guard" in positions(Host(build.schedule))


def _large(build: Build) -> None:
    assert len(positions(Host(build.schedule))["sample.template"]) > 257


def _wide_output(build: Build) -> None:
    assert build.image.parameters.port_words == 4


@simulators
def test_a_program_whose_memories_start_with_its_models(
    simulator: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def preloaded(build: Build) -> None:
        assert build.image.first is not None

    scenarios = "a_preloaded_program_runs_before_a_load"
    own = {"infer": True, "weights": {"w": np.array([0.5, -0.25]), "b": np.array(1.0)}, "check": preloaded}
    play(tmp_path, monkeypatch, bus_bits=32, scenarios=scenarios, pes=2, simulator=simulator, **own)


WAVE = "def wave(float(N) x, float(N) w) -> (y) { y(n) = exp(x(n) - w(n)) }\n"
"""Each root makes a word a cycle."""


@pytest.mark.parametrize("bus_bits", [32, pytest.param(64, marks=pytest.mark.slow)])
def test_results_that_leave_in_beats_of_four_words(
    bus_bits: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A beat of the bus has a part of one of the array's, or all of it."""
    scenarios = "the_least_that_a_host_does|gaps_and_back_pressure_on_every_channel"
    array = {"pes": 4, "pes_per_pu": 1, "stream_words": 4, "sizes": {"N": 8}, "keep": ("w",), "check": _wide_output}
    play(tmp_path, monkeypatch, file="wave.tc", text=WAVE, bus_bits=bus_bits, scenarios=scenarios, **array)


BACKPROP = (LEARNING / "backprop.t").read_text(encoding="utf-8")
LINEAR_300 = """\
m = 300;
mu = 0.03125;
model_input  x[m];
model_output y;
model        w[m];
gradient     gw[m] -> w;
iterator     i[0:m];
h = sum[i](w[i] * x[i]);
e = h - y;
gw[i] = e * x[i];
"""


@pytest.mark.slow
@simulators
@pytest.mark.parametrize(
    "options",
    [
        pytest.param(
            {"text": PLACES, "pes": 8, "results": ("a", "s"), "check": _two_places_and_a_constant}, id="places"
        ),
        pytest.param({"text": BACKPROP, "pes": 16, "effort": 1, "results": ("o",), "check": _roots}, id="roots"),
        pytest.param({"pes": 4, "model_guard": 4, "results": ("h",), "check": _guard_bits}, id="guard"),
        pytest.param({"pes": 4, "minibatch": 4, "results": ("h", "e")}, id="minibatch"),
        # The buffer fills here nearly as slowly as the array empties it, so the start takes seven units.
        pytest.param({"text": LINEAR_300, "pes": 4, "results": ("h",), "check": _large, "units": 12}, id="large"),
    ],
)
@pytest.mark.parametrize("bus_bits", [32, 512])
def test_every_scenario_of_programs_of_every_kind(
    simulator: str, bus_bits: int, options: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    play(tmp_path, monkeypatch, bus_bits=bus_bits, simulator=simulator, **options)


@pytest.mark.slow
@simulators
def test_a_reset_at_every_moment_of_a_run(simulator: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run of eight units takes fewer cycles."""
    scenarios = "resets_at_many_moments|hard_resets_in_the_middle_of_a_unit"
    options = {"scenarios": scenarios, "moments": range(260), "format": "q5.7", "pes": 4, "results": ("h",)}
    play(tmp_path, monkeypatch, bus_bits=32, simulator=simulator, stream_words=4, **options)


@pytest.mark.slow
@simulators
def test_a_kernel_that_keeps_nothing(simulator: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """LOAD takes no packet, and DUMP sends a beat of zeros."""
    text = "def dot(float(N) a, float(N) b) -> (c) { c +=! a(n) * b(n) }\n"
    scenarios = "the_least_that_a_host_does|gaps_and_back_pressure_on_every_channel|beats_with_holes|loads_with_faults"
    options = {"file": "dot.tc", "text": text, "sizes": {"N": 3}, "pes": 4, "scenarios": scenarios}
    play(tmp_path, monkeypatch, bus_bits=32, simulator=simulator, **options)
