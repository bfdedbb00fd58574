"""What all tests share: the import path, the golden files, and the settings of hypothesis.

Tests import interpreters, strategies and programs of other tests as ``tests.<room>.<module>``.

The suite draws the same examples in every run, so a test fails because of a change and not by chance. With
``TABLA_EXPLORE=1``, as in ``make test-all``, it draws new ones.
"""

from __future__ import annotations

import os
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# In its importlib mode, pytest adds no folder to the import path.
_ROOT = str(Path(__file__).resolve().parents[1])
if _ROOT not in sys.path:
    sys.path.insert(0, _ROOT)

# There are no deadlines and no warnings about slow tests, because other work may run on the same machine.
_CALM = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large]}
settings.register_profile("same", derandomize=True, **_CALM)
settings.register_profile("explore", derandomize=False, **_CALM)
settings.load_profile("explore" if os.environ.get("TABLA_EXPLORE") else "same")

# Tests make every schedule anew, in the processes that they start, too. Machine code and programs of CXXRTL are kept.
os.environ.setdefault("TABLA_CACHE_KINDS", "compiled,simulators")

_GOLDEN = Path(__file__).parent / "golden"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--update-golden``, which writes the golden files anew, and ``--part``, which runs a part of the tests.

    Read the changes of golden files with ``git diff``.
    """
    parser.addoption("--update-golden", action="store_true", help="write golden files instead of comparing")
    parser.addoption("--part", default="1/1", metavar="K/N", help="run the K-th of N parts of the tests")


def part_of(name: str, parts: int) -> int:
    """Return the part, from 1 on, that a test with this name belongs to. A new test moves no other one."""
    return zlib.crc32(name.encode()) % parts + 1


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the tests of the part that ``--part`` names."""
    text = config.getoption("--part")
    part, _, parts = text.partition("/")
    if not (part.isdigit() and parts.isdigit() and 1 <= int(part) <= int(parts)):
        raise pytest.UsageError(f"--part {text}: write it as 3/8, from 1/8 to 8/8")
    left = [item for item in items if part_of(item.nodeid, int(parts)) != int(part)]
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if part_of(item.nodeid, int(parts)) == int(part)]


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Return a function that compares a text with the file ``tests/golden/<name>``. A missing file fails the test."""

    def compare(name: str, text: str) -> None:
        path = _GOLDEN / name
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
        if not path.is_file():
            pytest.fail(f"no golden file {path}: run pytest --update-golden and read what it wrote")
        assert text == path.read_text(encoding="utf-8")

    return compare


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Return a function that runs a command. It returns the standard output, or what the user was told of a failure.

    The exit status must be `status`.
    """
    from tabla.commands.cli import main

    def call(*words: str, status: int = 0) -> str:
        ended = main(words)
        said = capsys.readouterr()
        assert ended == status, said.err
        return said.err if status else said.out

    return call
