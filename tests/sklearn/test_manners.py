"""What all six estimators have in common with those of scikit-learn, and with each other."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
import sklearn.linear_model
import sklearn.neural_network
import sklearn.svm
from sklearn import config_context
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import VotingClassifier
from sklearn.exceptions import FitFailedWarning
from sklearn.inspection import permutation_importance
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import tabla.sklearn
from tabla.sklearn import LinearSVC, LogisticRegression, Ridge
from tests.sklearn.real_data import PROBLEMS, Problem

COMMON = {
    *("pes", "format", "model_guard", "minibatch", "learning_rate_init", "max_iter", "tol", "n_iter_no_change"),
    *("engine", "standardise"),
    "random_state",
}
OWN = {
    "LinearRegression": {"fit_intercept"},
    "Ridge": {"alpha", "fit_intercept"},
    "LogisticRegression": {"C", "fit_intercept"},
    "LinearSVC": {"C", "loss", "fit_intercept"},
    "MLPClassifier": {"hidden_layer_sizes", "activation", "alpha"},
    "MLPRegressor": {"hidden_layer_sizes", "activation", "alpha"},
}
"""The parameters that mean what they mean in the class of scikit-learn of the same name."""
METHODS = ("fit", "partial_fit", "predict", "score")
PROBABLE = ("LogisticRegression", "MLPClassifier")
DECIDING = ("LogisticRegression", "LinearSVC")
EACH = {problem.name: problem for problem in PROBLEMS}
IRIS = Problem(name="LogisticRegression", data="iris").samples()


def exact(name: str) -> Any:
    """The class of scikit-learn of the same name."""
    rooms: tuple[Any, ...] = (sklearn.linear_model, sklearn.svm, sklearn.neural_network)
    return next(getattr(room, name) for room in rooms if hasattr(room, name))


@pytest.mark.parametrize("name", tabla.sklearn.__all__)
def test_parameters_and_methods(name: str) -> None:
    """Parameters are named as in scikit-learn, and `fit` takes no weights of samples."""
    ours = getattr(tabla.sklearn, name)
    parameters = inspect.signature(ours).parameters
    assert set(parameters) == COMMON | OWN[name] and set(inspect.signature(exact(name)).parameters) >= OWN[name]
    for method in METHODS:
        assert callable(getattr(ours, method))
    for method in ("fit", "partial_fit"):
        assert "sample_weight" not in inspect.signature(getattr(ours, method)).parameters
    assert hasattr(ours, "predict_proba") == (name in PROBABLE)
    assert hasattr(ours, "decision_function") == (name in DECIDING)


def test_every_estimator_has_real_data() -> None:
    """The engines are compared on these data."""
    assert sorted(EACH) == sorted(OWN) == tabla.sklearn.__all__


@pytest.mark.parametrize("name", OWN)
def test_the_attributes_of_a_fit(name: str) -> None:
    inputs, labels = EACH[name].samples()
    model = EACH[name].estimator(max_iter=2, pes=2).fit(inputs[:60], labels[:60])
    weights = "coefs_ intercepts_" if name.startswith("MLP") else "coef_ intercept_"
    for attribute in f"{weights} n_iter_ loss_curve_ n_features_in_".split():
        assert hasattr(model, attribute), attribute
    assert model.n_iter_ == len(model.loss_curve_) == 2 and model.n_features_in_ == inputs.shape[1]
    # Both are made when they are asked for, and are not in the state that a pickle or a copy keeps.
    for made in ("build_", "report_"):
        assert isinstance(getattr(type(model), made), property)
        assert made not in vars(model) and made not in model.__getstate__()


@pytest.mark.parametrize("name", OWN)
def test_words_of_every_estimator_without_standardising(name: str) -> None:
    """The attributes are the words of the models, and decisions are words, too."""
    inputs, labels = EACH[name].samples()
    inputs = np.round(StandardScaler().fit_transform(inputs)[:40])
    labels = labels[:40] if name in PROBABLE + DECIDING else np.round(StandardScaler().fit_transform(labels[:40, None]))
    model = EACH[name].estimator(max_iter=2, standardise=False, format="q6.10").fit(inputs, np.ravel(labels))
    if name.startswith("MLP"):
        shown = [*(array.T for array in model.coefs_), *model.intercepts_]
        stored = [model.models_[f"{kind}{n + 1}"] for kind in "wb" for n in range(len(model.coefs_))]
    else:
        shown, stored = [model.coef_, model.intercept_], [model.models_["w"], model.models_["b"]]
    for array, words in zip(shown, stored, strict=True):
        assert np.array_equal(np.ravel(array), np.ravel(words)) and np.any(words)
    decided = model.decision_function(inputs) if name in DECIDING else model.predict(inputs)
    for array in [*shown, *([decided] if name != "MLPClassifier" else [])]:
        assert np.array_equal(np.asarray(array) * 1024, np.round(np.asarray(array) * 1024))


def test_two_processes_find_the_same_scores() -> None:
    model = LogisticRegression(max_iter=3)
    ours, theirs = (cross_val_score(model, *IRIS, cv=3, n_jobs=jobs) for jobs in (None, 2))
    assert np.array_equal(ours, theirs) and ours.mean() > 0.8


def test_estimators_that_hold_estimators() -> None:
    inputs, labels = IRIS
    few = {"max_iter": 4}
    voting = VotingClassifier([("a", LogisticRegression(**few)), ("b", LinearSVC(**few))]).fit(inputs, labels)
    assert voting.score(inputs, labels) > 0.85
    chances = CalibratedClassifierCV(LinearSVC(**few), cv=2).fit(inputs, labels).predict_proba(inputs)
    assert chances.shape == (150, 3) and (chances.argmax(axis=1) == labels).mean() > 0.85
    model = LogisticRegression(**few).fit(inputs, labels)
    # Petals tell the species apart, and sepals do not.
    importances = permutation_importance(model, inputs, labels, n_repeats=3, random_state=0).importances_mean
    assert importances[2:].min() > importances[:2].max() >= 0


def test_pipelines_with_names_of_features_and_with_metadata_routing() -> None:
    inputs, labels = IRIS
    line = make_pipeline(StandardScaler(), LogisticRegression(max_iter=3)).set_output(transform="pandas")
    line.fit(inputs, labels)
    assert list(line[-1].feature_names_in_) == list(line[:-1].get_feature_names_out()) == ["x0", "x1", "x2", "x3"]
    with config_context(enable_metadata_routing=True):
        model = LogisticRegression(max_iter=3)
        assert np.array_equal(model.fit(inputs, labels).predict(inputs), line.predict(inputs))
        # Nothing can ask for weights of samples in `fit`, and a score can.
        assert not hasattr(model, "set_fit_request")
        weighed = cross_val_score(
            model.set_score_request(sample_weight=True), inputs, labels, cv=2, params={"sample_weight": labels > 0}
        )
        assert weighed.shape == (2,)


def test_a_search_over_wrong_values_goes_on_or_names_them() -> None:
    inputs, labels = IRIS
    grid = {"C": [-1.0, 1.0], "format": ["q40.2", "auto16"]}
    failed = pytest.warns(FitFailedWarning, match="C: -1 is too small")
    with pytest.warns(UserWarning, match="scores are non-finite"), failed:
        search = GridSearchCV(LogisticRegression(max_iter=2), grid, cv=2).fit(inputs, labels)
    assert search.best_params_ == {"C": 1.0, "format": "auto16"}
    with pytest.raises(tabla.TablaError, match="alpha: -1 is too small"):
        GridSearchCV(Ridge(), {"alpha": [-1]}, cv=2, error_score="raise").fit(inputs, labels)
