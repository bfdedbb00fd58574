"""What Jupyter notebooks show of the report of a build: its figures, and the costs of its statements, as tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tabla.base.html import block, table
from tabla.build.files.costs import Costs

_COSTS = ("line", "statement", "way", "cycles", "root", "slots", "multiply", "other", "unfilled", "waiting")


def report_html(name: str, numbers: Mapping[str, Any], costs: Costs) -> str:
    """Return the figures `numbers` of the build `name`, and the costs of its statements, as tables."""
    rows = [
        (c.line or "", c.shown, c.way, c.cycles, c.root_cycles, c.slots, c.multiplies, c.other, c.unfilled, c.waiting)
        for c in costs.statements
    ]
    figures = [(key.replace("_", " "), _shown(value)) for key, value in numbers.items()]
    return block(
        table(figures, texts=(0, 1), caption=name),
        table(rows, head=_COSTS, texts=(1, 2), caption="what each statement costs the lanes"),
    )


def _shown(value: object) -> object:
    return ", ".join(f"{term} {cycles}" for term, cycles in value.items()) if isinstance(value, Mapping) else value
