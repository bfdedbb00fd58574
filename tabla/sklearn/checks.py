"""Checks of what an estimator is given and no option of a build is, worded as in :mod:`tabla.base.parameters`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_random_state, validate_data

from tabla.base.parameters import checked_number
from tabla.base.source import TablaError, TablaTypeError, TablaValueError
from tabla.learn.data.dataset import Data


@contextmanager
def value_errors() -> Iterator[None]:
    """Turn every `TablaError` into a ValueError, because scikit-learn's searches and users expect one.

    Texts that name options of the command line name the parameters of the estimator instead. No place in the program
    is shown, because the user has not written it.
    """
    try:
        yield
    except TablaError as fault:
        kind = TablaTypeError if isinstance(fault, TypeError) else TablaValueError
        hint = None if fault.hint is None else _in_python(fault.hint)
        message = _in_python(fault.message)
        raise kind(message, hint=hint, notes=fault.notes, more=fault.more) from None


@contextmanager
def unchanged_by_errors(estimator: BaseEstimator) -> Iterator[None]:
    """Give an estimator the attributes back that it had, if the ``with`` block raises an error."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


def _in_python(text: str) -> str:
    text = re.sub("^'(x|y)' takes", lambda name: {"x": "X", "y": "y"}[name[1]] + " takes", text)
    text = re.sub("^((?:with )?the learning rate)", r"learning_rate_init: \1", text)
    named = text.replace("--learning-rate", "learning_rate_init")
    return re.sub(r"--([a-z]+(?:-[a-z]+)*)", lambda option: option[1].replace("-", "_"), named)


def positive(name: str, value: object, *, or_zero: bool = False) -> float:
    """Return a parameter that is a number above 0, or 0 with `or_zero`."""
    number = float(checked_number(name, value))
    if number < 0 or (number == 0 and not or_zero):
        least = "0 or more" if or_zero else "a number above 0"
        raise TablaValueError(f"{name}: {number:g} is too small", hint=f"use {least}")
    return number


def check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    """Raise `TablaValueError` if a parameter is none of the `choices`."""
    if not isinstance(value, str) or value not in choices:
        raise TablaValueError(f"{name}: there is no {value!r}", hint=f"use one of {', '.join(choices)}")


def check_seed(name: str, value: object) -> None:
    """Raise `TablaTypeError` or `TablaValueError` if a parameter is no seed of numpy."""
    hint = "use a whole number from 0 to 4294967295, None, or a numpy.random.RandomState"
    if isinstance(value, bool):
        raise TablaTypeError(f"{name}: {value!r} is not a seed", hint=hint)
    try:
        check_random_state(value)
    except (TypeError, ValueError):
        kind = TablaValueError if isinstance(value, int | np.integer) else TablaTypeError
        raise kind(f"{name}: {value!r} is not a seed", hint=hint) from None


def pair_of(X: ArrayLike | Data, y: ArrayLike | None, *, held_out: bool = False) -> tuple[Any, Any]:
    """Return inputs and labels: those that are given, or those of a part of data.

    That is the training part, or if it is `held_out` the test part.
    """
    if not isinstance(X, Data):
        return X, y
    if y is not None:
        raise TablaTypeError("y: the data has its labels itself", hint="leave y out")
    with value_errors():
        return X.pair(held_out=held_out)


def checked_data(estimator: BaseEstimator, X: ArrayLike, *y: ArrayLike, **options: Any) -> Any:
    """Return X, or X and y, as arrays, checked by scikit-learn and in its words. X becomes numbers, row by row: numpy
    adds a column up in another order where columns lie together, as they do in a data frame.
    """
    with conversion(X, *y):
        return validate_data(estimator, X, *y, dtype=np.float64, order="C", **options)


@contextmanager
def conversion(X: ArrayLike, *y: ArrayLike) -> Iterator[None]:
    """Have errors of numpy, which cannot make numbers of X or of y, say of which of the two."""
    try:
        yield
    except (TypeError, ValueError) as fault:
        for name, values in zip(("X", "y"), (X, *y), strict=False):
            if _is_refused(values, str(fault)):
                kind = TablaTypeError if isinstance(fault, TypeError) else TablaValueError
                hint = "give numbers; sklearn.preprocessing.OneHotEncoder makes numbers of texts"
                raise kind(f"{name}: {fault}", hint=hint) from None
        raise


def _is_refused(values: ArrayLike, message: str) -> bool:
    """Return whether numpy makes no numbers of values, and says so in this message, but for the value that it shows."""
    try:
        np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as fault:
        return str(fault).partition(":")[0] == message.partition(":")[0]
    return False


def classes_in(name: str, values: NDArray[np.generic]) -> NDArray[np.generic]:
    """Return the classes among values in ascending order. Some that have no order are a `TablaTypeError`."""
    try:
        return np.unique(values)
    except TypeError:
        raise TablaTypeError(
            f"{name}: its classes are of several types, which have no order", hint="use texts alone, or numbers alone"
        ) from None


def checked_classes(classes: ArrayLike) -> NDArray[np.generic]:
    """Return the parameter `classes` of `partial_fit`, in ascending order."""
    values = np.asarray(classes)
    hint = "write classes=[0, 1], or classes=np.unique(y)"
    if values.ndim != 1:
        raise TablaTypeError(f"classes: {classes!r} is not a list of classes", hint=hint)
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise TablaValueError(f"classes: {classes!r} holds a number that is not finite", hint=hint)
    return classes_in("classes", values)
