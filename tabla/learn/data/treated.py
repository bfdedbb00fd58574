"""What was done to cells that hold no plain number: rows left out, gaps filled, categories that nobody knows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Treated:
    """How many of the `rows` were left out because a cell is missing, and by column how many cells were filled.

    `unknown` counts by column the cells whose category no sample of the training part has.
    """

    rows: int = 0
    left_out: int = 0
    filled: Mapping[str, int] = field(default_factory=dict)
    unknown: Mapping[str, int] = field(default_factory=dict)

    def __add__(self, other: Treated) -> Treated:
        return Treated(
            rows=self.rows + other.rows,
            left_out=self.left_out + other.left_out,
            filled=dict(Counter(self.filled) + Counter(other.filled)),
            unknown=dict(Counter(self.unknown) + Counter(other.unknown)),
        )

    def lines(self) -> Iterable[str]:
        """Return the lines of a report. There is none if all cells are plain."""
        if self.left_out:
            yield f"{'rows left out':<24}{self.left_out} of {self.rows}, in which a cell is missing"
        if self.filled:
            yield f"{'missing cells filled':<24}{_counts(self.filled)}"
        if self.unknown:
            yield f"{'unknown categories':<24}{_counts(self.unknown)}, taken for none"

    def as_json(self) -> dict[str, Any]:
        """Return the entries of a report for JSON. There is none if all cells are plain."""
        found = {
            "rows_left_out": self.left_out,
            "missing_cells_filled": dict(self.filled),
            "unknown_categories": dict(self.unknown),
        }
        return {name: value for name, value in found.items() if value}


def _counts(counted: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counted.items())
