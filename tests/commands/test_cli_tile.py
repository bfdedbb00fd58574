"""Tile functions (.py), through the commands and through the Python interface."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tabla
import tabla.build.options
import tabla.driver
from tabla.commands.cli import main
from tabla.tile import TensorIndexes, TensorOutput

LAYER = """from tabla.tile import *
from shapes import half


def convolution(I, K, stride=1):
    X, KX = TensorDims(2)
    x, k = TensorIndexes(2)
    I.bind_dims(X)
    K.bind_dims(KX)
    O = TensorOutput((X - KX) // stride + 1)
    O[x] += I[stride * x + k] * K[k]
    Doubled = 2 * O
    return Doubled, half(O)


def learn(X, Y, W, learning_rate):
    i = TensorIndex()
    H = TensorOutput()
    H[()] += W[i] * X[i]
    E = H - Y
    descend(E * E / 2, [W], learning_rate)


def wrong(I):
    O = TensorOutput(3)
    O[i] += I[i]
    return O
"""
SHAPES = ("--shape", "I=9", "--shape", "K=3")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "layer.py").write_text(LAYER)
    (tmp_path / "shapes.py").write_text("def half(T):\n    return T / 2\n")
    chance = np.random.default_rng(1)
    kernel = np.array([0.5, -0.25, 1.0])
    np.savez(tmp_path / "one.npz", I=chance.uniform(-1, 1, 9), K=kernel)
    np.savez(tmp_path / "three.npz", I=chance.uniform(-1, 1, (3, 9)), K=kernel)
    x = chance.uniform(-1, 1, (40, 4))
    np.savez(tmp_path / "data.npz", X=x, Y=x @ np.array([0.5, -1.0, 0.25, 1.0]))
    return tmp_path


def load(path: str) -> dict[str, Any]:
    with np.load(path) as found:
        return {name: found[name] for name in found.files}


@pytest.mark.parametrize("keep", [(), ("--keep", "K")])
def test_evaluation_simulation_and_numpy_agree(folder: Path, keep: tuple[str, ...]) -> None:
    words = ("layer.py:convolution", "--inputs", "one.npz", "--pes", "4", "--arg", "stride=2", "-q", *keep)
    assert main(("eval", *words, "-o", "eval.npz")) == 0
    assert main(("eval", *words, "--float", "-o", "float.npz")) == 0
    assert main(("sim", *words, "-o", "sim.npz", "--result", "O")) == 0
    given, found, real, sim = load("one.npz"), load("eval.npz"), load("float.npz"), load("sim.npz")
    expected = np.array([given["I"][2 * x : 2 * x + 3] @ given["K"] for x in range(4)])
    assert list(found) == list(real) == ["out0", "out1"] and list(sim) == ["out0", "out1", "O"]
    np.testing.assert_allclose(real["out0"], 2 * expected)
    np.testing.assert_allclose(found["out1"], expected / 2, atol=2e-3)
    np.testing.assert_array_equal(found["out0"], sim["out0"])
    np.testing.assert_array_equal(sim["out0"], 2 * sim["O"])


def test_several_samples_of_a_kept_kernel(folder: Path) -> None:
    words = ("layer.py:convolution", *SHAPES, "--keep", "K", "--inputs", "three.npz", "--pes", "4", "-q")
    assert main(("sim", *words, "-o", "sim.npz")) == 0
    assert main(("eval", *words, "--float", "-o", "float.npz")) == 0
    sim, real = load("sim.npz"), load("float.npz")
    assert sim["out0"].shape == real["out0"].shape == (3, 7)
    np.testing.assert_allclose(sim["out0"], real["out0"], atol=5e-3)


def test_gen_writes_the_folder(folder: Path) -> None:
    words = ("layer.py:convolution", *SHAPES, "--keep", "K", "--pes", "4", "-q", "-o", "build", "--json", "r.json")
    assert main(("gen", *words)) == 0
    manifest = json.loads(Path("build/layer.json").read_text())
    assert Path("build/layer.v").is_file() and manifest["cycles"] == json.loads(Path("r.json").read_text())["cycles"]


def test_training(folder: Path) -> None:
    shapes = ("--shape", "X=4", "--shape", "Y=", "--shape", "W=4", "--learning-rate", "0.25", "--pes", "4")
    words = ("layer.py:learn", *shapes, "--data", "data.npz", "--epochs", "3", "--engine", "model", "-o", "w.npz", "-q")
    assert main(("train", *words)) == 0
    np.testing.assert_allclose(load("w.npz")["W"], [0.5, -1.0, 0.25, 1.0], atol=0.05)


@pytest.mark.parametrize(
    ("words", "message", "place"),
    [
        (("layer.py:wrong", "--shape", "I=3"), "NameError: name 'i' is not defined", "layer.py:26:7"),
        (("layer.py:convolution", "--shape", "I=9"), "'K' of 'convolution' has neither", "layer.py:5:1"),
        (("layer.py:convolutoin", *SHAPES), "has no function 'convolutoin'", "did you mean 'convolution'?"),
        (("layer.py", *SHAPES), "'layer.py' has 3 functions", "convolution, learn, wrong"),
        (("layer.py:convolution", *SHAPES, "--keep", "L"), "has no such tensor", "hint: "),
        (("layer.py:convolution", *SHAPES, "--result", "P"), "does not compute it", "it computes O, Doubled"),
        (("layer.py:convolution", *SHAPES, "-D", "n=3"), "-D n: a Tile function has parameters", "--arg n="),
        (("layer.py:convolution", *SHAPES, "--size", "n=3"), "--size n: a Tile function takes shapes", "--shape"),
        (("layer.py:learn", "--shape", "X=4", "--shape", "Y=", "--shape", "W=5", "--arg", "learning_rate=1"), "", ""),
    ],
)
def test_faults_have_status_1_and_leave_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], message: str, place: str
) -> None:
    before = {path.name for path in folder.iterdir()}
    status = main(("gen", *words, "--pes", "4", "-o", "build"))
    said = capsys.readouterr()
    if not message:  # the shorter of two tensors bounds an index: no fault
        assert status == 0
        return
    assert status == 1 and said.out == "" and said.err.startswith("error: ")
    assert message in said.err and place in said.err and "Traceback" not in said.err
    assert {path.name for path in folder.iterdir()} - {"__pycache__"} == before


@pytest.mark.parametrize("words", [("--shape", "I"), ("--shape", "I=0"), ("--shape", "I=a"), ("--arg", "=3")])
def test_faults_of_usage_have_status_2(folder: Path, words: tuple[str, ...]) -> None:
    assert main(("gen", "layer.py:convolution", *words)) == 2


def test_check_says_that_it_runs_the_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It says so before, and whatever the file does."""
    Path("loud.py").write_text("import sys\nprint('the file', file=sys.stderr)\n" + LAYER)
    words = ["check", "loud.py:convolution", "--shape", "I=8", "--shape", "K=3"]
    assert main(words) == 0
    told = "note: loud.py is a program of Python: it is run, with all your rights, to see what it builds\n"
    assert capsys.readouterr().err == f"{told}the file\nloud.py:convolution: no errors\n"
    assert main([*words, "-q"]) == 0
    assert capsys.readouterr().err == "the file\n"


def test_shapes_are_for_tile(folder: Path) -> None:
    Path("k.tc").write_text("def f(float(N) a) -> (b) { b(i) = a(i) }")
    with pytest.raises(tabla.TablaError, match="--shape is for Tile functions"):
        tabla.compile("k.tc", shapes={"a": (3,)})


def dense(X: Any, W: Any) -> Any:
    i, j = TensorIndexes(2)
    O = TensorOutput(W.shape[0])
    O[i] += W[i, j] * X[j]
    return O


def test_a_compiled_function_is_called_on_arrays() -> None:
    accelerator = tabla.compile(dense, shapes={"X": (4,), "W": (3, 4)}, keep=("W",), pes=4)
    x, w = np.arange(4) / 4, np.arange(12).reshape(3, 4) / 8
    np.testing.assert_array_equal(accelerator(x, w), w @ x)
    np.testing.assert_array_equal(accelerator(W=w, X=x), w @ x)
    np.testing.assert_array_equal(accelerator(np.stack([x, -x]), w), np.stack([w @ x, -(w @ x)]))
    for arrays, message in (((x,), "W"), ((x, w, w), "takes 2 arrays"), ((x, x), "shape")):
        with pytest.raises(tabla.TablaError, match=message):
            accelerator(*arrays)
    with pytest.raises(tabla.TablaError, match="given twice"):
        accelerator(x, w, X=x)


def test_notebooks_show_the_report_the_graph_and_the_schedule() -> None:
    accelerator = tabla.compile(dense, inputs={"X": np.zeros(4), "W": np.zeros((3, 4))}, pes=4)
    assert f"<td style='text-align:left'>{accelerator.schedule.cycles}</td>" in accelerator._repr_html_()
    assert accelerator.graph._repr_svg_().startswith("<svg ")
    assert "srcdoc" in accelerator.schedule._repr_html_()


def test_integers_of_arrays_are_integers() -> None:
    def halves(A: Any) -> Any:
        return A / 2

    for array, expected in ((np.array([3, -3]), [1, -1]), (np.array([3.0, -3.0]), [1.5, -1.5])):
        build = tabla.driver.build(halves, tabla.build.options.Options(inputs={"A": array}))
        assert build.reading.evaluate_float is not None
        np.testing.assert_array_equal(build.reading.evaluate_float({"A": array}, None)["out0"], expected)
