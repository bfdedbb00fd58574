"""Who works tells how far it is, and a terminal shows it as bars. Nobody else sees anything."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

import tabla
from tabla.base.progress import listening, tell
from tabla.build.files.output_folder import artifacts
from tabla.commands import bars
from tabla.commands.console import Console
from tabla.host.engines import cocotb_run, cxxrtl_run

PROGRAM = (
    "n = 2; mu = 0.5; model_input x[n]; model_output y; model w[n]; gradient g[n] -> w; iterator i[0:n];"
    " e = sum[i](w[i] * x[i]) - y; g[i] = e * x[i];"
)
Told = list[tuple[str, int, int | None, str]]


class Terminal(io.StringIO):
    """A standard error that is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("engine", "samples"),
    [
        ("model", 20),
        ("amaranth", 20),
        pytest.param("icarus", 400, marks=pytest.mark.skipif(not cocotb_run.available("icarus"), reason="no Icarus")),
        pytest.param(
            "cxxrtl",
            50,
            marks=[pytest.mark.slow, pytest.mark.skipif(not cxxrtl_run.available(), reason="no CXXRTL")],
        ),
    ],
)
def test_engines_tell_the_samples(engine: str, samples: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cxxrtl_run, "_INTERVAL", -1)
    (tmp_path / "m.t").write_text(PROGRAM)
    build = tabla.compile(tmp_path / "m.t", pes=1, effort=0)
    told: Told = []
    with listening(lambda *one: told.append(one)):
        build.simulate({"x": np.full((samples, 2), 0.25), "y": np.zeros(samples)}, engine=engine, seed=1)
    counted = [(done, total, unit) for stage, done, total, unit in told if stage == "simulation"]
    assert counted
    assert {(total, unit) for _, total, unit in counted} == {(samples, "sample")}
    numbers = [done for done, _, _ in counted]
    assert numbers == sorted(numbers) and 0 <= numbers[0] and 0 < numbers[-1] <= samples


def test_gen_tells_its_stages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TABLA_CACHE", "")
    (tmp_path / "m.t").write_text(PROGRAM)
    told: Told = []
    with listening(lambda *one: told.append(one)):
        artifacts(tabla.compile(tmp_path / "m.t", pes=1))
    stages = list(dict.fromkeys(stage for stage, *_ in told))
    assert stages == [
        *("search for a schedule", "schedule and its check", "microcode", "Verilog"),
        *("manifest, pictures and test bench", "lower bound", "simulation"),
    ]
    tried = [done for stage, done, _, unit in told if unit == "mapping"]
    assert tried == list(range(1, len(tried) + 1))


def test_a_terminal_shows_count_rate_and_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bars, "_DELAY", 0)
    err = Terminal()
    console = Console(out=io.StringIO(), err=err)
    clock = [100.0]
    monkeypatch.setattr("tqdm.std.time", lambda: clock[0])
    with listening(console.work):
        for done in (0, 50, 100):
            clock[0] += 5
            tell("simulation", done, 200, "sample")
        tell("Verilog")
    shown = err.getvalue()
    assert "simulation:  50%" in shown and "100/200" in shown
    assert "10.00 samples/s" in shown and "00:10<00:10" in shown
    assert "Verilog" in shown
    console.result("the end")
    assert err.getvalue().rstrip(" ").endswith("\r")
    assert console.out.getvalue() == "the end\n"  # type: ignore[attr-defined]


@pytest.mark.parametrize(("err", "quiet"), [(io.StringIO(), False), (Terminal(), True)], ids=["no terminal", "quiet"])
def test_nothing_else_shows_anything(err: io.StringIO, quiet: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bars, "_DELAY", 0)
    console = Console(out=io.StringIO(), err=err, quiet=quiet)
    with listening(console.work):
        tell("simulation", 1, 2, "sample")
        tell("simulation", 2, 2, "sample")
    console.clear()
    assert err.getvalue() == ""
