"""Checks of the parameters of estimators that are no options of a build, worded as in :mod:`tabla.parameters`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from tabla.parameters import checked_number
from tabla.source import TablaError, TablaTypeError, TablaValueError


@contextmanager
def value_errors() -> Iterator[None]:
    """Turn every `TablaError` into a ValueError, because scikit-learn's searches and users expect one.

    Texts that name options of the command line name the parameters of the estimator instead.
    """
    try:
        yield
    except TablaError as fault:
        kind = TablaTypeError if isinstance(fault, TypeError) else TablaValueError
        hint = None if fault.hint is None else _in_python(fault.hint)
        message = _in_python(fault.message)
        raise kind(message, *fault.labels, hint=hint, notes=fault.notes, more=fault.more) from None


def _in_python(text: str) -> str:
    named = text.replace("--learning-rate", "learning_rate_init")
    return re.sub(r"--([a-z]+(?:-[a-z]+)*)", lambda option: option[1].replace("-", "_"), named)


def check_truth(name: str, value: object) -> None:
    """Raise `TablaTypeError` if a parameter is neither True nor False."""
    if not isinstance(value, bool | np.bool_):
        raise TablaTypeError(f"{name}: {value!r} is not a truth value", hint="use True or False")


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
