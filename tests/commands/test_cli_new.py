"""From a table to a scored model in two commands."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.passengers import passengers

Run = Callable[..., str]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Run) -> Run:
    monkeypatch.chdir(tmp_path)
    Path("ship.csv").write_text(passengers())
    Path("later.csv").write_text(passengers(100, seed=8))
    return command


def test_passengers_in_two_commands(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table with texts, gaps, names and a column that counts is learnt without an option."""
    said = run("new", "ship", "--data", "ship.csv", "--label", "survived")
    assert "logistic regression: it learns 'survived' (no, yes) from 5 columns, which are 8 numbers\n" in said
    assert "left out     name: it has 300 different texts in 300 rows\n" in said
    assert said.endswith("next         cd ship && tabla train\n")
    monkeypatch.chdir("ship")
    settings = tomllib.loads(Path("tabla.toml").read_text())
    assert settings["categories"] == {"sex": ["female", "male"], "port": ["C", "Q", "S"]}
    assert settings["missing"] == "mean" and settings["train"] == {"output": "ship.npz"}
    found = json.loads(run("train", "--engine", "model", "-q", "--json", "-"))
    assert found["accelerator"][found["kept"]["accelerator"]]["test_metric"] > 0.8
    assert run("train", "--engine", "model", "-q").startswith("ship: 210 samples")
    tested = json.loads(run("test", "--data", "../later.csv", "-q", "--json", "-"))
    assert tested["samples"] == 100 and tested["accelerator"]["metric"] > 0.75
    run("predict", "--data", "../later.csv", "-q", "-o", "out.csv")
    assert len(Path("out.csv").read_text().splitlines()) == 101
    assert "ship.t: " not in run("check") and "written" in run("gen", "-q", "-o", "build")


def test_the_same_table_gives_the_same_bytes(run: Run) -> None:
    for name in ("one", "two"):
        run("new", f"{name}/ship", "--data", "ship.csv", "--label", "survived", "--model", "network:4")
    for file in ("ship.t", "tabla.toml", "README.md"):
        assert (Path("one/ship") / file).read_bytes() == (Path("two/ship") / file).read_bytes()


def test_nothing_is_written_where_something_is(run: Run) -> None:
    Path("ship").mkdir()
    said = run("new", "ship", "--data", "ship.csv", "--label", "survived", status=1)
    assert "'ship' is there already" in said and "choose another name" in said
    assert not list(Path("ship").iterdir())
    before = sorted(Path().iterdir())
    run("new", "other", "--data", "ship.csv", "--label", "survivd", status=1)
    run("new", "other", "--data", "ship.npz", "--label", "survived", status=1)
    assert "no such file" in run("new", "other", "--data", "shap.csv", status=1).lower()
    assert "there is no model 'tree'" in run("new", "other", "--data", "ship.csv", "--model", "tree", status=2)
    assert sorted(Path().iterdir()) == before


def test_a_regression_predicts_in_the_units_of_the_table(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = np.random.default_rng(1)
    a, b = chance.normal(size=(2, 120))
    price = 1000 + 200 * a - 50 * b
    lines = ["a,b,price", *(f"{p:.3f},{q:.3f},{r:.1f}" for p, q, r in zip(a, b, price, strict=True))]
    Path("h.csv").write_text("\n".join(lines) + "\n")
    run("new", "house", "--data", "h.csv", "--label", "price")
    monkeypatch.chdir("house")
    run("train", "--engine", "model", "-q")
    run("predict", "--data", "../h.csv", "-q", "-o", "out.csv")
    found = np.loadtxt("out.csv", skiprows=1)
    assert np.abs(found - price).max() < 10


@pytest.mark.slow
def test_an_autoencoder_of_texts_and_numbers(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    said = run("new", "all", "--data", "ship.csv")
    assert "autoencoder" in said
    monkeypatch.chdir("all")
    found = json.loads(run("train", "--engine", "model", "-q", "--epochs", "20", "--json", "-"))
    losses = [score["test_loss"] for score in found["accelerator"]]
    assert losses[-1] < 0.5 * losses[0]
    run("predict", "--data", "../later.csv", "-q", "-o", "out.csv")
