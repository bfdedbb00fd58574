"""Tile in C++ on the command line: each command that takes a Tile function."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tabla.commands.cli import main

LAYER = """// Two functions.
Tensor convolution(const Tensor& I, const Tensor& K, const std::vector<int>& s) {
  TensorDim X, KX;
  TensorIndex x, k;
  I.bind_dims(X);
  K.bind_dims(KX);
  auto O = TensorOutput((X - KX) / s[0] + 1);
  O(x) += I(s[0] * x + k) * K(k);
  auto Doubled = 2 * O;
  return Doubled;
}

Tensor learn(const Tensor& X, const Tensor& Y, const Tensor& W, float learning_rate) {
  TensorIndex i;
  auto H = TensorOutput();
  H() += W(i) * X(i);
  auto E = H - Y;
  descend(E * E / 2, {W}, learning_rate);
  return H;
}
"""
SHAPES = ("--shape", "X=4", "--shape", "Y=", "--shape", "W=4", "--learning-rate", "0.25", "--pes", "4", "-q")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("layer.cpp").write_text(LAYER)
    chance = np.random.default_rng(1)
    np.savez("one.npz", I=chance.uniform(-1, 1, 9), K=[0.5, -0.25, 1.0])
    x = chance.uniform(-1, 1, (40, 4))
    np.savez("data.npz", X=x, Y=x @ np.array([0.5, -1.0, 0.25, 1.0]))


def load(path: str) -> dict[str, Any]:
    with np.load(path) as found:
        return {name: found[name] for name in found.files}


def test_evaluation_simulation_and_numpy_agree() -> None:
    words = ("layer.cpp:convolution", "--inputs", "one.npz", "--pes", "4", "--arg", "s=2,1", "--keep", "K", "-q")
    assert main(("eval", *words, "--result", "O", "-o", "eval.npz")) == 0
    assert main(("eval", *words, "--float", "-o", "float.npz")) == 0
    assert main(("sim", *words, "-o", "sim.npz", "--result", "O")) == 0
    given, found, real, sim = load("one.npz"), load("eval.npz"), load("float.npz"), load("sim.npz")
    expected = np.array([given["I"][2 * x : 2 * x + 3] @ given["K"] for x in range(4)])
    np.testing.assert_allclose(real["out0"], 2 * expected)
    np.testing.assert_array_equal(found["out0"], sim["out0"])
    np.testing.assert_array_equal(sim["out0"], 2 * sim["O"])


def test_models_that_learnt_predict_without_the_file() -> None:
    words = ("layer.cpp:learn", *SHAPES, "--data", "data.npz")
    assert main(("train", *words, "--epochs", "3", "--engine", "model", "--predict", "H", "-o", "w.npz")) == 0
    np.testing.assert_allclose(load("w.npz")["W"], [0.5, -1.0, 0.25, 1.0], atol=0.05)
    Path("layer.cpp").unlink()
    assert main(("predict", "w.npz", "--data", "data.npz", "-o", "p.npz", "-q")) == 0
    np.testing.assert_allclose(load("p.npz")["H"], load("data.npz")["Y"], atol=0.05)


def test_formats_and_explorations() -> None:
    words = ("layer.cpp:learn", *SHAPES[:-3], "-q")  # without --pes
    given = ("--data", "data.npz", "--split", "0.6,0.2", "--epochs", "1", "--predict", "H")
    assert main(("formats", *words, *given, "--json", "f.json")) == 0
    assert json.loads(Path("f.json").read_text())["schema"]
    assert main(("explore", *words, "--pes", "2,4", "-o", "report")) == 0
    assert any(Path("report").iterdir())


def test_a_name_for_two_functions_of_one_file(capsys: pytest.CaptureFixture[str]) -> None:
    shapes = ("--shape", "I=9", "--shape", "K=3", "--arg", "s=1,1", "--pes", "4", "-q")
    assert main(("gen", "layer.cpp:convolution", *shapes, "-o", "build", "--name", "first-half")) == 0
    manifest = json.loads(Path("build/first-half.json").read_text())
    assert manifest["name"] == "first-half"
    assert "\nmodule first_half" in Path("build/first-half.v").read_text()
    assert not any("layer" in path.name for path in Path("build").rglob("*"))
    for name in ("a/b", "", "-x", "a b"):
        assert main(("gen", "layer.cpp:convolution", *shapes, "-o", "build", f"--name={name}")) == 2
        assert "names no files" in capsys.readouterr().err


def test_the_emitted_program(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("layer.cpp:convolution", "--shape", "I=9", "--shape", "K=3", "--arg", "s=2,1")
    assert main(("gen", *words, "--emit", "ast")) == 0
    assert "    O[x] += I[k + 2 * x] * K[k]\n    Doubled = 2 * O\n" in capsys.readouterr().out
    assert main(("gen", *words, "--emit", "kernel")) == 0
    assert "\nDoubled[x] = 2.0 * sum[k in 0:3](I[k+2*x] * K[k]) for x in 0:4;\n" in capsys.readouterr().out


def test_the_schedule_tells_the_text(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("layer.cpp:convolution", "--shape", "I=9", "--shape", "K=3", "--arg", "s=2,1")
    assert main(("bound", *words, "--pes", "4")) == 0
    assert "O(x) += I(s[0] * x + k) * K(k)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message", "place"),
    [
        (("layer.cpp:convolution", "--shape", "I=9"), "'K' of 'convolution' has no shape", "layer.cpp:2:43"),
        (("layer.cpp:convolutoin", "--shape", "I=9"), "has no function 'convolutoin'", "did you mean 'convolution'?"),
        (("layer.cpp", "--shape", "I=9"), "'layer.cpp' has 2 functions", "convolution, learn"),
        (("layer.cpp:learn", *SHAPES[:6], "-D", "n=3"), "a Tile function has parameters", "--arg"),
        (("layer.cpp:learn", *SHAPES[:8], "--keep", "L"), "has no such tensor", "hint: "),
    ],
)
def test_what_is_refused(words: tuple[str, ...], message: str, place: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(("check", *words)) == 1
    said = capsys.readouterr().err
    assert message in said and place in said


def test_a_file_that_is_only_checked_is_not_run(capsys: pytest.CaptureFixture[str]) -> None:
    """Whoever checks a Tile function in Python is told that it runs."""
    assert main(("check", "layer.cpp:learn", *SHAPES[:-1])) == 0
    assert "it is run" not in capsys.readouterr().err
