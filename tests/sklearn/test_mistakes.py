"""Mistakes of users of the estimators: each is an error that names the argument and the cure, and changes nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import RegressorMixin
from sklearn.exceptions import ConvergenceWarning

import tabla
import tabla.sklearn
from tabla.sklearn import LinearRegression, LinearSVC, LogisticRegression, MLPClassifier, MLPRegressor, Ridge

RANDOM = np.random.default_rng(5)
X = RANDOM.normal(size=(40, 3))
Y = X @ [2.0, -1.0, 0.5]
CLASSES = (Y > 0).astype(int)
SEEDS = "use a whole number from 0 to 4294967295"

PARAMETERS: list[tuple[type, dict[str, Any], str, str]] = [
    (LinearRegression, {"random_state": -1}, "random_state: -1 is not a seed", SEEDS),
    (LinearRegression, {"random_state": 10**20}, "random_state: 100000000000000000000 is not a seed", SEEDS),
    (LinearRegression, {"random_state": 1.5}, "random_state: 1.5 is not a seed", SEEDS),
    (LinearRegression, {"random_state": True}, "random_state: True is not a seed", SEEDS),
    (LinearRegression, {"random_state": "x"}, "random_state: 'x' is not a seed", SEEDS),
    (LinearRegression, {"random_state": np.random.default_rng(0)}, "is not a seed", "numpy.random.RandomState"),
    (LinearRegression, {"pes": None}, "pes: None is not a whole number", "use 1 or more"),
    (LinearRegression, {"pes": "x"}, "pes: 'x' is not a whole number", "use 1 or more"),
    (LinearRegression, {"format": None}, "format: None is not a text", "format='auto16'"),
    (LinearRegression, {"learning_rate_init": 1e300}, "learning_rate_init: the learning rate a number", "smaller one"),
    (LinearRegression, {"learning_rate_init": 1e-9}, "learning_rate_init: with the learning rate 1e-09", "larger one"),
    (LinearRegression, {"learning_rate_init": 4.0}, "'w' takes values up to", "use a smaller learning rate"),
    (Ridge, {"alpha": 1e6}, "alpha: the penalty of a sample is 2.5e+04", "use a smaller alpha"),
    (LinearSVC, {"C": 1e-6}, "C: the penalty of a sample is 2.5e+04", "use a larger C"),
    (MLPClassifier, {"alpha": 1e6}, "alpha: the penalty of a sample is 1e+06", "use a smaller alpha"),
    (MLPClassifier, {"hidden_layer_sizes": 10**9}, "hidden_layer_sizes: model 'w1[1000000000][3]'", "smaller layers"),
    (MLPClassifier, {"hidden_layer_sizes": None}, "hidden_layer_sizes: None is not a whole number", "use 1 or more"),
]


@pytest.mark.parametrize(("kind", "parameters", "told", "cure"), PARAMETERS, ids=lambda value: str(value)[:40])
def test_a_parameter(kind: Any, parameters: dict[str, Any], told: str, cure: str) -> None:
    with pytest.raises(tabla.TablaError) as fault:
        kind(**{"max_iter": 2, **parameters}).fit(X, CLASSES)
    assert isinstance(fault.value, ValueError | TypeError)
    assert told in fault.value.message and cure in (fault.value.hint or "")
    # The program is none that the user has written.
    assert not fault.value.labels


TEXTS = X.astype(object)
TEXTS[0, 0] = "red"
DATA: list[tuple[type, Any, Any, type[Exception], str]] = [
    (Ridge, TEXTS, Y, ValueError, "error: X: could not convert string to float: 'red'\nhint: give numbers"),
    (Ridge, {"a": [1, 2]}, [1, 2], TypeError, "error: X: float() argument must be"),
    (Ridge, [[1, 2], [3]], [1, 2], ValueError, "error: X: setting an array element with a sequence"),
    (Ridge, X, ["red"] * 40, ValueError, "error: y: could not convert string to float"),
    (Ridge, X, [None] * 40, ValueError, "Input y contains NaN"),
    (Ridge, X * 1e-320, Y, ValueError, "error: X: the coefficients are larger than a float64 holds"),
    (LinearSVC, X, np.array(["red", 1] * 20, dtype=object), TypeError, "error: y: its classes are of several types"),
    (LinearSVC, X, np.ones(40, dtype=int), ValueError, "the data contains only one class: 1\n"),
]


@pytest.mark.parametrize(("kind", "inputs", "labels", "error", "told"), DATA, ids=range(len(DATA)))
@pytest.mark.filterwarnings("error")
def test_data(kind: Any, inputs: Any, labels: Any, error: type[Exception], told: str) -> None:
    with pytest.raises(error) as fault:
        kind(max_iter=2).fit(inputs, labels)
    assert told in str(fault.value)


CHOICES: list[tuple[Any, str]] = [
    (1, "classes: 1 is not a list of classes\nhint: write classes=[0, 1]"),
    ("ab", "classes: 'ab' is not a list of classes"),
    ({0, 1}, "classes: {0, 1} is not a list of classes"),
    ([[0, 1]], "classes: [[0, 1]] is not a list of classes"),
    ([0, float("nan")], "classes: [0, nan] holds a number that is not finite"),
    ([None, 1], "classes: its classes are of several types"),
    ([1], "classes: LogisticRegression needs samples of at least 2 classes, and the data contains only one class: 1"),
    ([1, 2], "y holds the class 0, which is not among [1 2]\nhint: name it in classes="),
]


@pytest.mark.parametrize(("classes", "told"), CHOICES, ids=lambda value: str(value)[:20])
def test_classes(classes: Any, told: str) -> None:
    model = LogisticRegression()
    with pytest.raises(tabla.TablaError) as fault:
        model.partial_fit(X, CLASSES, classes=classes)
    assert told in str(fault.value) and isinstance(fault.value, ValueError | TypeError)
    assert not hasattr(model, "classes_")


def test_a_class_that_comes_later() -> None:
    model = LogisticRegression(max_iter=2).fit(X, CLASSES)
    with pytest.raises(ValueError, match="class 2, which is not among") as fault:
        model.partial_fit(X, CLASSES + 1)
    assert "hint: call fit to start again" in str(fault.value)


def test_a_penalty_that_comes_later_names_its_parameter() -> None:
    model = MLPRegressor(2, alpha=0.0).partial_fit(X, Y)
    with pytest.raises(ValueError, match="alpha: the models learn without a penalty") as fault:
        model.set_params(alpha=1.0).partial_fit(X, Y)
    assert "hint: use alpha = 0, or call fit to start again" in str(fault.value)


@pytest.mark.parametrize("name", tabla.sklearn.__all__)
def test_an_error_leaves_a_fitted_estimator_as_it_was(name: str) -> None:
    """Some errors come after the features and classes were noted, and the last one when the program is made."""
    model = getattr(tabla.sklearn, name)(max_iter=2).fit(X, CLASSES)
    found, before = model.predict(X), dict(vars(model))
    kept = list(model.loss_curve_)
    refused: list[tuple[dict[str, Any], Any, Any]] = [
        ({}, X[:, :2], [0.0, np.nan] * 20),
        ({"minibatch": 50}, X[:, :2], CLASSES + 5),
        ({"learning_rate_init": 1e12}, X[:, :2], CLASSES + 5),
    ]
    for parameters, inputs, labels in refused:
        with pytest.raises(ValueError):
            model.set_params(**parameters).fit(inputs, labels)
        model.set_params(minibatch=1, learning_rate_init="auto")
        assert vars(model) == before and model.loss_curve_ == kept and np.array_equal(model.predict(X), found)


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_inputs_beyond_float64_saturate() -> None:
    model = LinearRegression(max_iter=2).fit(X, Y)
    with pytest.warns(UserWarning, match="3 values of X are outside of the range"):
        assert np.isfinite(model.predict([[1.7e308] * 3])).all()


@pytest.mark.parametrize("name", tabla.sklearn.__all__)
def test_a_format_in_which_nothing_is_learnt_is_told(name: str) -> None:
    """The words of all models are still those of the start."""
    made = getattr(tabla.sklearn, name)
    with pytest.warns(ConvergenceWarning, match=r"nothing was learnt: .* smaller than half a unit of q16\.0"):
        made(max_iter=2, format="q16.0").fit(X, CLASSES)
    classes = {} if isinstance(made(), RegressorMixin) else {"classes": [0, 1]}
    with pytest.warns(ConvergenceWarning, match="nothing was learnt"):
        made(format="q16.0").partial_fit(X, CLASSES, **classes)


def test_inputs_that_are_too_small_to_learn_from_are_told() -> None:
    with pytest.warns(ConvergenceWarning, match="or larger inputs"):
        Ridge(max_iter=2, standardise=False, fit_intercept=False).fit(X * 1e-6, Y)


def test_labels_that_are_right_from_the_start_are_no_fault() -> None:
    """Nothing is learnt, because nothing is to be learnt."""
    assert not LinearRegression(max_iter=2).fit(X, np.full(40, 7.0)).models_["w"].any()


def test_inputs_that_no_format_holds_are_named() -> None:
    with pytest.raises(tabla.TablaError, match=r"takes values up to .* no format of 16 bits holds|without limit"):
        LinearSVC(max_iter=2, standardise=False, learning_rate_init=2.0**-8).fit(X * 1e6, CLASSES)


def test_many_inputs_that_saturate_in_a_chosen_format_are_told() -> None:
    """A few of them may, and were weighed when the format was chosen."""
    model = LogisticRegression(max_iter=2, standardise=False, format="auto8", learning_rate_init=2.0**-6)
    with pytest.warns(UserWarning, match=r"\d+ values of X are outside of the range of q\d\.\d and saturate"):
        model.fit(X * 300, CLASSES)


def test_penalties_out_of_range_are_named() -> None:
    with pytest.warns(UserWarning, match=r"values of the penalty are outside of the range of q4\.4 and saturate"):
        Ridge(1000, max_iter=1, format="q4.4").fit(X, Y)
