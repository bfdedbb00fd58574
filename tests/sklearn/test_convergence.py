"""When learning stops, what it says if it stopped too early, and samples that come one after the other."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from tabla.sklearn import LinearRegression, LinearSVC, LogisticRegression
from tabla.sklearn.scaling import Moments

RANDOM = np.random.default_rng(5)
X = RANDOM.normal(size=(120, 4)) * [1, 10, 0.1, 5] + [0, 100, 3, -20]
Y = X @ [1, 0.2, -5, 0.3] + RANDOM.normal(size=120) * 0.1
CLASSES = np.where(Y > np.median(Y), "high", "low")


def stopped(losses: list[float], tol: float, epochs: int) -> int:
    """Return after how many epochs scikit-learn's ``SGDClassifier`` would stop, by its rule."""
    best, without = np.inf, 0
    for number, loss in enumerate(losses, 1):
        without = without + 1 if loss > best - tol else 0
        best = min(best, loss)
        if without == epochs:
            return number
    return len(losses)


@pytest.mark.parametrize("engine", ["evaluation", "model"])
def test_learning_stops_when_the_loss_stays(engine: str) -> None:
    model = LogisticRegression(engine=engine, pes=4, format="q6.12", tol=1e-2, n_iter_no_change=3).fit(X, CLASSES)
    whole = LogisticRegression(pes=4, format="q6.12", tol=None).fit(X, CLASSES)
    assert whole.n_iter_ == len(whole.loss_curve_) == 100
    assert model.n_iter_ == len(model.loss_curve_) == stopped(whole.loss_curve_, 1e-2, 3) < 100
    assert model.loss_curve_ == whole.loss_curve_[: model.n_iter_]
    again = LogisticRegression(pes=4, format="q6.12", tol=None, max_iter=model.n_iter_).fit(X, CLASSES)
    assert np.array_equal(again.coef_, model.coef_), "the penalty of the epochs that did not run is not paid"


def test_too_few_epochs_are_told() -> None:
    with pytest.warns(
        ConvergenceWarning, match=r"max_iter=3 epochs were over before the loss stayed within tol=0\.001"
    ):
        LinearRegression(max_iter=3).fit(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LinearRegression(max_iter=3, tol=None).fit(X, Y)
        assert LinearRegression().fit(X, Y).n_iter_ < 100
        LinearRegression(max_iter=3).partial_fit(X, Y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"tol": -1.0}, "tol: -1 is too small"),
        ({"tol": "small"}, "tol: 'small' is not a number"),
        ({"n_iter_no_change": 0}, "n_iter_no_change: 0 is less than 1"),
    ],
)
def test_wrong_parameters(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LinearRegression(**parameters).fit(X, Y)


@pytest.mark.parametrize("sizes", [(1, 119), (1, 1, 118), (40, 80), (1,) * 120])
def test_the_scaling_goes_on_learning_as_that_of_scikit_learn(sizes: tuple[int, ...]) -> None:
    theirs, ours, start = StandardScaler(), None, 0
    for size in sizes:
        part = X[start : start + size]
        theirs.partial_fit(part)
        ours = Moments.of(part) if ours is None else ours.joined(Moments.of(part))
        start += size
    assert ours is not None and ours.count == 120
    assert np.allclose(ours.scaling.mean, theirs.mean_) and np.allclose(ours.scaling.scale, theirs.scale_)
    plain = Moments.of(X[:50], centre=False).joined(Moments.of(X[50:], centre=False)).scaling
    assert not plain.mean.any() and np.allclose(plain.scale, np.sqrt(np.square(X).mean(axis=0)))


@pytest.mark.parametrize("first", [1, 2, 30])
@pytest.mark.parametrize("kind", [LogisticRegression, LinearSVC, LinearRegression])
def test_the_first_call_may_have_one_sample(kind: type[Any], first: int) -> None:
    labels = Y if kind is LinearRegression else CLASSES
    model = kind(pes=4)
    model.partial_fit(X[:first], labels[:first], **({} if kind is LinearRegression else {"classes": ["high", "low"]}))
    for _ in range(4):
        for start in range(0, 120, 20):
            model.partial_fit(X[start : start + 20], labels[start : start + 20])
    assert model.score(X, labels) > 0.93
    assert np.allclose(model.input_mean_, np.concatenate([X[:first], *[X] * 4]).mean(axis=0))
