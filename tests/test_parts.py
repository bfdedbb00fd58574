"""The parts in which ``make test-all`` may be run: together they are all tests, each once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import part_of

ROOT = Path(__file__).parents[1]


def collected(part: str) -> list[str]:
    words = ["-m", "pytest", "-q", "-p", "no:xdist", "--collect-only", "--part", part, "tests/test_parts.py"]
    return subprocess.run(
        [sys.executable, *words], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.splitlines()


@pytest.mark.parametrize("number", range(12))
def test_a_test_is_in_one_part(number: int) -> None:
    assert 1 <= part_of(f"tests/a.py::test[{number}]", 3) <= 3


def test_the_parts_are_all_tests() -> None:
    whole = {line for line in collected("1/1") if "::" in line}
    parts = [{line for line in collected(f"{part}/2") if "::" in line} for part in (1, 2)]
    assert set.union(*parts) == whole and sum(map(len, parts)) == len(whole) > 12
    assert all(parts)


@pytest.mark.parametrize("part", ["4/3"])
def test_what_is_no_part(part: str) -> None:
    words = ["-m", "pytest", "-q", "-p", "no:xdist", "--collect-only", "--part", part, "tests/test_parts.py"]
    told = subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True, check=False)
    assert told.returncode == 4 and f"--part {part}: write it as 3/8" in told.stderr
