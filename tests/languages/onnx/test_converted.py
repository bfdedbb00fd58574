"""What skl2onnx writes of estimators, with its labels, maps and casts, against the reference evaluator of ONNX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun
from skl2onnx import to_onnx
from sklearn import linear_model, svm
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, Normalizer, StandardScaler

from tests.languages.onnx.models import FORMAT, close, read


class ZipMap(OpRun):  # type: ignore[misc]
    """The operator that the reference evaluator does not have. Its maps are rows here, in the order of the labels."""

    op_domain = "ai.onnx.ml"

    def _run(self, x: Any, **labels: Any) -> tuple[Any]:
        return (x,)


NETWORK: dict[str, Any] = {"hidden_layer_sizes": (5,), "max_iter": 60, "random_state": 0}
ESTIMATORS: dict[str, Callable[[], Any]] = {
    "LogisticRegression": lambda: linear_model.LogisticRegression(max_iter=300),
    "LinearSVC": lambda: svm.LinearSVC(),
    "RidgeClassifier": lambda: linear_model.RidgeClassifier(),
    "MLPClassifier": lambda: MLPClassifier(**NETWORK),
    "LinearRegression": lambda: linear_model.LinearRegression(),
    "MLPRegressor": lambda: MLPRegressor(activation="tanh", **NETWORK),
    "a pipeline": lambda: make_pipeline(StandardScaler(), PCA(2), linear_model.LogisticRegression()),
    "scalers": lambda: make_pipeline(MinMaxScaler(), Normalizer()),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("labels", ["two numbers", "three texts"])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_converted_estimator(name: str, labels: str) -> None:
    X, y = load_iris(return_X_y=True)
    if labels == "two numbers":
        X, y = X[y < 2], y[y < 2] * 2 + 1
    elif "Regress" not in name or "Logistic" in name:
        y = np.array(["a", "b", "c"])[y]
    X = X.astype(np.float32)
    proto = to_onnx(ESTIMATORS[name]().fit(X, y), X[:1])
    expected = ReferenceEvaluator(proto, new_ops=[ZipMap]).run(None, {"X": X[::3]})
    found = read(proto, format=FORMAT).evaluate({"X": X[::3]})
    assert list(found) == [each.name for each in proto.graph.output]
    for one, other in zip(found.values(), expected, strict=True):
        if other.dtype.kind == "f":
            close(one, other)
        else:
            assert np.array_equal(one, other)
