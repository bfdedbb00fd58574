"""The examples, built once for all tests of reports that run in one process."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from tabla.build.options import Options
from tabla.driver import Build, build

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
NAMES = sorted(p.stem for p in EXAMPLES.glob("*.t"))


@cache
def built(name: str) -> Build:
    """Return the build of an example with the default options, but for a shorter search."""
    return build(EXAMPLES / f"{name}.t", Options(effort=1))
