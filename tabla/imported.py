"""Models that were trained elsewhere, from Python: ``tabla.from_onnx`` and ``tabla.from_sklearn``.

A compiled estimator is held against the estimator itself, on points that nobody has chosen. The table of links in
`tabla.languages.onnx.estimators` says what an estimator computes. This is a second net below it: the program in float64
and the estimator have to agree. So a subclass that predicts in its own way is refused.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import NDArray

from tabla.base.parameters import checked_text
from tabla.base.source import TablaError, TablaTypeError, TablaValueError
from tabla.driver import Build, compile
from tabla.languages.onnx import read_path, read_proto
from tabla.languages.onnx.estimators import INPUT, model_of

if TYPE_CHECKING:
    from onnx import ModelProto

    from tabla.learn.keywords import CompileOptions

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


# The parameter `name` takes the place of the option.
def from_sklearn(  # type: ignore[misc]
    estimator: Any, *, name: str | None = None, **options: Unpack[CompileOptions]
) -> Build:
    """Compile a fitted estimator of scikit-learn: a linear model, a perceptron, a support vector machine with a linear
    kernel, PCA, a scaler, or a pipeline of them.

    The input is ``x``. A classifier has the results ``label`` and ``probabilities``, or ``decision`` if it has no
    probabilities, or if the class that computes them is not known. A regressor has ``y`` and a transformer
    ``transformed``. `name` is that of the program, by default that of the class. `options` are those of
    :func:`tabla.compile`.

    An estimator of :mod:`tabla.sklearn` gives its inference build (`inference_build_`), with these options.

    The program in float64 is compared with the estimator on 256 random points. Raises `TablaError` for an estimator
    that is not fitted, that is not there, or that computes something else.
    """
    called = None if name is None else _checked_name(name)
    if hasattr(type(estimator), "inference_build_"):
        from tabla.sklearn.inference import inference_of_estimator

        return inference_of_estimator(estimator, called, options)
    made = compile(model_of(estimator, called), **options)
    hold_against_estimator(made, estimator)
    return made


def from_onnx(  # type: ignore[misc]
    model: str | Path | ModelProto, *, name: str = "model", **options: Unpack[CompileOptions]
) -> Build:
    """Compile a model of ONNX: the path of its file, or the model itself as the package onnx holds it.

    `name` is that of the program for a model in memory; a file gives its own. `options` are those of
    :func:`tabla.compile`. The initialisers of the model are the values of the program's models, so that `evaluate` and
    `simulate` take the inputs alone. Raises `TablaError` for a model that cannot be read or compiled.
    """
    named = _checked_name(name)
    if isinstance(model, str | Path):
        return compile(read_path(Path(model)), **options)
    if not hasattr(model, "opset_import"):
        raise TablaTypeError(
            f"model: a value of type {type(model).__name__} is no model of ONNX",
            hint="give its path, or onnx.load(path)",
        )
    return compile(read_proto(model, named, named), **options)


def _checked_name(name: str) -> str:
    """Return the name of a program, which names its files, too. One that no file can have is a `TablaValueError`."""
    text = checked_text("name", name, "model")
    if text in ("", ".", "..") or not text.isprintable() or {"/", "\\"} & set(text):
        raise TablaValueError(f"name: {text!r} cannot name files", hint="write name='model'")
    return text


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
