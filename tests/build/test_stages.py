"""What each stage of a build makes of the examples: mapping, layout, schedule and program, as text to read in a diff.

The search has the least effort, so that the files change when a stage makes something else of a mapping, and seldom
because the search finds another one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest

from tabla.build.options import Options
from tabla.driver import Build, build
from tabla.examples.catalogue import EXAMPLES

TEXTS: dict[str, Callable[[Build], str]] = {
    "mapping": lambda made: made.mapping.text(),
    "layout": lambda made: made.schedule.layout.text(),
    "schedule": lambda made: made.emit("schedule"),
    "program": lambda made: made.emit("program"),
}


@cache
def made(name: str) -> Build:
    """An example on four PEs."""
    return build(EXAMPLES[name].program, Options(pes=4, effort=0))


@pytest.mark.parametrize("stage", TEXTS)
@pytest.mark.parametrize("name", EXAMPLES)
def test_stage(name: str, stage: str, golden: Callable[[str, str], None]) -> None:
    golden(f"stages/{name}.{stage}.txt", TEXTS[stage](made(name)))
