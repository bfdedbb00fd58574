"""Samples that are judged before their update."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tabla
from tests.commands.test_cli_held_out import LOGISTIC, fresh

Run = Callable[..., str]
RESIDUAL = LOGISTIC.replace("h = sigmoid(sum[i](w[i] * x[i]));\ne = h - y;", "e = y - sum[i](w[i] * x[i]);").replace(
    "g[i] = e", "g[i] = -e"
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("model.t").write_text(LOGISTIC)
    Path("residual.t").write_text(RESIDUAL)
    np.savez("data.npz", **fresh())
    return tmp_path


@pytest.mark.parametrize("minibatch", [1, 4])
@pytest.mark.parametrize("name", ["model", "residual"])
def test_each_sample_is_predicted_by_what_came_before(name: str, minibatch: int, folder: Path) -> None:
    """The witness trains step by step, and predicts the next step with the models so far."""
    build = tabla.compile(f"{name}.t", pes=2, minibatch=minibatch, effort=0)
    data, weights = fresh(), {"w": np.zeros(4)}
    found = build.progressive(data, weights=weights)
    predicted: list[Any] = []
    for at in range(0, 40, minibatch):
        step = {key: array[at : at + minibatch] for key, array in data.items()}
        predicted.extend(build.predict({"x": step["x"]}, weights=weights)[found.name])
        weights = {"w": build.evaluate(step, weights=weights)["w"]}
    assert np.max(np.abs(found.values - np.array(predicted))) <= (2**-10 if name == "residual" else 0)
    if name == "model":
        right = (found.values >= 0.5) == (data["y"] == 1)
        assert found.score == pytest.approx(right.mean())
        assert found.curve[0] == (2, right[:2].mean()) and found.curve[-1][0] == found.samples == 40


def test_values_have_the_axis_of_samples_and_gradients_have_not(folder: Path, command: Run) -> None:
    """Models and gradients are those of the last step, on every engine, with a minibatch and without."""
    options = ("--result", "h", "--result", "g", "--seed", "0", "-q", "--pes", "2")
    for extra in ((), ("--minibatch", "4")):
        command("eval", "model.t", "--inputs", "data.npz", *options, *extra, "-o", "e.npz")
        command("sim", "model.t", "--inputs", "data.npz", *options, *extra, "-o", "s.npz")
        command("eval", "model.t", "--inputs", "data.npz", *options, *extra, "--float", "-o", "f.npz")
        with np.load("e.npz") as evaluated, np.load("s.npz") as simulated, np.load("f.npz") as real:
            for found in (evaluated, simulated, real):
                assert found["h"].shape == (40,) and found["w"].shape == (4,)
                assert found["g"].shape == ((4, 4) if extra else (4,))[-found["g"].ndim :]
            assert all(np.array_equal(evaluated[key], simulated[key]) for key in evaluated)
    one = {key: array[0] for key, array in fresh().items()}
    build = tabla.compile("model.t", pes=2, results=("h",))
    assert np.shape(build.evaluate({**one, "w": np.zeros(4)})["h"]) == ()


def test_train_and_eval_say_it(folder: Path, command: Run) -> None:
    words = ("--data", "data.npz", "--epochs", "2", "--pes", "2", "-q", "--progressive")
    said = command("train", "model.t", *words, "--json", "learnt.json")
    whole = json.loads(Path("learnt.json").read_text())["progressive"]
    found = tabla.compile("model.t", pes=2).progressive("data.npz")
    assert (whole["metric"], whole["samples"]) == ("accuracy", 40)
    assert [value for _, value in whole["curve"]] == [value for _, value in found.curve]
    assert f"progressive accuracy    {100 * found.score:.2f} %, each of 40 samples predicted before" in said
    assert "running                 " in said
    evaluated = command("eval", "model.t", "--inputs", "data.npz", "--seed", "0", "--progressive", "-q", "-o", "e.npz")
    assert found.text() in evaluated


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("train model.t --data data.npz --progressive --devices 2 --minibatch 2", "--progressive and --devices"),
        ("eval model.t --inputs data.npz --seed 0 --progressive --float -o e.npz", "--progressive and --float"),
        ("eval model.t --inputs x.npz --seed 0 --infer --progressive -o e.npz", "learns nothing"),
    ],
)
def test_what_is_refused(folder: Path, command: Run, words: str, message: str) -> None:
    np.savez("x.npz", x=fresh()["x"], w=np.zeros(4))
    assert message in command(*words.split(), status=1)
