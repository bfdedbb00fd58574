"""A kernel on the command line: printed, built, trained and evaluated."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import tabla
from tabla.program.protocol import fingerprint

Command = Callable[..., str]
EXAMPLES = Path(tabla.__file__).parent / "examples"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", ["logistic", "svm", "backprop"])
def test_the_text_builds_the_same_machine(command: Command, name: str) -> None:
    text = command("gen", str(EXAMPLES / f"{name}.t"), "--emit", "kernel")
    Path(f"{name}.kernel").write_text(text)
    made = tabla.compile(EXAMPLES / f"{name}.t", effort=0, pes=8)
    again = tabla.compile(f"{name}.kernel", effort=0, pes=8)
    assert fingerprint(again.image) == fingerprint(made.image)
    assert again.emit("kernel") == text == again.emit("ast")


@pytest.mark.parametrize("options", [(), ("--minibatch", "4")])
@pytest.mark.parametrize("name", ["logistic", "svm", "backprop"])
def test_float64_is_what_the_kernel_says(command: Command, name: str, options: tuple[str, ...]) -> None:
    """And near to what the accelerator would learn in wide words."""
    (data,) = (line for line in command("examples", name, "-o", ".").splitlines() if line.endswith(".npz"))
    run = ("eval", f"{name}.t", "--inputs", data, "--samples", "40")
    wide = ("--seed", "0", "--format", "q12.20", "--saturate", *options)
    command(*run, *wide, "--float", "-o", "real.npz")
    command(*run, *wide, "-o", "words.npz")
    with np.load("real.npz") as real, np.load("words.npz") as words:
        assert sorted(real) == sorted(words)
        for each in real:
            assert np.allclose(real[each], words[each], atol=1e-3), each


def test_float64_returns_results_of_each_sample(command: Command) -> None:
    chance = np.random.default_rng(0)
    np.savez("in.npz", x=chance.normal(size=(5, 30)), w=chance.normal(size=30), b=0.25, y=np.ones(5))
    command("eval", str(EXAMPLES / "logistic.t"), "--inputs", "in.npz", "--result", "h", "--float", "-o", "out.npz")
    with np.load("out.npz") as found, np.load("in.npz") as given:
        w, b = given["w"], given["b"]
        for sample, x in enumerate(given["x"]):
            h = 1 / (1 + np.exp(-(x @ w + b)))
            assert found["h"][sample] == pytest.approx(h, rel=1e-12)
            w, b = w - 0.03125 * (h - 1) * x, b - 0.03125 * (h - 1)
        assert np.allclose(found["w"], w, rtol=1e-12) and found["b"] == pytest.approx(b, rel=1e-12)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("gen", "k.kernel", "-D", "m=3"), "-D: 'k.kernel' is a kernel, which holds that already"),
        (("gen", "k.kernel", "--learning-rate", "0.5"), "--learning-rate: 'k.kernel' is a kernel"),
        (("gen", "k.kernel", "--runtime-rate"), "--runtime-rate: 'k.kernel' has not one learning rate"),
        (("gen", "sum.graph", "--emit", "kernel"), "--emit kernel: 'sum.graph' has no kernel"),
    ],
)
def test_what_is_refused(command: Command, words: tuple[str, ...], message: str) -> None:
    Path("k.kernel").write_text("input x: real; value y: real; y = x; return y;")
    Path("layer.py").write_text("def f(a):\n    return a + 1.0\n")
    Path("sum.graph").write_text(command("gen", "layer.py:f", "--shape", "a=3", "--emit", "graph"))
    said = command(*words, status=1)
    assert f"error: {message}" in said and "hint: " in said


TRIANGLE = """// Running sums of a row, and differences of neighbours but at the ends.
input x[6]: real;
value running[6]: real;
value step[6]: real;
running[i] = sum[j in 0:6 where j <= i](x[j]) for i in 0:6;
step[i] = running[i] / 8.0 for i in 0:6;
step[i] = x[i] - x[i - 1] for i in 0:6 where i >= 1, i < 5;
return running, step;
"""


def test_conditions_on_the_machine(command: Command) -> None:
    """What TABLA cannot say: a part of a tensor under a condition, and sums of different lengths."""
    Path("t.kernel").write_text(TRIANGLE)
    x = np.random.default_rng(4).integers(-512, 512, (5, 6)) / 256
    np.savez("in.npz", x=x)
    command("sim", "t.kernel", "--inputs", "in.npz", "--pes", "4", "--engine", "model", "-o", "out.npz")
    with np.load("out.npz") as found:
        assert np.allclose(found["running"], np.cumsum(x, axis=1), atol=2**-9)
        step = np.cumsum(x, axis=1) / 8
        step[:, 1:5] = np.diff(x, axis=1)[:, :4]
        assert np.allclose(found["step"], step, atol=2**-9)
    text = command("gen", "t.kernel", "--emit", "kernel")
    assert "running[i] = sum[j in 0:6 where i-j >= 0](x[j]) for i in 0:6;" in text
