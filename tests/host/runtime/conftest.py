"""Build folders that all tests of the runtime share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.host.runtime.made import Made, made


@pytest.fixture(scope="session")
def case(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Made]:
    """A function from the name of a program to its build, made once."""
    found: dict[str, Made] = {}
    home: Path = tmp_path_factory.mktemp("runtime")

    def make(name: str) -> Made:
        if name not in found:
            found[name] = made(name, home / name)
        return found[name]

    return make
