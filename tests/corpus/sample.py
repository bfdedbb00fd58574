"""Which kernels `make test` runs on the machine."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

EVERY = 6
"""`make test` takes one kernel of so many, and `make test-all` takes all."""


def sampled(names: Iterable[str]) -> list[Any]:
    """Return the names as parameters of a test, where all but one of `EVERY` are slow."""
    return [name if at % EVERY == 0 else pytest.param(name, marks=pytest.mark.slow) for at, name in enumerate(names)]
