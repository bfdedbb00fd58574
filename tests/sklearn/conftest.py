"""What the tests of estimators share: most of them learn for a few epochs, and are not told that these are few."""

from __future__ import annotations

from pathlib import Path

import pytest

_FEW = "ignore:max_iter=:sklearn.exceptions.ConvergenceWarning"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let the tests of this folder pass over the warning that the epochs were too few, but for the test of it."""
    for item in items:
        if Path(__file__).parent in item.path.parents and item.path.name != "test_convergence.py":
            item.add_marker(pytest.mark.filterwarnings(_FEW))
