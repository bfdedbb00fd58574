"""``--format auto`` of `train`, `gen`, `eval` and `sim`: what they print and write, and what they refuse."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tabla

LOGISTIC = """m = 4;
mu = 0.001953125;
model_input x[m]; model_output y; model w[m]; gradient g[m] -> w; iterator i[0:m];
h = sigmoid(sum[i](w[i] * x[i]));
e = h - y;
g[i] = e * x[i];
"""
Run = Callable[..., str]


def arrays(scale: float = 1.0) -> dict[str, np.ndarray]:
    chance = np.random.default_rng(5)
    x = np.round(chance.uniform(-1, 1, (40, 4)), 3)
    return {"x": x * scale, "y": ((x @ [1, -2, 3, 0] + chance.normal(0, 1, 40)) > 0).astype(float)}


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Run) -> Run:
    """Return a function that runs a command in a folder with a program and data, and returns what it printed."""
    monkeypatch.chdir(tmp_path)
    Path("model.t").write_text(LOGISTIC)
    Path("infer.t").write_text(LOGISTIC.replace("gradient g[m] -> w; ", "").partition("e = h")[0])
    np.savez("data.npz", **arrays())
    np.savez("wide.npz", **arrays(9.0))
    np.savez("inputs.npz", **arrays(), w=np.full(4, 0.25))
    return command


def record(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path(name).read_text())
    return found


TRAIN = ("train", "model.t", "--engine", "model", "-q", "--epochs", "2")


def test_train_takes_what_it_prints(run: Run) -> None:
    learnt = (*TRAIN[:-1], "8", "-D", "mu=0.0625", "--data", "data.npz")
    said = run(*learnt, "--format", "auto8", "--json", "a.json", "-o", "a.npz")
    choice = record("a.json")["format_choice"]
    first = said.splitlines()[0]
    assert first.startswith(f"format       {choice['format']} and {choice['model_guard']} guard bits of models")
    assert record("a.json")["format"] == choice["format"] and choice["model_guard"] > 0
    (line,) = (line for line in said.splitlines() if line.endswith("<- chosen"))
    assert line.split()[:3] == [f"{choice['format']},", "guard", str(choice["model_guard"])]
    run(
        *learnt, "--saturate", "--format", choice["format"], "--model-guard", str(choice["model_guard"]),
        "-o", "b.npz",
    )  # fmt: skip
    assert Path("a.npz").read_bytes() == Path("b.npz").read_bytes()


def test_guard_bits_of_the_user_win(run: Run) -> None:
    run(*TRAIN, "--data", "data.npz", "--format", "auto12", "--model-guard", "0", "--json", "a.json")
    assert record("a.json")["format_choice"]["model_guard"] == 0
    assert "model_guard" not in record("a.json")


def test_the_test_part_is_not_looked_at(run: Run) -> None:
    """Numbers of the test part may be anything: the choice stays, and so do the models."""
    split = ("--split", "0.2", "--split-seed", "4", "--format", "auto12")
    run(*TRAIN, "--data", "data.npz", *split, "--json", "a.json", "-o", "a.npz")
    tested = np.random.default_rng(4).permutation(40)[:8]
    changed = arrays()
    changed["x"][tested] = 1.9
    np.savez("changed.npz", **changed)
    run(*TRAIN, "--data", "changed.npz", *split, "--json", "b.json", "-o", "b.npz")
    assert record("a.json")["format_choice"] == record("b.json")["format_choice"]
    assert Path("a.npz").read_bytes() == Path("b.npz").read_bytes()
    changed["x"][:] = 9.0
    np.savez("changed.npz", **changed)
    run(*TRAIN, "--data", "changed.npz", *split, "--json", "c.json")
    assert record("a.json")["format_choice"] != record("c.json")["format_choice"]


def test_held_out_samples_outside_of_the_chosen_range(run: Run) -> None:
    """The choice does not look at them, so they may lie outside of it. They saturate, and the report counts them."""
    data = arrays()
    tested = np.random.default_rng(4).permutation(40)[:8]
    data["x"][tested[3]] = -2.5
    np.savez("far.npz", **data)
    words = (*TRAIN, "--data", "far.npz", "--split", "0.2", "--split-seed", "4", "--format")
    said = run(*words, "auto12", "-o", "a.npz", "--json", "a.json")
    assert said.startswith("format       q2.10, ") and record("a.json")["saturated"] == 4
    assert "saturated data          4 numbers outside of q2.10" in said
    # Whoever names the format has to ask for that.
    refused = run(*words, "q2.10", status=1)
    assert f"input 'x' holds -2.5 in sample {tested[3] + 1} of 'far.npz', outside the range of q2.10" in refused
    assert "--saturate" in refused
    said = run(*words, "q2.10", "--saturate", "-o", "b.npz")
    assert "saturated data          4 numbers outside of q2.10" in said
    assert Path("a.npz").read_bytes() == Path("b.npz").read_bytes()
    assert "saturated data" not in run(*words, "q3.9")


def test_gen_writes_the_choice(run: Run) -> None:
    run("gen", "model.t", "--data", "wide.npz", "--format", "auto", "--pes", "4", "--effort", "0", "-o", "built", "-q")
    manifest = record("built/model.json")
    assert manifest["format_choice"]["format"] == manifest["format"]
    assert manifest["format_choice"]["samples"] == 40 and manifest["format_choice"]["epochs"] == 1
    run("gen", "model.t", "--format", "q6.10", "--pes", "4", "--effort", "0", "-o", "plain", "-q")
    assert "format_choice" not in record("plain/model.json")


def test_gen_reads_data_as_train_does(run: Run) -> None:
    data = arrays(9.0)
    rows = [",".join([*map(str, x), "ant" if y else "bee"]) for x, y in zip(data["x"], data["y"], strict=True)]
    Path("d.csv").write_text("\n".join(["a,b,c,d,kind", *rows]) + "\n")
    about_data = ("--data", "d.csv", "--columns", "x=*", "y=kind", "--classes", "y", "--standardise", "--epochs", "2")
    words = (*about_data, "--samples", "38", "--shuffle", "0", "--seed", "0", "--format", "auto12")
    run("gen", "model.t", *words, "--pes", "4", "--effort", "0", "-o", "built", "-q")
    run("train", "model.t", "--engine", "model", "-q", *words, "--json", "a.json")
    assert record("built/model.json")["format_choice"] == record("a.json")["format_choice"]


@pytest.mark.parametrize("name", ["eval", "sim"])
def test_one_pass_over_inputs(run: Run, name: str) -> None:
    said = run(name, "infer.t", "--inputs", "inputs.npz", "--format", "auto10", "-o", "out.npz", "-q")
    # The sum of four products of at most 0.25 needs two integer bits, as the sigmoid does.
    assert said.startswith("format       q2.8, chosen by the largest relative error of 40 samples")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, ()),
        (
            {"split": (0.2, 0.1), "split_seed": 0, "shuffle": 0},
            ("--split", "0.2,0.1", "--split-seed", "0", "--shuffle", "0"),
        ),
        (
            {"split": 0.2, "classes": "y", "standardise": True, "seed": 3, "samples": 35},
            ("--split", "0.2", "--classes", "y", "--standardise", "--seed", "3", "--samples", "35"),
        ),
    ],
)
def test_python_chooses_and_learns_as_train_does(run: Run, options: dict[str, Any], words: tuple[str, ...]) -> None:
    run(*TRAIN, *words, "--data", "wide.npz", "--format", "auto12", "--json", "a.json", "-o", "a.npz")
    wanted = {"epochs": 2, **options}
    build = tabla.compile("model.t", format="auto12", data=arrays(9.0), **wanted)
    found = build.train(arrays(9.0), engine="model", **wanted)
    assert build.format_choice is not None
    said = record("a.json")
    assert build.format_choice.as_json() == said.pop("format_choice")
    assert json.loads(json.dumps(found.as_json())) == said
    with np.load("a.npz") as archive:
        assert archive.files == list(found.stored())
        assert all(np.array_equal(archive[name], array) for name, array in found.stored().items())


def test_python_chooses_from_pairs_and_inputs(run: Run) -> None:
    data = arrays()
    pair = tabla.compile("model.t", format="auto10", data=(data["x"], data["y"]), epochs=2)
    named = tabla.compile("model.t", format="auto10", data="data.npz", epochs=2)
    assert pair.format_choice == named.format_choice is not None
    given = {**data, "w": np.full(4, 0.25)}
    build = tabla.compile("infer.t", format="auto10", inputs=given)
    said = run("eval", "infer.t", "--inputs", "inputs.npz", "--format", "auto10", "-o", "out.npz", "-q")
    assert build.format_choice is not None and said.startswith("\n".join(build.format_choice.lines()))
    with np.load("out.npz") as archive:
        assert np.array_equal(archive["h"], build.evaluate(given)["h"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("train", "model.t", "--data", "data.npz", "--format", "auto7"), "there are no words of 7 bits"),
        (("gen", "model.t", "--format", "auto"), "--format auto chooses the format from data, and there is none here"),
        (("check", "model.t", "--format", "auto"), "--format auto chooses the format from data"),
        (("gen", "model.t", "--data", "data.npz"), "--data has a meaning only where data choose"),
        (("gen", "model.t", "--format", "auto", "--epochs", "3"), "--epochs has a meaning only where data choose"),
        (("train", "model.t", "--data", "no.npz", "--format", "auto"), "cannot read 'no.npz'"),
        (("gen", "infer.t", "--inputs", "inputs.npz", "--format", "auto", "--split", "0.2"), "--split has a meaning"),
        (("gen", "model.t", "--seed", "0"), "--seed has a meaning only where data choose"),
        (("gen", "model.t", "--standardise"), "--standardise has a meaning only where data choose"),
    ],
)
def test_mistakes(run: Run, words: tuple[str, ...], message: str) -> None:
    said = run(*words, status=1)
    assert said.splitlines()[0].startswith("error: ") and message in said.splitlines()[0]
    assert "hint: " in said
