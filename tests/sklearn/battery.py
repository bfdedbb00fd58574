"""The checks of scikit-learn for estimators, run on estimators by name: ``python battery.py LinearRegression ...``.

It prints the outcome of each check as JSON: ``passed``, ``skipped``, or the traceback. SCIPY_ARRAY_API has to be 1 when
scipy is imported, or a check is skipped; so this is a program and not a function.
"""

from __future__ import annotations

import json
import sys
import traceback
from functools import partial
from unittest import SkipTest

from sklearn.utils.estimator_checks import estimator_checks_generator

import tabla.sklearn


def title(check: partial[None]) -> str:
    """The name of a check with its arguments, but for the name of the estimator."""
    arguments = dict(check.keywords)
    while isinstance(check.func, partial):
        check = check.func
        arguments |= check.keywords
    said = ", ".join(f"{name}={value}" for name, value in sorted(arguments.items()))
    function = check.func
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    return f"{function.__name__}({said})"


def outcome(estimator: object, check: partial[None]) -> str:
    """The outcome of a check."""
    try:
        check(estimator)
    except SkipTest:
        return "skipped"
    except BaseException:
        return traceback.format_exc()
    return "passed"


if __name__ == "__main__":
    found = {
        name: [
            (title(check), outcome(estimator, check))
            for estimator, check in estimator_checks_generator(
                getattr(tabla.sklearn, name)(), expected_failed_checks={}
            )
        ]
        for name in sys.argv[1:]
    }
    print(json.dumps(found))
