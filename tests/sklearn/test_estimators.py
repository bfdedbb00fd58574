"""What estimators learn, keep and say."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.special
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LinearRegression as ExactRegression
from sklearn.linear_model import LogisticRegression as ExactClassification
from sklearn.linear_model import Ridge as ExactRidge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import tabla
import tabla.sklearn
from tabla.schedule.placing import list_scheduler
from tabla.sklearn import LinearRegression, LinearSVC, LogisticRegression, MLPClassifier, MLPRegressor, Ridge
from tests.sklearn.real_data import PROBLEMS, Problem

RANDOM = np.random.default_rng(5)
X = RANDOM.normal(size=(80, 3)) * [1.0, 20.0, 0.05] + [0.0, 100.0, 3.0]
Y = X @ [2.0, -0.1, 10.0] + 5.0
FEW = {"max_iter": 3}


def test_regression_finds_the_line_in_the_units_of_the_user() -> None:
    model = LinearRegression().fit(X, Y)
    assert np.allclose(model.coef_, [2.0, -0.1, 10.0], rtol=5e-3) and model.intercept_ == pytest.approx(5.0, abs=0.2)
    assert model.score(X, Y) > 0.9999 and model.coef_.shape == (3,)
    assert np.abs(model.predict(X) - (X @ model.coef_ + model.intercept_)).max() < 0.01 * Y.std()


def test_without_an_intercept_the_line_goes_through_the_origin() -> None:
    through = X @ [2.0, -0.1, 10.0]
    model = LinearRegression(fit_intercept=False, max_iter=300, tol=None).fit(X, through)
    assert model.intercept_ == 0.0 and set(model.models_) == {"w"}
    assert np.allclose(model.predict(np.zeros((1, 3))), 0) and model.score(X, through) > 0.99


def test_alpha_and_c_mean_what_they_mean_behind_a_standard_scaler() -> None:
    for alpha in (0.0, 40.0):
        exact = make_pipeline(StandardScaler(), ExactRidge(alpha)).fit(X, Y)[-1].coef_
        ours = Ridge(alpha).fit(X, Y)
        assert np.allclose(ours.coef_ * X.std(axis=0), exact, rtol=0.03, atol=0.02 * np.abs(exact).max())
    inputs, labels = Problem(name="LogisticRegression", data="breast_cancer").samples()
    inputs = inputs[:, :4]
    sizes = []
    for penalty in (0.003, 1.0):
        exact = make_pipeline(StandardScaler(), ExactClassification(C=penalty)).fit(inputs, labels)[-1].coef_
        ours = LogisticRegression(C=penalty, tol=None).fit(inputs, labels)
        sizes.append(np.linalg.norm(ours.coef_ * inputs.std(axis=0)) / np.linalg.norm(exact))
    assert sizes == pytest.approx([1, 1], abs=0.2)


def test_words_without_standardising() -> None:
    inputs = np.round(RANDOM.normal(size=(40, 2)) * 64) / 64
    model = LinearRegression(standardise=False, format="q4.12", **FEW).fit(inputs, inputs @ [0.5, -0.25])
    assert model.format_ == "q4.12"
    for array in (model.coef_, model.intercept_, model.predict(inputs)):
        assert np.array_equal(np.asarray(array) * 4096, np.round(np.asarray(array) * 4096))
    assert np.array_equal(model.models_["w"][0], model.coef_) and model.models_["b"][0] == model.intercept_


@pytest.mark.parametrize("problem", [PROBLEMS[1], PROBLEMS[3]], ids=str)
def test_epochs_one_by_one_are_a_fit(problem: Problem) -> None:
    inputs, labels = problem.samples()
    whole = problem.estimator(max_iter=4).fit(inputs, labels)
    parts = problem.estimator(max_iter=4)
    named = {} if problem.name == "Ridge" else {"classes": np.unique(labels)}
    for _ in range(4):
        parts.partial_fit(inputs, labels, **named)
    assert parts.loss_curve_ == whole.loss_curve_ and parts.n_iter_ == whole.n_iter_ == 4
    for name, array in whole.models_.items():
        assert np.array_equal(parts.models_[name], array)


def test_partial_fit_of_classes() -> None:
    labels = (X[:, 0] > 0).astype(int)
    with pytest.raises(tabla.TablaError, match="the first call of partial_fit needs them all"):
        LogisticRegression().partial_fit(X, labels)
    model = LogisticRegression(**FEW).partial_fit(X[:40], labels[:40], classes=[0, 1, 2])
    assert model.decision_function(X).shape == (80, 3)
    with pytest.raises(ValueError, match="are not those of the first call"):
        model.partial_fit(X, labels, classes=[0, 1])
    with pytest.raises(ValueError, match="y holds the class 5, which is not among"):
        model.partial_fit(X, labels + 5)


@pytest.mark.parametrize(
    ("first", "later", "count", "message"),
    [
        ({}, {"minibatch": 0}, 80, "minibatch: 0 is less than 1"),
        ({}, {"minibatch": 4}, 80, "minibatch: the models learn in steps of 1 since the first call"),
        ({}, {"pes": 4}, 80, "pes: the accelerator was chosen with 16 in the first call, and is now asked for with 4"),
        ({}, {"format": "q4.12"}, 80, "format: the accelerator was chosen with 'auto16' in the first call"),
        ({}, {"standardise": False}, 80, "standardise: the accelerator was chosen with True"),
        ({}, {"learning_rate_init": 0.5}, 80, "learning_rate_init: the accelerator was chosen with 'auto'"),
        ({"minibatch": 4}, {}, 3, "minibatch: n_samples=3 do not fill a step of 4"),
        ({}, {"alpha": 0.0}, 80, "the models learn with a penalty since the first call"),
        ({"alpha": 0.0}, {"alpha": 1.0}, 80, "the models learn without a penalty since the first call"),
    ],
)
def test_partial_fit_that_cannot_go_on(
    first: dict[str, float], later: dict[str, float], count: int, message: str
) -> None:
    for estimator in (Ridge(**FEW | first), MLPRegressor(hidden_layer_sizes=2, **FEW | first)):
        estimator.partial_fit(X, X[:, 0])
        before = estimator.models_
        with pytest.raises(ValueError, match=message):
            estimator.set_params(**later).partial_fit(X[:count], X[:count, 0])
        assert estimator.models_ is before and estimator.n_iter_ == 1


def test_partial_fit_keeps_its_intercept() -> None:
    model = Ridge(**FEW).partial_fit(X, X[:, 0])
    with pytest.raises(ValueError, match="fit_intercept: the accelerator was chosen with True in the first call"):
        model.set_params(fit_intercept=False).partial_fit(X, X[:, 0])
    assert model.set_params(fit_intercept=False).fit(X, X[:, 0]).intercept_ == 0


def test_no_classes_at_all() -> None:
    with pytest.raises(ValueError, match="at least 2 classes, and the data contains none"):
        LogisticRegression().partial_fit(X, X[:, 0], classes=[])


def test_hidden_layer_sizes_that_are_no_list() -> None:
    with pytest.raises(TypeError, match="'16' is not a whole number"):
        MLPRegressor(hidden_layer_sizes="16").fit(X, X[:, 0])
    one = MLPRegressor(hidden_layer_sizes=np.array(2), **FEW).fit(X, X[:, 0])
    assert [weights.shape[1] for weights in one.coefs_] == [2, 1]


def test_the_loss_of_an_epoch_is_that_of_its_decision_values() -> None:
    """The first sample of the first epoch is decided by models of zeros."""
    labels = np.array(["no", "yes"])[(X[:, 0] > 0).astype(int)]
    one = LogisticRegression(max_iter=1).fit(X[:2], ["no", "yes"])
    assert one.loss_curve_[0] >= np.log(2) / 2
    curve = LogisticRegression(max_iter=30, tol=None).fit(X, labels).loss_curve_
    assert len(curve) == 30 and curve[-1] < 0.5 * curve[0] < 0.5


def test_probabilities() -> None:
    inputs, labels = Problem(name="LogisticRegression", data="iris").samples()
    for classes in (2, 3):
        kept = labels < classes
        model = LogisticRegression(**FEW).fit(inputs[kept], labels[kept])
        decided, found = model.decision_function(inputs), model.predict_proba(inputs)
        single = 1 / (1 + np.exp(-decided))
        expected = np.c_[1 - single, single] if classes == 2 else scipy.special.softmax(decided, axis=1)
        assert np.allclose(found, expected) and np.allclose(np.exp(model.predict_log_proba(inputs)), found)
    far = np.array([[900.0, -900.0, 0.0], [-900.0, -900.0, -900.0]])
    from tabla.sklearn.outcomes import probabilities_of

    assert np.allclose(probabilities_of(far), [[1, 0, 0], [1 / 3, 1 / 3, 1 / 3]])


@pytest.mark.parametrize("name", ["LogisticRegression", "MLPClassifier"])
def test_the_loss_of_several_classes_is_that_of_their_softmax(name: str) -> None:
    """The loss curve is the mean cross entropy of the decision values of each sample before it was learnt from."""
    inputs, labels = Problem(name="LogisticRegression", data="iris").samples()
    model = getattr(tabla.sklearn, name)(max_iter=1, standardise=False, format="q6.18", random_state=2)
    model.partial_fit(inputs[:1], labels[:1], classes=[0, 1, 2])
    found = model.predict_proba(inputs[1:2])[0, labels[1]]
    model.partial_fit(inputs[1:2], labels[1:2])
    assert model.loss_curve_[1] == pytest.approx(-np.log(found), abs=1e-6)


def test_several_classes_are_learnt_as_well_as_by_scikit_learn() -> None:
    """Iris has a class between two others, which no line tells from the rest, and its softmax does."""
    inputs, labels = Problem(name="LogisticRegression", data="iris").samples()
    theirs = make_pipeline(StandardScaler(), ExactClassification(max_iter=1000))
    scores = [cross_val_score(model, inputs, labels, cv=5).mean() for model in (LogisticRegression(), theirs)]
    assert scores[0] >= scores[1] - 0.01 > 0.94


@pytest.mark.parametrize("problem", [PROBLEMS[0], PROBLEMS[3], PROBLEMS[6]], ids=str)
def test_a_pickle_and_a_clone(problem: Problem) -> None:
    inputs, labels = problem.samples()
    model = problem.estimator(**FEW).fit(inputs, labels)
    read = pickle.loads(pickle.dumps(model))
    assert np.array_equal(read.predict(inputs), model.predict(inputs))
    fresh = clone(model)
    assert fresh.get_params() == model.get_params() and not hasattr(fresh, "models_")
    fresh.fit(inputs, labels)
    assert all(np.array_equal(fresh.models_[name], array) for name, array in model.models_.items())


def test_another_process_reads_an_estimator_with_joblib(tmp_path: Path) -> None:
    """It predicts, makes the accelerator again, and learns on."""
    inputs, labels = Problem(name="LogisticRegression", data="iris").samples()
    model = MLPClassifier(3, pes=2, **FEW).fit(inputs, labels)
    joblib.dump((model, inputs, labels), tmp_path / "model.joblib")
    script = """
import joblib
model, inputs, labels = joblib.load("model.joblib")
found = model.predict_proba(inputs), model.report_.cycles
joblib.dump((*found, model.partial_fit(inputs, labels).loss_curve_), "found.joblib")
"""
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, env=environment, check=True)
    chances, cycles, curve = joblib.load(tmp_path / "found.joblib")
    assert np.array_equal(chances, model.predict_proba(inputs)) and cycles == model.report_.cycles
    assert curve == model.partial_fit(inputs, labels).loss_curve_ and len(curve) == 4


def test_a_fit_schedules_nothing_and_a_build_is_no_part_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*_: Any, **__: Any) -> Any:
        raise AssertionError("a schedule was made")

    with monkeypatch.context() as patched:
        patched.setattr(list_scheduler, "list_schedule", forbidden)
        model = LinearRegression(max_iter=2, pes=4).fit(X, Y)
        model.predict(X)
        page = model._repr_html_()  # what a notebook shows
        assert "loss_curve_" in page and "build_" not in page and "report_" not in page
        assert {"build_", "report_", "coef_"} <= set(dir(model))  # what a press of Tab completes
        with pytest.raises(AssertionError, match="a schedule was made"):
            _ = model.build_
    before = dict(vars(model))
    build, report = model.build_, model.report_
    assert vars(model) == before and "build_" not in before and pickle.loads(pickle.dumps(model)).build_ is build
    assert report.cycles == build.report().cycles and report.format == model.format_ == str(build.format)
    assert report.samples_per_second == pytest.approx(1e8 / report.cycles) and report.pes == 4
    assert LinearRegression(max_iter=2, pes=8).fit(X, Y).build_ is not build


@pytest.mark.parametrize("name", ["build_", "report_", "coef_"])
def test_before_a_fit_there_is_nothing(name: str) -> None:
    assert not hasattr(LinearRegression(), name) and name not in dir(LinearRegression())


def test_a_search_over_a_pipeline() -> None:
    inputs, labels = Problem(name="LogisticRegression", data="wine").samples()
    search = GridSearchCV(
        make_pipeline(StandardScaler(), LogisticRegression(max_iter=10)),
        {"logisticregression__C": [1e-4, 1.0], "logisticregression__format": ["auto12", "auto16"]},
        cv=3,
    ).fit(inputs, labels)
    assert search.best_params_["logisticregression__C"] == 1.0 and search.best_score_ > 0.95
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_a_data_frame_names_the_features() -> None:
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = MLPRegressor(**FEW).fit(frame, Y)
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[["c", "b", "a"]])


def test_a_data_frame_learns_what_its_values_learn() -> None:
    """Its columns lie together, and numpy adds them up in another order."""
    inputs, labels = Problem(name="Ridge", data="diabetes").samples()
    ours = Ridge(max_iter=1).fit(inputs, labels)
    for other in (pd.DataFrame(inputs), np.asfortranarray(inputs)):
        theirs = Ridge(max_iter=1).fit(other, labels)
        assert np.array_equal(theirs.input_mean_, ours.input_mean_) and np.array_equal(theirs.coef_, ours.coef_)
        assert np.array_equal(theirs.input_scale_, ours.input_scale_)


@pytest.mark.slow
def test_the_layers_of_a_perceptron_are_in_the_units_of_the_user() -> None:
    model = MLPRegressor((5, 4), activation="tanh", max_iter=40).fit(X, Y)
    first, second, last = model.coefs_
    hidden = np.tanh(np.tanh(X @ first + model.intercepts_[0]) @ second + model.intercepts_[1])
    found = hidden @ last + model.intercepts_[2]
    assert [array.shape for array in model.coefs_] == [(3, 5), (5, 4), (4, 1)] and model.n_layers_ == 4
    assert np.abs(model.predict(X) - found[:, 0]).max() < 0.05 * Y.std()


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csc_array])
def test_sparse_data_is_refused_in_the_standard_words(kind: Any) -> None:
    with pytest.raises(TypeError, match="Sparse data was passed for X, but dense data is required"):
        LinearSVC().fit(kind(X), Y > 0)


def test_inputs_twice_as_large_have_room() -> None:
    """The largest standardised input is just below 4, so the other values of the program would leave it no room."""
    inputs = np.array([[4.0], [-4.0]] + [[0.0]] * 29)
    model = LogisticRegression(fit_intercept=False, max_iter=1).fit(inputs, inputs[:, 0] > 0)
    assert 3.9 < 4 / model.input_scale_[0] < 4 and model.format_ == "q4.12"
    model.predict(1.99 * inputs)


def test_outliers_saturate_with_a_warning() -> None:
    model = LinearRegression(**FEW).fit(X, Y)
    far = X.copy()
    far[0, 0] = 1e6
    with pytest.warns(UserWarning, match=r"^1 values of X are outside of the range of q\d+\.\d+ and saturate"):
        found = model.predict(far)
    assert np.array_equal(found[1:], model.predict(X)[1:])


WRONG: list[tuple[type, dict[str, Any], str]] = [
    (LinearRegression, {"pes": 0}, "pes: 0 is less than 1"),
    (LinearRegression, {"pes": 200}, "200"),
    (LinearRegression, {"format": "q40.2"}, "q40.2"),
    (LinearRegression, {"format": 16}, "format: 16 is not a text"),
    (LinearRegression, {"minibatch": 81}, "minibatch: n_samples=80 do not fill a step of 81"),
    (LinearRegression, {"max_iter": 0}, "max_iter: 0 is less than 1"),
    (LinearRegression, {"max_iter": "3"}, "max_iter: '3' is not a whole number"),
    (LinearRegression, {"learning_rate_init": 0}, "learning_rate_init: 0 is too small"),
    (LinearRegression, {"learning_rate_init": "adaptive"}, "learning_rate_init: 'adaptive' is not a number"),
    (LinearRegression, {"learning_rate_init": 4.0}, "use a smaller learning rate (learning_rate_init)"),
    (LinearRegression, {"engine": "abacus"}, "unknown engine 'abacus'"),
    (LinearRegression, {"fit_intercept": "yes"}, "fit_intercept: 'yes' is not a truth value"),
    (LinearRegression, {"standardise": 3}, "standardise: 3 is not a truth value"),
    (LinearRegression, {"model_guard": -1}, "model_guard: -1 is less than 0"),
    (Ridge, {"alpha": -1.0}, "alpha: -1 is too small"),
    (Ridge, {"alpha": 1e6}, "the penalty of a sample is 1.25e+04"),
    (LogisticRegression, {"C": 0.0}, "C: 0 is too small"),
    (LinearSVC, {"loss": "log"}, "loss: there is no 'log'"),
    (MLPClassifier, {"activation": "softplus"}, "activation: there is no 'softplus'"),
    (MLPClassifier, {"hidden_layer_sizes": ()}, "hidden_layer_sizes: there is no hidden layer"),
    (MLPClassifier, {"hidden_layer_sizes": (4, 0)}, "hidden_layer_sizes: 0 is less than 1"),
]


@pytest.mark.parametrize(("kind", "parameters", "told"), WRONG, ids=lambda value: str(value)[:40])
def test_a_wrong_parameter_is_named_with_its_cure(kind: Any, parameters: dict[str, Any], told: str) -> None:
    labels = Y if kind in (LinearRegression, Ridge) else Y > Y.mean()
    with pytest.raises(tabla.TablaError) as fault:
        kind(**parameters).fit(X, labels)
    assert isinstance(fault.value, ValueError | TypeError)
    assert told in str(fault.value) and fault.value.hint


def test_targets_of_one_value_and_tiny_data() -> None:
    assert LinearRegression(**FEW).fit(X, np.full(80, 7.0)).predict(X[:2]) == pytest.approx([7.0, 7.0])
    assert LinearRegression(**FEW).fit([[1.0]], [2.0]).predict([[1.0]]) == pytest.approx([2.0])


@pytest.mark.slow
@pytest.mark.parametrize("problem", PROBLEMS, ids=str)
def test_real_data_is_learnt_about_as_well_as_in_float64(problem: Problem) -> None:
    """On the last fifth of the samples: at most 0.03 below scikit-learn's exact linear models."""
    inputs, labels = problem.samples()
    cut = 4 * len(labels) // 5
    exact = ExactRegression() if problem.data == "diabetes" else ExactClassification(max_iter=1000)
    theirs = make_pipeline(StandardScaler(), exact).fit(inputs[:cut], labels[:cut]).score(inputs[cut:], labels[cut:])
    ours = problem.estimator().fit(inputs[:cut], labels[:cut]).score(inputs[cut:], labels[cut:])
    assert ours > theirs - 0.03
