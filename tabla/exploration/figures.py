"""What the figures of a task must be like before an exploration relies on them: a file of records may be damaged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tabla.templates.targets import KINDS

_LARGEST = 10**15
"""No figure is larger than that. It holds JSON's infinities back, too."""


def sound(key: str, figures: Mapping[str, Any]) -> bool:
    """Return whether figures have all that an exploration reads of the task with this key."""
    if not isinstance(figures.get("metric_name", ""), str):
        return False
    if "refused" in figures:
        return isinstance(figures["refused"], str) and isinstance(figures.get("cure"), str)
    match key.partition(" ")[0]:
        case "learn":
            return "metric_name" in figures and _number(figures.get("metric", ""), missing=True)
        case "build":
            clocks = figures.get("megahertz")
            whole = isinstance(clocks, dict) and all(_number(each, missing=True) for each in clocks.values())
            return whole and _number(figures.get("cycles")) and _number(figures.get("latency")) and _taken(figures)
        case "synth":
            return _number(figures.get("megahertz", ""), missing=True) and _taken(figures)
        case _:
            return True


def _number(value: object, *, missing: bool = False) -> bool:
    return (missing and value is None) or (type(value) in (int, float) and -_LARGEST < value < _LARGEST)  # type: ignore[operator]


def _taken(figures: Mapping[str, Any]) -> bool:
    """Return whether there are the resources that a point takes."""
    taken = figures.get("resources")
    return isinstance(taken, dict) and taken.keys() <= set(KINDS) and all(map(_number, taken.values()))
