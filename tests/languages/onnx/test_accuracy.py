"""Models of real data in words of 16 bits: on held-out samples they are within half a point of the originals.

The format is chosen from the samples that the models have learnt from. Accuracy and R² count in points of a hundred.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx.reference import ReferenceEvaluator
from skl2onnx import to_onnx
from sklearn import linear_model, svm
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine
from sklearn.decomposition import PCA
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tabla.build.options import Options
from tabla.driver import build
from tabla.languages.onnx import Model, read_proto
from tabla.languages.onnx.estimators import model_of
from tabla.learn.auto_format import for_inputs
from tabla.learn.data.dataset import Data
from tabla.learn.options import LearnOptions
from tests.languages.onnx.models import Case, drawn, node

POINTS = 0.005
Array = NDArray[Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A data set, a model that learns it, and the way by which the model is imported."""

    load: Callable[..., Any]
    estimator: Callable[[], Any]
    converted: bool = False
    result: str = "label"


def scaled(*steps: Any) -> Any:
    """Return a pipeline that standardises first."""
    return make_pipeline(StandardScaler(), *steps)


NETWORK: dict[str, Any] = {"random_state": 0, "max_iter": 300}
TASKS = {
    "wine, logistic regression": Task(load=load_wine, estimator=lambda: scaled(linear_model.LogisticRegression())),
    "tumours, SVC": Task(load=load_breast_cancer, estimator=lambda: scaled(svm.SVC(kernel="linear"))),
    "digits, SVC": Task(load=load_digits, estimator=lambda: svm.SVC(kernel="linear")),
    "digits, perceptron": Task(load=load_digits, estimator=lambda: scaled(MLPClassifier((32,), **NETWORK))),
    "digits, principal components": Task(
        load=load_digits, estimator=lambda: make_pipeline(PCA(20), linear_model.LogisticRegression(max_iter=2000)),
        converted=True, result="output_label",
    ),
    "tumours, perceptron": Task(
        load=load_breast_cancer, estimator=lambda: scaled(MLPClassifier((16, 8), activation="tanh", **NETWORK)),
        converted=True, result="output_label",
    ),
    "iris, linear SVC": Task(load=load_iris, estimator=lambda: svm.LinearSVC(), converted=True),
    "diabetes, ridge": Task(load=load_diabetes, estimator=lambda: scaled(linear_model.Ridge()), result="y"),
    "diabetes, SVR": Task(load=load_diabetes, estimator=lambda: scaled(svm.SVR(kernel="linear")), result="y"),
    "diabetes, perceptron": Task(
        load=load_diabetes, estimator=lambda: scaled(MLPRegressor(hidden_layer_sizes=(12,), alpha=1.0, **NETWORK)),
        converted=True, result="variable",
    ),
}  # fmt: skip
QUICK = "wine, logistic regression"


def results(model: Model, samples: Array, held_out: Array, *, result: str) -> Array:
    """Return a result for held-out samples, in words of 16 bits whose format the other samples choose."""
    made, name = partial(build, model), model.inputs[0].name
    chosen = for_inputs(made, Options(format="auto16"), Data({name: samples}), LearnOptions())
    return made(*chosen).evaluate({name: held_out})[result]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name == QUICK else pytest.mark.slow) for name in TASKS]
)
def test_half_a_point(name: str) -> None:
    task = TASKS[name]
    X, y = task.load(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, random_state=0)
    estimator = task.estimator().fit(X_train, y_train)
    if task.converted:
        proto = to_onnx(estimator, X_train[:1].astype(np.float32))
        model = read_proto(proto, "model", "model.onnx")
    else:
        model = model_of(estimator)
    found = results(model, X_train, X_test, result=task.result)
    score = r2_score if "diabetes" in name else accuracy_score
    own, original = score(y_test, found.ravel()), score(y_test, estimator.predict(X_test))
    assert abs(own - original) <= POINTS, f"{own:.4f}, and {original:.4f} of the original"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_convolutional_network() -> None:
    """A layer of drawn filters, pooling, and a dense layer that has learnt the digits."""
    X, y = load_digits(return_X_y=True)
    X = (X.reshape(-1, 1, 8, 8) / 16).astype(np.float32)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, random_state=0)
    nodes = [
        node("Conv", "x k", "a", pads=[1, 1, 1, 1]), node("Relu", "a", "r"),
        node("MaxPool", "r", "p", kernel_shape=[2, 2], strides=[2, 2]), node("Flatten", "p", "f"),
    ]  # fmt: skip
    case = Case(nodes=nodes, shapes={"x": (1, 8, 8)}, arrays={"k": drawn(8, 1, 3, 3)}, outputs=("f",))
    features = ReferenceEvaluator(case.proto()).run(None, {"x": X_train})[0]
    learnt = linear_model.LogisticRegression(max_iter=1000).fit(features, y_train)
    last = [node("Gemm", "f w b", "z", transB=1), node("ArgMax", "z", "y", axis=1, keepdims=0)]
    arrays = {"k": case.arrays["k"], "w": learnt.coef_, "b": learnt.intercept_}
    whole = Case(nodes=[*nodes, *last], shapes=case.shapes, arrays=arrays, outputs=("y",), whole=("y",))
    original = accuracy_score(y_test, ReferenceEvaluator(whole.proto()).run(None, {"x": X_test})[0])
    found = results(read_proto(whole.proto(), "digits", "digits.onnx"), X_train, X_test, result="y")
    own = accuracy_score(y_test, found)
    assert original > 0.95 and abs(own - original) <= POINTS, f"{own:.4f}, and {original:.4f} of the original"
