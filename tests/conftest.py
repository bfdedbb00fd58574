"""What all tests share: the path, golden files, and how hypothesis draws.

Tests import each other's interpreters, strategies and programs as ``tests.<room>.<module>``.

The suite draws the same examples in every run, so that a change of ours, and not of chance, makes a test fail;
``TABLA_EXPLORE=1`` (as in ``make test-all``) draws new ones.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Pytest's importlib mode adds no paths.
_ROOT = str(Path(__file__).resolve().parents[1])
if _ROOT not in sys.path:
    sys.path.insert(0, _ROOT)

# No deadlines and no complaints of slowness: the machine that runs the suite may be shared.
_CALM = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large]}
settings.register_profile("same", derandomize=True, **_CALM)
settings.register_profile("explore", derandomize=False, **_CALM)
settings.load_profile("explore" if os.environ.get("TABLA_EXPLORE") else "same")

_GOLDEN = Path(__file__).parent / "golden"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--update-golden``: write the golden files anew, to be read in ``git diff``."""
    parser.addoption("--update-golden", action="store_true", help="write golden files instead of comparing")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """``golden(name, text)`` compares `text` with ``tests/golden/<name>``; a missing file fails."""

    def compare(name: str, text: str) -> None:
        path = _GOLDEN / name
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
        if not path.is_file():
            pytest.fail(f"no golden file {path}: run pytest --update-golden and read what it wrote")
        assert text == path.read_text(encoding="utf-8")

    return compare
