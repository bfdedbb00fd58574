"""Models that were trained elsewhere are scored on held-out data as they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

import tabla
from tabla.base.source import TablaError
from tabla.commands.cli import main
from tests.languages.onnx.models import Case, drawn, node


@pytest.fixture(scope="module")
def case() -> Case:
    """A layer of four inputs and two outputs, and its class beside it."""
    nodes = [node("Gemm", "x W b", "s"), node("Relu", "s", "y"), node("ArgMax", "y", "best", axis=1, keepdims=0)]
    return Case(nodes=nodes, shapes={"x": (4,)}, arrays={"W": drawn(4, 2), "b": drawn(2)}, outputs=("best", "y"))


@pytest.fixture
def data(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A folder with the model and data whose labels are what the model says, and half a unit beside it."""
    monkeypatch.chdir(tmp_path)
    onnx.save(case.proto(), "net.onnx")
    x = np.random.default_rng(2).uniform(-1, 1, (20, 4)).astype(np.float32)
    said = dict(zip(case.outputs, ReferenceEvaluator(case.proto()).run(None, {"x": x}), strict=True))
    np.savez("data.npz", x=x, label=said["y"] + 0.5)
    return {"x": x, **said}


def test_an_estimator_has_the_accuracy_that_it_had() -> None:
    x, y = load_iris(return_X_y=True)
    x = StandardScaler().fit_transform(x)
    estimator = LogisticRegression().fit(x[::2], y[::2])
    build = tabla.from_sklearn(estimator, pes=4, format="q6.10", effort=0)
    found = build.test({"x": x[1::2], "label": y[1::2]}, classes=["label"])
    assert found.metric.name == "accuracy" and found.prediction.name == "probabilities"
    assert found.float64.metric == pytest.approx(estimator.score(x[1::2], y[1::2]))
    assert abs(found.accelerator.metric - found.float64.metric) <= 1 / 75
    assert found.cycles_predicted == found.cycles_simulated and found.samples == 75


def test_labels_are_the_classes_of_the_model() -> None:
    """Sorted numbers of the classes in the data would be others where a class is missing, or is a stranger."""
    x, y = load_iris(return_X_y=True)
    names = np.array(["rose", "iris", "lily"])[y]
    estimator = LogisticRegression(max_iter=500).fit(x, names)
    build = tabla.from_sklearn(estimator, pes=4, format="q8.16", effort=0)
    for kept in (y >= 0, y != 0, y == 1):
        for classes in (["label"], []):
            found = build.test({"x": x[kept], "label": names[kept]}, classes=classes)
            assert found.float64.metric == pytest.approx(estimator.score(x[kept], names[kept]))
    hot = np.eye(3)[np.searchsorted(estimator.classes_, names)]
    assert build.test({"x": x, "label": hot}).float64.metric == pytest.approx(estimator.score(x, names))
    with pytest.raises(TablaError, match="has the class 'tulip', which the model does not have") as caught:
        build.test({"x": x, "label": np.where(y == 0, "tulip", names)}, classes=["label"])
    cure = "the classes of 'label' are iris, lily, rose; correct the label, or leave that sample out"
    assert caught.value.hint == cure


def test_labels_may_be_truth_values() -> None:
    """The classes of a model that learnt from truth values are 0 and 1, so both write the same labels."""
    x, y = load_iris(return_X_y=True)
    estimator = LogisticRegression().fit(x, y > 1)
    build = tabla.from_sklearn(estimator, pes=2, format="q8.16", effort=0)
    for labels in (y > 1, (y > 1).astype(object), (y > 1).astype(str), (y > 1).astype(int)):
        assert build.test((x, labels)).float64.metric == pytest.approx(estimator.score(x, y > 1))


def test_the_command_scores_a_file(data: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--pes", "2", "--effort", "0", "-q", "--metric", "mse"]
    assert main(["test", "net.onnx", "--data", "data.npz", *options]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("net: 20 samples, none learnt from, 2 PEs, q6.10")
    # Every score is half a unit beside its label, in float64 exactly.
    assert [line.split()[-1] for line in lines if line.startswith("mse")] == ["0.25"]
    build = tabla.compile("net.onnx", pes=2, effort=0)
    changed = {"W": np.zeros((4, 2)), "b": np.zeros(2)}
    found = build.test("data.npz", weights=changed, metric="mse")
    assert found.float64.metric == pytest.approx(np.mean((data["y"] + 0.5) ** 2))


def test_what_cannot_be_scored_is_told(data: dict[str, Any], tmp_path: Path) -> None:
    build = tabla.compile("net.onnx", pes=2, effort=0)
    with pytest.raises(TablaError, match="the data has no label 'label' to measure against"):
        build.test({"x": data["x"]})
    with pytest.raises(TablaError, match="has no result of real numbers that a label could be compared with"):
        build.test("data.npz", predict="best")
    (tmp_path / "m.t").write_text("model_input x; model_output y; model w; h = w * x; e = h - y;\n")
    with pytest.raises(TablaError, match=r"m\.t' brings no models to score.*\n.*--weights"):
        tabla.compile(tmp_path / "m.t", pes=1, effort=0).test({"x": [1.0], "y": [1.0]})
