"""The accelerator that predicts with what an estimator has learnt."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.exceptions import NotFittedError

import tabla
from tabla.sklearn import LogisticRegression, MLPClassifier, Ridge
from tabla.sklearn.estimator import FixedPointEstimator

FLOWERS = load_iris(return_X_y=True)
PATIENTS = load_diabetes(return_X_y=True)
CASES: list[tuple[FixedPointEstimator, Any, str]] = [
    (LogisticRegression(max_iter=3, pes=4), FLOWERS, "_decided"),
    (LogisticRegression(max_iter=3, pes=4, minibatch=4, model_guard=4, format="q4.10"), FLOWERS, "_decided"),
    (Ridge(max_iter=3, pes=4), PATIENTS, "predict"),
    (MLPClassifier(hidden_layer_sizes=(6,), max_iter=2, pes=4), FLOWERS, "_decided"),
]


@pytest.mark.parametrize(("estimator", "data", "method"), CASES)
def test_the_values_are_those_of_the_estimator(estimator: Any, data: Any, method: str) -> None:
    """Bit for bit, from inputs of the user, whatever learnt them."""
    rows, labels = data
    build = estimator.fit(rows, labels).inference_build_
    found = build.predict(rows)["h"]
    assert np.array_equal(found.reshape(len(rows), -1), getattr(estimator, method)(rows).reshape(len(rows), -1))
    assert build.image.first is not None and not build.lowered.updates and build.lowered.samples == 1
    assert build.report().cycles < estimator.build_.report().cycles


def test_another_array_gives_the_same_values(tmp_path: Path) -> None:
    estimator = Ridge(max_iter=2, pes=4).fit(*PATIENTS)
    build = tabla.from_sklearn(estimator, name="diabetes", pes=2, minibatch=3)
    assert (build.template.pes, build.lowered.samples, build.name) == (2, 3, "diabetes")
    assert np.array_equal(build.predict(PATIENTS[0])["h"].reshape(-1), estimator.predict(PATIENTS[0]))
    build.write(tmp_path / "out")
    with np.load(tmp_path / "out" / "diabetes.weights.npz") as held:
        assert np.array_equal(held["x.mean"], estimator.input_mean_) and "w" in held


def test_an_estimator_that_is_not_fitted_has_none() -> None:
    with pytest.raises(NotFittedError):
        _ = LogisticRegression().inference_build_
    with pytest.raises(NotFittedError):
        tabla.from_sklearn(Ridge())
