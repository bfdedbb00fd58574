"""``--infer``: accelerators that only predict, from the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import tabla
from tabla import runtime
from tests.commands.test_cli_held_out import LOGISTIC, fresh

Run = Callable[..., str]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Run) -> Run:
    """Return a function that runs a command in a folder with a program, data and models that learnt in q5.9."""
    monkeypatch.chdir(tmp_path)
    Path("model.t").write_text(LOGISTIC)
    np.savez("data.npz", **fresh())
    np.savez("x.npz", x=fresh()["x"])
    command("train", "model.t", "--data", "data.npz", "--standardise", "--format", "q5.9", "-q", "-o", "w.npz")
    return command


def test_the_models_file_alone_is_built(run: Run) -> None:
    """It has the program, the format and the weights; the folder has them, too, with the preparation of the data."""
    said = run("gen", "w.npz", "--infer", "--pes", "2", "-o", "built")
    assert "model: 2 PEs, 2 per PU, q5.9" in said
    manifest = json.loads(Path("built/model.json").read_text())
    learns = json.loads(run("gen", "model.t", "--pes", "2", "--format", "q5.9", "-o", "learns", "--json", "-"))
    assert manifest["cycles"] < learns["cycles"]
    with np.load("built/model.weights.npz") as held, np.load("w.npz") as given:
        assert sorted(held) == sorted(given)
        assert all(np.array_equal(held[name], given[name]) for name in given)
    predicted = run("predict", "w.npz", "--data", "x.npz", "-o", "p.npz", "-q")
    assert "40 samples predicted, q5.9" in predicted
    x = fresh()["x"]
    with np.load("p.npz") as found, np.load("w.npz") as held:
        prepared = (x - held["x.mean"]) / held["x.deviation"]
        with runtime.connect("built", "model") as accelerator:
            assert np.array_equal(accelerator.run(x=prepared)["h"], found["h"])
    assert "40 samples on engine model" in run("sim", "w.npz", "--infer", "--inputs", "x.npz", "-o", "s.npz", "-q")
    with np.load("p.npz") as found, np.load("s.npz") as simulated:
        assert np.array_equal(found["h"], simulated["h"])


def test_the_bench_runs_before_it_loads(run: Run) -> None:
    run("gen", "w.npz", "--infer", "--pes", "2", "-o", "built", "-q")
    run("gen", "model.t", "--infer", "--pes", "2", "-o", "loaded", "-q")
    bench = [Path(folder, "tb", "test_golden.py").read_text() for folder in ("built", "loaded")]
    assert ["the first run needs no load" in text for text in bench] == [True, False]
    assert json.loads(Path("built/tb/golden.json").read_text())["preloaded"] is True
    verilog = [Path(folder, "model.v").read_text() for folder in ("built", "loaded")]
    assert ["The memories start with the models" in text for text in verilog] == [True, False]


def test_a_value_that_learning_was_judged_by_is_the_one_that_predicts(run: Run) -> None:
    Path("two.t").write_text(LOGISTIC.replace("e = h - y;", "q = 2 * h;\ne = h - y;"))
    run("train", "two.t", "--data", "data.npz", "--predict", "q", "--metric", "mse", "-q", "-o", "q.npz")
    run("gen", "q.npz", "--infer", "-o", "built", "-q")
    with np.load("built/two.layout.npz") as layout:
        assert "result/q" in layout and "result/h" not in layout
    run("gen", "q.npz", "--infer", "--predict", "h", "--result", "q", "-o", "both", "-q")
    with np.load("both/two.layout.npz") as layout:
        assert "result/q" in layout and "result/h" in layout
    run("predict", "q.npz", "--data", "x.npz", "-o", "p.csv", "-q")
    assert Path("p.csv").read_text().splitlines()[0].endswith("q")
    tested = json.loads(run("test", "q.npz", "--data", "data.npz", "--json", "-"))
    assert tested["predict"] == "q"


def test_explore_compares_arrays_that_predict(run: Run) -> None:
    found = json.loads(run("explore", "model.t", "--infer", "--pes", "2,4", "--workers", "1", "--json", "-", "-q"))
    for point in found["points"]:
        assert "--infer" in point["command"].split()
        build = tabla.compile("model.t", pes=point["pes"], infer=True)
        assert point["cycles"] == build.report().cycles < tabla.compile("model.t", pes=point["pes"]).report().cycles


def test_other_commands_take_it(run: Run) -> None:
    run("check", "w.npz", "--infer")
    assert "of inputs and labels are read" in run("bound", "w.npz", "--infer", "-q")
    run("eval", "w.npz", "--infer", "--inputs", "x.npz", "-o", "e.npz", "-q")
    assert np.load("e.npz")["h"].shape == (40,)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("gen model.t --weights w.npz -o out", "--weights has a meaning only where data choose the format"),
        ("check model.t --predict h", "--predict has a meaning only with --infer"),
        ("gen model.t --infer --predict z -o out", "--predict z: the program computes no such value"),
        ("gen model.t --infer --predict e -o out", "'e' reads the label 'y', so it predicts nothing"),
        ("gen w.npz --infer --weights w.npz -o out", "the models are named twice"),
        ("gen model.t --infer --weights data.npz -o out", "'x'"),
        ("gen w.npz -o out", "w.npz"),
        ("train w.npz --data data.npz", "w.npz"),
    ],
)
def test_what_is_refused(run: Run, words: str, message: str) -> None:
    said = run(*words.split(), status=1)
    assert message in said and "hint:" in said
    assert not Path("out").exists()
