"""A compiled estimator held against the estimator itself, on points that nobody has chosen.

The table of links in `tabla.lang.onnx.estimators` says what an estimator computes. This is a second net below it: the
program in float64 and the estimator have to agree. So a subclass that predicts in its own way is refused.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabla.driver import Build
from tabla.lang.onnx.estimators import INPUT
from tabla.source import TablaError

POINTS = 256
SCALINGS = 10
"""How often the spread of the points is doubled until every class is met."""
TOLERANCE = 1e-6
"""The largest difference, of numbers below 1, or relative to larger ones."""
_METHODS = {
    "probabilities": "predict_proba",
    "decision": "decision_function",
    "y": "predict",
    "transformed": "transform",
}


def hold_against_estimator(build: Build, estimator: Any) -> None:
    """Compare the program of a build in float64 with the fitted estimator that it was made of.

    The points are normal around the mean that a scaler has learnt, with its deviation, and else around 0. Raises
    `TablaError` where results differ by more than `TOLERANCE`. Classes that no point meets are named in a warning.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an estimator that has seen names of features misses them here
        points, missed = _points(estimator)
        found = build.evaluate({INPUT: points}, float64=True)
        for name, method in _METHODS.items():
            if name in found and hasattr(estimator, method):
                _compare(estimator, method, found[name], getattr(estimator, method)(points))
        if "label" in found:
            _compare_labels(estimator, found, estimator.predict(points))
    if missed:
        shown = ", ".join(map(str, missed[:5])) + (", ..." if len(missed) > 5 else "")
        warnings.warn(
            f"none of {POINTS} random points is of the class {shown}, so its predictions were not compared",
            stacklevel=3,
        )


def _points(estimator: Any) -> tuple[NDArray[np.float64], list[Any]]:
    """Return points, and the classes that the estimator predicts for none of them."""
    first = estimator.steps[0][1] if getattr(estimator, "steps", None) else estimator
    size = int(estimator.n_features_in_)
    middle, spread = np.zeros(size), np.ones(size)
    if getattr(first, "mean_", None) is not None and getattr(first, "scale_", None) is not None:
        middle, spread = first.mean_, first.scale_
    elif hasattr(first, "data_min_"):
        middle, spread = (first.data_min_ + first.data_max_) / 2, (first.data_max_ - first.data_min_) / 4
    drawn = np.random.default_rng(0).standard_normal((POINTS, size))
    classes = list(getattr(estimator, "classes_", []))
    for doubled in range(SCALINGS + 1):
        points = middle + drawn * spread * 2.0**doubled
        met = {str(label) for label in estimator.predict(points)} if classes else set()
        missed = [label for label in classes if str(label) not in met]
        if not missed:
            break
    return points, missed


def _compare(estimator: Any, method: str, found: NDArray[Any], expected: Any) -> None:
    wanted = np.asarray(expected, dtype=np.float64).reshape(np.shape(found))
    off = float(np.max(np.abs(found - wanted) / np.maximum(1, np.abs(wanted)), initial=0))
    if not off <= TOLERANCE:
        raise TablaError(
            f"the compiled {type(estimator).__name__} is not what its {method} computes: they differ by {off:.3g}",
            hint=f"its class may have a {method} of its own: compile the estimator of scikit-learn that it is made of",
        )


def _compare_labels(estimator: Any, found: Mapping[str, NDArray[Any]], expected: Any) -> None:
    wanted = np.asarray(expected)
    differ = found["label"].astype(str) != wanted.astype(found["label"].dtype).astype(str)
    if differ.any():
        raise TablaError(
            f"the compiled {type(estimator).__name__} predicts another class for {int(differ.sum())} of {POINTS} random"
            " points",
            hint="its class may have a predict of its own: compile the estimator of scikit-learn that it is made of",
        )
