"""A small build for the tests of synthesis."""

from __future__ import annotations

from pathlib import Path

import pytest

from tabla.driver import compile

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "logistic.t"


@pytest.fixture(scope="session")
def logistic() -> str:
    """The Verilog of the logistic example on four PEs. Its top module is `logistic`."""
    return compile(EXAMPLE, template="Pe4").verilog
