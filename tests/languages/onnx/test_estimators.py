"""Estimators of scikit-learn against their own predictions in float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn import linear_model, svm
from sklearn.cluster import KMeans
from sklearn.datasets import load_diabetes, load_iris, load_wine
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.isotonic import IsotonicRegression
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import tabla
from tabla.base.source import TablaError
from tabla.build.options import Options
from tabla.driver import Build, build
from tabla.languages.onnx.estimators import model_of
from tests.languages.onnx.models import close

SHOWN = 40


def read(estimator: Any, **options: Any) -> Build:
    """Read an estimator. Nothing is scheduled before it is asked for."""
    return build(model_of(estimator), Options(**options))


def iris(names: bool = False, classes: int = 3) -> tuple[Any, Any]:
    """Return iris, whose labels may be texts, and of which only two classes may be left."""
    X, y = load_iris(return_X_y=True)
    kept = y < classes
    return X[kept], np.array(["one", "two", "three"], dtype=object)[y[kept]] if names else y[kept] * 2 + 1


NETWORK: dict[str, Any] = {"hidden_layer_sizes": (5, 4), "max_iter": 60, "random_state": 0}
CLASSIFIERS: dict[str, Callable[[], Any]] = {
    "LogisticRegression": lambda: linear_model.LogisticRegression(max_iter=300),
    "SGDClassifier with probabilities": lambda: make_pipeline(
        StandardScaler(), linear_model.SGDClassifier(loss="log_loss", random_state=0)
    ),
    "SGDClassifier of a clipped loss": lambda: make_pipeline(
        StandardScaler(), linear_model.SGDClassifier(loss="modified_huber", random_state=0)
    ),
    "LinearDiscriminantAnalysis": lambda: LinearDiscriminantAnalysis(),
    "LogisticRegressionCV": lambda: linear_model.LogisticRegressionCV(Cs=2, cv=3, max_iter=300),
    "LinearSVC": lambda: svm.LinearSVC(),
    "SVC": lambda: svm.SVC(kernel="linear"),
    "SVC by pairs": lambda: svm.SVC(kernel="linear", decision_function_shape="ovo"),
    "SVC that breaks ties": lambda: svm.SVC(kernel="linear", break_ties=True),
    "RidgeClassifier": lambda: linear_model.RidgeClassifier(),
    "MLPClassifier": lambda: MLPClassifier(**NETWORK),
    "MLPClassifier tanh": lambda: MLPClassifier(activation="tanh", **NETWORK),
    "a pipeline": lambda: make_pipeline(StandardScaler(), PCA(3), linear_model.LogisticRegression()),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_classifier(name: str, classes: int) -> None:
    X, y = iris(names="SVC" in name, classes=classes)
    estimator = CLASSIFIERS[name]().fit(X, y)
    found = read(estimator, format="q8.24").evaluate({"x": X[::3]})
    assert np.array_equal(found["label"], estimator.predict(X[::3]).astype(found["label"].dtype))
    if hasattr(estimator, "predict_proba"):
        close(found["probabilities"], estimator.predict_proba(X[::3]))
    else:
        close(found["decision"], estimator.decision_function(X[::3]))


def test_where_all_clipped_scores_are_the_lowest_the_classes_are_alike() -> None:
    """The share is 1 / 3, as scikit-learn has it, and not 0."""
    X, y = iris()
    estimator = linear_model.SGDClassifier(loss="modified_huber", random_state=0).fit(X, y)
    changed(estimator, coef_=np.zeros((3, 4)), intercept_=np.full(3, -2.0))
    found = read(estimator, format="q8.24").evaluate({"x": X[:3]})["probabilities"]
    close(found, estimator.predict_proba(X[:3]))
    assert np.allclose(found, 1 / 3)


class OwnProbabilities(linear_model.LogisticRegression):  # type: ignore[misc]
    """A classifier whose probabilities nobody but itself knows."""

    def predict_proba(self, X: Any) -> Any:
        return super().predict_proba(X) ** 2


class OwnLabels(linear_model.LogisticRegression):  # type: ignore[misc]
    """A classifier that always predicts its first class."""

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.classes_[0])


class OwnDecision(svm.LinearSVC):  # type: ignore[misc]
    """A classifier with a decision of its own."""

    def decision_function(self, X: Any) -> Any:
        return super().decision_function(X) * 2


@pytest.mark.parametrize("classes", [2, 3])
def test_probabilities_of_an_unknown_class_are_left_out(classes: int) -> None:
    X, y = iris(classes=classes)
    estimator = OwnProbabilities(max_iter=300).fit(X, y)
    with pytest.warns(UserWarning, match=r"the probabilities of OwnProbabilities are left out"):
        made = tabla.from_sklearn(estimator, format="q8.24", effort=0)
    found = made.evaluate({"x": X[::9]})
    assert set(found) == {"label", "decision"}
    close(found["decision"], estimator.decision_function(X[::9]))


@pytest.mark.parametrize(
    ("kind", "message"),
    [(OwnLabels, "predicts another class"), (OwnDecision, "is not what its decision_function computes")],
)
def test_an_estimator_that_computes_something_else_is_refused(kind: type, message: str) -> None:
    X, y = iris()
    with pytest.raises(TablaError, match=message):
        tabla.from_sklearn(kind(max_iter=300).fit(X, y), format="q8.24", effort=0)


def test_classes_that_no_point_meets_are_named() -> None:
    X, y = iris()
    estimator = linear_model.LogisticRegression(max_iter=300).fit(X, y)
    changed(estimator, coef_=np.zeros((3, 4)), intercept_=np.array([0.0, 5.0, 0.0]))
    with pytest.warns(UserWarning, match=r"none of 256 random points is of the class 1, 5, so its predictions"):
        tabla.from_sklearn(estimator, format="q8.24", effort=0)


REGRESSORS: dict[str, Callable[[], Any]] = {
    "LinearRegression": lambda: linear_model.LinearRegression(),
    "Lasso": lambda: linear_model.Lasso(alpha=0.01),
    "SGDRegressor": lambda: linear_model.SGDRegressor(random_state=0),
    "SVR": lambda: svm.SVR(kernel="linear"),
    "LinearSVR": lambda: svm.LinearSVR(),
    "MLPRegressor": lambda: MLPRegressor(activation="logistic", **NETWORK),
    "a pipeline": lambda: make_pipeline(MinMaxScaler(), "passthrough", PCA(4, whiten=True), linear_model.Ridge()),
    "two targets": lambda: linear_model.Ridge(),
    "two targets of a network": lambda: MLPRegressor(**NETWORK),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", REGRESSORS)
def test_a_regressor(name: str) -> None:
    X, y = load_diabetes(return_X_y=True)
    y = (y - y.mean()) / y.std()
    estimator = REGRESSORS[name]().fit(X * 10, np.stack([y, y**2], axis=1) if "two" in name else y)
    found = read(estimator, format="q8.24").evaluate({"x": X[:SHOWN] * 10})
    close(found["y"], estimator.predict(X[:SHOWN] * 10))


@pytest.mark.parametrize("scaler", [StandardScaler(), StandardScaler(with_mean=False), MinMaxScaler((-1, 1)), PCA(2)])
def test_a_transformer(scaler: Any) -> None:
    X, _ = load_iris(return_X_y=True)
    found = read(scaler.fit(X), format="q8.24").evaluate({"x": X[:SHOWN]})
    close(found["transformed"], scaler.transform(X[:SHOWN]))


def test_the_host_standardises_first() -> None:
    """Raw numbers that no format of 16 bits holds beside small ones reach the array standardised."""
    X, y = load_wine(return_X_y=True)
    estimator = make_pipeline(StandardScaler(), linear_model.LogisticRegression()).fit(X, y)
    made = read(estimator, format="q6.10")
    assert X.max() > 1000 and made.lowered.tensors["x"].shape == (13,)
    assert set(made.reading.models) == {
        "logisticregression.coef", "logisticregression.intercept", "x.mean", "x.deviation"
    }  # fmt: skip
    agreed = made.evaluate({"x": X})["label"] == estimator.predict(X)
    assert agreed.mean() > 0.99


def test_on_the_machine() -> None:
    X, y = iris(names=True)
    estimator = make_pipeline(StandardScaler(), svm.SVC(kernel="linear")).fit(X, y)
    made = tabla.from_sklearn(estimator, pes=4, format="q6.10", effort=0, name="iris")
    found = made.simulate({"x": X[::10]}).arrays
    assert made.name == "iris" and list(found["label"]) == list(estimator.predict(X[::10]))


def changed(estimator: Any, **attributes: Any) -> Any:
    """Return a fitted estimator with other attributes."""
    for name, value in attributes.items():
        setattr(estimator, name, value)
    return estimator


@pytest.mark.filterwarnings("ignore")
def test_numbers_that_are_not_finite() -> None:
    X, y = iris()
    for estimator, message in (
        (StandardScaler().fit(np.full((5, 3), np.nan)), "'offset' has numbers that are not finite"),
        (changed(linear_model.Ridge().fit(X, y), coef_=np.array([1, np.nan, 1, 1])), "'coef' has elements that are no"),
        (changed(PCA(2).fit(X), components_=np.full((2, 4), np.inf)), "'components' has elements that are no finite"),
    ):
        with pytest.raises(tabla.TablaError, match=message) as caught:
            read(estimator)
        assert caught.value.line and caught.value.hint


def test_coefficients_may_be_sparse() -> None:
    X, y = iris()
    estimator = linear_model.LogisticRegression(max_iter=300).fit(X, y).sparsify()
    found = read(estimator, format="q8.24").evaluate({"x": X[::5]})
    close(found["probabilities"], estimator.predict_proba(X[::5]))


@pytest.mark.filterwarnings("error")
def test_names_of_features_are_no_reason_to_warn() -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    estimator = linear_model.Ridge().fit(X, y)
    close(read(estimator, format="q8.24").evaluate({"x": X.to_numpy()[::9]})["y"], estimator.predict(X.iloc[::9]))


@pytest.mark.filterwarnings("ignore")
def test_what_is_refused() -> None:
    X, y = iris()
    for estimator, message in (
        (linear_model.LogisticRegression(), "LogisticRegression is not fitted"),
        (svm.SVC().fit(X, y), "SVC with the kernel 'rbf' is not there"),
        (KMeans(3).fit(X), "the estimator 'KMeans' is not there"),
        (make_pipeline(KMeans(3), linear_model.Ridge()).fit(X, y), "the step 'KMeans' is not there"),
        (MinMaxScaler(clip=True).fit(X), "MinMaxScaler with clip=True"),
        (linear_model.PoissonRegressor().fit(X, y), "the estimator 'PoissonRegressor' is not there"),
        (MLPClassifier((3,), max_iter=5).fit(X, np.eye(3)[y // 2]), "several labels"),
        (linear_model.RidgeClassifier().fit(X, np.eye(3, dtype=int)[y // 2]), "several labels"),
        (svm.SVC(kernel=lambda a, b: a @ b.T).fit(X, y), "SVC does not say how many features it has"),
        (IsotonicRegression().fit(X[:, 0], y), "the estimator 'IsotonicRegression' is not there"),
        (FeatureUnion([("a", PCA(2))]).fit(X), "the estimator 'FeatureUnion' is not there"),
        (Pipeline([("a", StandardScaler().fit(X)), ("b", linear_model.Ridge())]), "the Ridge is not fitted"),
        (Pipeline([("a", "passthrough")]).fit(X), "the pipeline has no steps"),
        (changed(MLPClassifier((3,), max_iter=5).fit(X, y), activation="swish"), "activation 'swish' is not there"),
        (changed(linear_model.Ridge().fit(X, y), coef_=np.ones(7)), "the Ridge cannot predict"),
        (changed(linear_model.LogisticRegression().fit(X, y), coef_="a"), "the LogisticRegression cannot predict"),
    ):
        with pytest.raises(tabla.TablaError, match=message):
            model_of(estimator)
    for value in (3, svm.SVC, None):
        with pytest.raises(TypeError, match="is no estimator of scikit-learn"):
            tabla.from_sklearn(value)


@pytest.mark.parametrize(("asked", "solver"), [("ovr", "lbfgs"), ("deprecated", "liblinear"), ("auto", "lbfgs")])
def test_a_logistic_regression_of_older_releases_may_have_a_model_for_each_class(asked: str, solver: str) -> None:
    """Its probabilities are those that scikit-learn 1.7 computes: sigmoids, divided by their sum."""
    x, y = load_iris(return_X_y=True)
    estimator = linear_model.LogisticRegression(max_iter=500).fit(x, y)
    estimator.multi_class, estimator.solver = asked, solver
    scores = x @ estimator.coef_.T + estimator.intercept_
    chances = 1 / (1 + np.exp(-scores)) if solver == "liblinear" or asked == "ovr" else np.exp(scores)
    found = read(estimator, format="q8.16").evaluate({"x": x})["probabilities"]
    np.testing.assert_allclose(found, chances / chances.sum(axis=1, keepdims=True), atol=2**-10)


def test_an_estimator_of_the_tool_in_a_pipeline_has_an_accelerator_already() -> None:
    from tabla.sklearn import Ridge

    with pytest.raises(tabla.TablaError, match=r"Ridge of tabla\.sklearn learns on an accelerator") as caught:
        tabla.from_sklearn(make_pipeline(StandardScaler(), Ridge()))
    assert "inference_build_" in (caught.value.hint or "")
