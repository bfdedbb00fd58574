"""Every check of scikit-learn passes on every estimator, and none is skipped.

The golden files name the checks that run, so that a new release of scikit-learn cannot leave some out unseen.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import tabla.sklearn

BATTERY = Path(__file__).with_name("battery.py")
QUICK = ("LinearRegression", "LogisticRegression")
OTHERS = ("LinearSVC", "MLPClassifier", "MLPRegressor", "Ridge")


def run(names: tuple[str, ...]) -> dict[str, list[tuple[str, str]]]:
    """Run the batteries of some estimators in a process of their own."""
    root = str(Path(__file__).parents[2])
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", str(BATTERY), *names],
        env=os.environ | {"SCIPY_ARRAY_API": "1", "PYTHONPATH": root},
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, list[tuple[str, str]]] = json.loads(ended.stdout)
    return found


def hold(names: tuple[str, ...], golden: Callable[[str, str], None]) -> None:
    for name, outcomes in run(names).items():
        assert [(check, told) for check, told in outcomes if told != "passed"] == []
        golden(f"sklearn/{name}.txt", "".join(f"{check}\n" for check, _ in outcomes))


@pytest.mark.slow
def test_two_batteries(golden: Callable[[str, str], None]) -> None:
    hold(QUICK, golden)


@pytest.mark.slow
def test_the_other_batteries(golden: Callable[[str, str], None]) -> None:
    hold(OTHERS, golden)


def test_every_estimator_has_a_battery() -> None:
    assert sorted((*QUICK, *OTHERS)) == tabla.sklearn.__all__
