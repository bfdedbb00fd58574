"""Predictions: a row for each row of data, classes by name, the user's units, and the words of every engine."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.linear_model import LinearRegression, LogisticRegression

import tabla
from tests.logistic_program import LOGISTIC

SOFTMAX = """mu = 0.125; m = 4; k = 3;
model_input x[m]; model_output y[k]; model w[m][k]; model b[k];
gradient gw[m][k] -> w; gradient gb[k] -> b;
iterator i[0:m]; iterator j[0:k]; iterator c[0:k];
s[j] = sum[i](w[i][j] * x[i]) + b[j];
e[j] = exp(s[j]);
h[j] = e[j] / sum[c](e[c]);
gb[j] = h[j] - y[j];
gw[i][j] = (h[j] - y[j]) * x[i];
"""
LINEAR = """mu = 0.015625; m = 10;
model_input x[m]; model_output y; model w[m]; model b;
gradient g[m] -> w; gradient gb -> b;
iterator i[0:m];
h = sum[i](w[i] * x[i]) + b;
g[i] = (h - y) * x[i];
gb = h - y;
"""
Command = Callable[..., str]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def iris() -> pd.DataFrame:
    raw = load_iris()
    frame = pd.DataFrame(raw.data, columns=["a", "b", "c", "d"])
    frame["species"] = raw.target_names[raw.target]
    return frame


def test_flowers_by_name_within_half_a_point_of_scikit_learn() -> None:
    frame = iris()
    Path("softmax.t").write_text(SOFTMAX)
    data = tabla.Data(frame, columns={"x": "*", "y": "species"}, classes="y", standardise=True, split=0.3)
    build = tabla.compile("softmax.t", pes=4, effort=0, format="q6.12")
    training = build.train(data, epochs=30)
    shares = data.shares
    assert shares is not None
    rows = shares.indices(len(frame))
    new = frame.iloc[rows.test].drop(columns="species")
    found = build.predict(new, weights=training.stored())
    assert list(found.columns) == ["species", "h[0]", "h[1]", "h[2]"]
    assert list(found.index) == list(new.index)
    right = float((found["species"] == frame["species"].iloc[rows.test]).mean())
    assert training.score.test is not None and right == training.score.test.metric
    scaled = (frame[["a", "b", "c", "d"]] - frame[["a", "b", "c", "d"]].iloc[rows.training].mean()) / frame[
        ["a", "b", "c", "d"]
    ].iloc[rows.training].std(ddof=0)
    reference = LogisticRegression(max_iter=1000).fit(scaled.iloc[rows.training], frame["species"].iloc[rows.training])
    wanted = reference.score(scaled.iloc[rows.test], frame["species"].iloc[rows.test])
    assert right >= wanted - 0.025  # one of 45 flowers is 2.2 points


@pytest.mark.slow
def test_cancer_without_names_of_classes(command: Command) -> None:
    raw = load_breast_cancer()
    Path("model.t").write_text(LOGISTIC.replace("m = 4", "m = 30").replace("0.5", "0.0625"))
    np.savez("data.npz", x=raw.data, y=raw.target)
    np.savez("new.npz", x=raw.data[:50])
    options = ("--pes", "4", "--effort", "0", "--format", "q6.12")
    command("train", "model.t", "--data", "data.npz", "--standardise", "--epochs", "10", "-o", "w.npz", *options)
    said = command("predict", "model.t", "--weights", "w.npz", "--data", "new.npz", "-o", "out.csv")
    assert said.startswith("50 samples predicted, q6.12, the first 32 on engine model\ny ")
    with Path("out.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 50 and set(rows[0]) == {"y", "h"}
    classes = np.array([float(row["y"]) for row in rows])
    scores = np.array([float(row["h"]) for row in rows])
    assert np.array_equal(classes, (scores >= 0.5).astype(float))
    tested = command("test", "model.t", "--weights", "w.npz", "--data", "data.npz", "--samples", "50")
    right = 100 * float((classes == raw.target[:50]).mean())
    assert f"{right:.2f} %" in tested
    standard = (raw.data - raw.data.mean(axis=0)) / raw.data.std(axis=0)
    reference = LogisticRegression(max_iter=1000).fit(standard, raw.target)
    assert right >= 100 * reference.score(standard[:50], raw.target[:50]) - 2
    command("predict", "model.t", "--weights", "w.npz", "--data", "new.npz", "-o", "out.npz", "--engine", "cxxrtl")
    with np.load("out.npz") as archive:
        assert np.array_equal(archive["h"], scores)
        assert archive["y"].tolist() == [row["y"] for row in rows]


def test_a_regression_in_the_users_units() -> None:
    raw = load_diabetes()
    Path("linear.t").write_text(LINEAR)
    build = tabla.compile("linear.t", pes=4, effort=0, format="q6.14")
    data = tabla.Data((raw.data, raw.target), standardise=True, standardise_labels=True)
    training = build.train(data, epochs=20)
    found = build.predict(raw.data, weights=training.models)["h"]
    spread = raw.target.std()
    ours = 1 - float(np.mean((found - raw.target) ** 2)) / spread**2
    assert ours >= LinearRegression().fit(raw.data, raw.target).score(raw.data, raw.target) - 0.01
    assert 20 < found.min() and found.max() < 350 and abs(found.mean() - raw.target.mean()) < 5


def test_the_label_is_ignored_and_a_single_sample_is_one() -> None:
    Path("model.t").write_text(LOGISTIC)
    build = tabla.compile("model.t", pes=2, effort=0)
    weights = {"w": [0.5, -1.0, 0.25, 1.0]}
    x = np.array([[1.0, 0.5, -1.0, 2.0], [0.0, 1.0, 0.0, -1.0]])
    plain = build.predict({"x": x}, weights=weights)
    assert list(plain) == ["h"], "nothing says that the labels are classes"
    assert np.array_equal(build.predict({"x": x, "y": [7.0, -3.0]}, weights=weights)["h"], plain["h"])
    assert np.array_equal(build.predict({"x": x[0]}, weights=weights)["h"], plain["h"][:1])
    assert np.allclose(plain["h"], 1 / (1 + np.exp(-x @ weights["w"])), atol=0.01)


def test_a_residual_gives_its_prediction() -> None:
    """The graph has y - w x alone, so the prediction is what is left of it for a label of 0."""
    Path("model.t").write_text(LOGISTIC.replace("sigmoid(sum[i](w[i] * x[i]))", "y - sum[i](w[i] * x[i])").replace(
        "(h - y)", "(0 - h)"
    ))  # fmt: skip
    build = tabla.compile("model.t", pes=2, effort=0)
    x = np.array([[1.0, 0.5, -1.0, 2.0], [0.0, 1.0, 0.0, -1.0]])
    found = build.predict(x, weights={"w": [0.5, -1.0, 0.25, 1.0]})
    assert np.array_equal(found["h"], x @ [0.5, -1.0, 0.25, 1.0])


MISTAKES: dict[str, tuple[dict[str, Any], str]] = {
    "a strange array": ({"data": {"x": np.ones((2, 4)), "z": np.ones(2)}}, "the data holds 'z'"),
    "another width": ({"data": np.ones((2, 3))}, r"'x' has shape \(2, 3\) in the data"),
    "no weights": ({"data": np.ones((2, 4)), "weights": None}, "brings no models to predict with"),
    "an unknown value": ({"data": np.ones((2, 4)), "predict": "q"}, "the program computes no such value"),
    "no input": ({"data": {"y": np.ones(2)}}, "'x\\[4\\]' is missing in the data"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(name: str) -> None:
    given, message = MISTAKES[name]
    Path("model.t").write_text(LOGISTIC)
    build = tabla.compile("model.t", pes=2, effort=0)
    options = {"weights": {"w": np.zeros(4)}, **given}
    with pytest.raises(tabla.TablaError, match=message):
        build.predict(options.pop("data"), **options)


def test_a_file_of_another_kind_is_refused_before_any_work(command: Command, capsys: Any) -> None:
    from tabla.commands.cli import main

    Path("model.t").write_text(LOGISTIC)
    assert main(["predict", "model.t", "--data", "no.csv", "-o", "out.txt"]) == 1
    assert "predictions cannot be written to 'out.txt'" in capsys.readouterr().err
