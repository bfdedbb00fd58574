"""``--infer``: accelerators that only predict, from the command line."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import tabla
from tabla import runtime
from tabla.commands.cli import main
from tests.commands.test_cli_held_out import LOGISTIC, fresh

Run = Callable[..., str]


@pytest.fixture(scope="module")
def learnt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a program, data and models that learnt in q5.9."""
    folder = tmp_path_factory.mktemp("learnt")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        Path("model.t").write_text(LOGISTIC)
        np.savez("data.npz", **fresh())
        np.savez("x.npz", x=fresh()["x"])
        words = "train model.t --data data.npz --standardise --format q5.9 -q -o w.npz"
        assert main(words.split()) == 0
    return folder


@pytest.fixture
def run(learnt: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Run) -> Run:
    """Return a function that runs a command in a folder that has a copy of what `learnt` has."""
    shutil.copytree(learnt, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
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
        ("check w.npz", "'w.npz' is not a program"),
        ("sim w.npz --inputs x.npz", "'w.npz' is not a program"),
    ],
)
def test_what_is_refused(run: Run, words: str, message: str) -> None:
    said = run(*words.split(), status=1)
    assert message in said and "hint:" in said
    assert not Path("out").exists()


TABLE = """width,shop,kind
{rows}
"""


def test_a_table_is_prepared_as_it_was_for_training(run: Run) -> None:
    """Columns, categories, gaps and means are those beside the models: `eval` and `sim` give the words of `predict`."""
    chance = np.random.default_rng(2)
    rows = [(f"{chance.normal(300, 50):.2f}", chance.choice(["Ulm", "Bonn"])) for _ in range(40)]
    kinds = ["large" if float(width) > 300 else "small" for width, _ in rows]
    lines = [f"{width},{shop},{kind}" for (width, shop), kind in zip(rows, kinds, strict=True)]
    Path("learnt.csv").write_text(TABLE.format(rows="\n".join(lines)))
    lines[3], lines[5] = ",Ulm,small", "500,,large"
    Path("new.csv").write_text(TABLE.format(rows="\n".join(lines)))
    Path("shop.t").write_text(LOGISTIC.replace("m = 4;", "m = 3;"))
    columns = ("--columns", "x=width,shop", "y=kind", "--classes", "y", "--categories", "shop", "--missing", "mean")
    run("train", "shop.t", "--data", "learnt.csv", *columns, "--standardise", "--epochs", "3", "-q", "-o", "s.npz")
    run("predict", "s.npz", "--data", "new.csv", "-q", "-o", "p.npz")
    run("eval", "s.npz", "--infer", "--inputs", "new.csv", "-q", "-o", "e.npz")
    run("sim", "shop.t", "--infer", "--weights", "s.npz", "--inputs", "new.csv", "-q", "-o", "i.npz")
    with np.load("p.npz") as predicted, np.load("e.npz") as evaluated, np.load("i.npz") as simulated:
        assert np.array_equal(predicted["h"], evaluated["h"]) and np.array_equal(predicted["h"], simulated["h"])
    # The label of the table is ignored, and its column names the predictions.
    made = tabla.compile("shop.t", pes=2, effort=0).inference("s.npz")
    assert np.array_equal(made.predict("new.csv")["h"], np.load("p.npz")["h"])
    run("predict", "s.npz", "--data", "new.csv", "-q", "-o", "p.csv")
    assert Path("p.csv").read_text().splitlines()[0] == "kind,h"


def test_a_project_gives_what_it_has_learnt(run: Run) -> None:
    """The models and the array of ``tabla.toml`` serve ``--infer``, whether the program or the models are named."""
    Path("tabla.toml").write_text(
        'file = "model.t"\ndata = "data.npz"\npes = 2\nformat = "q5.9"\n[train]\noutput = "w.npz"\n'
    )
    for words in ((), ("model.t",), ("w.npz",)):
        said = run("gen", *words, "--infer", "-q", "-o", "built")
        assert said.startswith("model: 2 PEs, 2 per PU, q5.9") and Path("built/model.weights.npz").exists()


def test_another_program_is_told_in_quiet_mode_too(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    Path("other.t").write_text(LOGISTIC.replace("sum[i](w", "sum[i](2 * w"))
    assert main(["gen", "other.t", "--infer", "--weights", "w.npz", "-q", "-o", "built"]) == 0
    told = capsys.readouterr().err
    assert "warning: 'other.t' is not 'model', the program that learnt the models of 'w.npz'" in told


def test_options_of_learning_have_no_meaning(run: Run) -> None:
    said = run("gen", "w.npz", "--infer", "--seed", "3", "-o", "out", status=1)
    assert "--seed has a meaning only where data choose the format" in said and not Path("out").exists()
