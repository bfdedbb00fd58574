"""The ports and the price of small designs are held against golden files.

A program that runs as before may still have become dearer. A register that is wider than it needs to be, a reset that
pipelines did not have, or a memory without its attribute gives the same words in every simulation, and costs a chip
logic, routes or clock rate. The manual promises the figures of resources, and the ports are what users connect to.
So a change of either is a change that somebody has to see: `pytest --update-golden` writes the files anew, and
`git diff` shows what has become dearer.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.hw.bill import bill
from tests.hw.designs import DESIGNS


@pytest.mark.parametrize("design", DESIGNS)
def test_ports_and_prices_are_those_that_were_looked_at(design: str, golden: Callable[[str, str], None]) -> None:
    golden(f"hw/{design}.txt", bill(DESIGNS[design]()))
