"""Models that were trained elsewhere, from Python: ``tabla.from_onnx`` and ``tabla.from_sklearn``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from tabla.driver import Build, compile
from tabla.held_estimator import hold_against_estimator
from tabla.lang.onnx import read_path, read_proto
from tabla.lang.onnx.estimators import model_of
from tabla.parameters import checked_text
from tabla.source import TablaTypeError, TablaValueError

if TYPE_CHECKING:
    from onnx import ModelProto


def from_sklearn(estimator: Any, *, name: str | None = None, **options: Any) -> Build:
    """Compile a fitted estimator of scikit-learn: a linear model, a perceptron, a support vector machine with a linear
    kernel, PCA, a scaler, or a pipeline of them.

    The input is ``x``. A classifier has the results ``label`` and ``probabilities``, or ``decision`` if it has no
    probabilities, or if the class that computes them is not known. A regressor has ``y`` and a transformer
    ``transformed``. `name` is that of the program, by default that of the class. `options` are those of
    :func:`tabla.compile`.

    The program in float64 is compared with the estimator on 256 random points. Raises `TablaError` for an estimator
    that is not fitted, that is not there, or that computes something else.
    """
    made = compile(model_of(estimator, None if name is None else _checked_name(name)), **options)
    hold_against_estimator(made, estimator)
    return made


def from_onnx(model: str | Path | ModelProto, *, name: str = "model", **options: Any) -> Build:
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
