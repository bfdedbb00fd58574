"""The compiled evaluations without a compiler: the same texts and the same plans, run by Python itself.

numpy's integers of 64 bits warn when they wrap, and a warning fails a test, so a sum that leaves 64 bits is found too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tabla.graph.compiled import plans
from tabla.graph.compiled.machine import Function, run_text


def interpreted(text: str, units: Mapping[str, Function], arguments: tuple[Any, ...], *, reorder: bool) -> Function:
    """What `machine_code` returns, but not compiled."""
    space = run_text(text, None)
    space.update(units)
    steps: Function = space["steps"]
    return steps


def without_compiler(monkeypatch: Any) -> None:
    """Let plans run their texts in Python."""
    monkeypatch.setattr(plans, "machine_code", interpreted)
