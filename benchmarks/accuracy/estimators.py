"""scikit-learn's own estimators on the same samples, standardised in the same way, with the metric of the program."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import KNNImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.svm import LinearSVC

from benchmarks.accuracy.problems import Problem
from tabla.learn.data.split import Divided
from tabla.learn.metrics import PLAIN

Reals = NDArray[np.float64]
_SEED = 0
_MOST_EPOCHS = 1000


def estimated(problem: Problem, parts: Divided) -> float:
    """Return the metric of the problem's estimator on the test part, after it has seen the training part."""
    assert parts.test is not None
    learnt, tested = parts.training.arrays, parts.test.arrays
    if problem.kind == "ratings":
        return PLAIN["r2"].of(_imputed(learnt) * tested["r"], tested["y"])
    estimator: Any = _estimator(problem)
    labels = learnt["y"].argmax(axis=1) if problem.kind == "classes" else learnt["y"]
    if labels.shape[1:] == (1,):
        labels = labels[:, 0]
    with warnings.catch_warnings():
        # A network that still learns after so many epochs is scored as it is.
        warnings.simplefilter("ignore", ConvergenceWarning)
        estimator.fit(learnt["x"], labels)
    found = estimator.predict(tested["x"])
    if problem.metric == "r2":
        return PLAIN["r2"].of(found.reshape(tested["y"].shape), tested["y"])
    wanted = tested["y"].argmax(axis=1) if problem.kind == "classes" else tested["y"]
    return float(np.mean(found == wanted))


def _estimator(problem: Problem) -> object:
    match problem.estimator.split(",")[0]:
        case "LinearRegression":
            return LinearRegression()
        case "LogisticRegression":
            return LogisticRegression(max_iter=_MOST_EPOCHS)
        case "LinearSVC":
            return LinearSVC(random_state=_SEED, max_iter=_MOST_EPOCHS)
        case "MLPClassifier":
            activation = problem.estimator.split(", ")[1]
            return MLPClassifier(problem.hidden, activation=activation, random_state=_SEED, max_iter=_MOST_EPOCHS)
        case "MLPRegressor":
            activation = problem.estimator.split(", ")[1]
            options = {"activation": activation, "random_state": _SEED, "max_iter": _MOST_EPOCHS}
            return MLPRegressor(hidden_layer_sizes=problem.hidden, **options)
    raise AssertionError(problem.estimator)


def _imputed(learnt: Mapping[str, Reals]) -> Reals:
    """Return all ratings, the unknown ones from the users whose known ratings are nearest."""
    known = np.where(learnt["r"] > 0, learnt["y"], np.nan)
    return np.asarray(KNNImputer().fit_transform(known), float)
