"""Estimators of scikit-learn that learn and decide in the fixed-point evaluation of an accelerator.

``LinearRegression().fit(X, y).build_`` is the accelerator. This package needs scikit-learn, and with numba it learns
much faster: ``pip install '.[sklearn]'`` in a clone brings both.
"""

from importlib.util import find_spec as _find_spec

from tabla.base.source import extra as _extra

if _find_spec("sklearn") is None:
    raise ImportError(f"tabla.sklearn needs scikit-learn, which is not installed: {_extra('sklearn')}")

from tabla.sklearn.linear import LinearRegression, LinearSVC, LogisticRegression, Ridge
from tabla.sklearn.perceptron import MLPClassifier, MLPRegressor

__all__ = ["LinearRegression", "LinearSVC", "LogisticRegression", "MLPClassifier", "MLPRegressor", "Ridge"]
