"""The file of results: one outcome for each problem, cell and split seed. Those measured before stay in it."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SCHEMA = "tabla-accuracy-1"
Order = Mapping[str, tuple[str, ...]]
"""The cells of each problem, in the order of the file."""
PLACES = 6
"""The places of a metric that are kept. The last digits of float64 differ between machines."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a run gave: the metric on the held-out part, or why the run was refused.

    `format` and `guard` are those of the run, and `words` the first digits of a hash of its models. Runs in float64
    have none of them.
    """

    metric: float | None = None
    format: str = ""
    guard: int = 0
    words: str = ""
    refused: str = ""

    def __post_init__(self) -> None:
        if self.metric is not None:
            object.__setattr__(self, "metric", round(self.metric, PLACES))

    def as_json(self) -> list[Any]:
        """Return the outcome as a short list."""
        return [
            self.metric,
            *((self.format, self.guard, self.refused or self.words) if self.format or self.refused else ()),
        ]

    @staticmethod
    def of_json(found: list[Any]) -> Outcome:
        """Read what `as_json` returned."""
        if len(found) == 1:
            return Outcome(metric=found[0])
        metric, number, guard, text = found
        if metric is None:
            return Outcome(format=number, guard=guard, refused=text)
        return Outcome(metric=metric, format=number, guard=guard, words=text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """All outcomes, by the problem, the cell and the split seed."""

    outcomes: dict[str, dict[str, dict[int, Outcome]]] = field(default_factory=dict)

    @staticmethod
    def read(file: Path) -> Results:
        """Read a file. A file that is not there holds nothing."""
        if not file.is_file():
            return Results()
        found = json.loads(file.read_text(encoding="utf-8"))
        assert found["schema"] == SCHEMA, f"{file} holds no accuracies of this kind"
        return Results(
            outcomes={
                problem: {
                    cell: {int(seed): Outcome.of_json(each) for seed, each in runs.items()}
                    for cell, runs in cells.items()
                }
                for problem, cells in found["outcomes"].items()
            }
        )

    @staticmethod
    def put(file: Path, problem: str, seed: int, found: Mapping[str, Outcome], order: Order) -> None:
        """Take outcomes into a file, which other processes may write meanwhile."""
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.with_name(f".{file.name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            known = Results.read(file)
            for cell, outcome in found.items():
                known.add(problem, cell, seed, outcome)
            known.write(file, order)

    def add(self, problem: str, cell: str, seed: int, outcome: Outcome) -> None:
        """Take in an outcome, in place of an earlier one."""
        self.outcomes.setdefault(problem, {}).setdefault(cell, {})[seed] = outcome

    def runs(self, problem: str, cell: str) -> Mapping[int, Outcome]:
        """Return the outcomes of a cell by split seed; there may be none yet."""
        return self.outcomes.get(problem, {}).get(cell, {})

    def text(self, order: Order) -> str:
        """Return the content of the file, a line for each cell. `order` are the cells of each problem."""
        blocks = []
        for problem, cells in order.items():
            lines = [
                f"   {json.dumps(cell)}: "
                + json.dumps({str(seed): runs[seed].as_json() for seed in sorted(runs)}, separators=(",", ":"))
                for cell in cells
                if (runs := self.runs(problem, cell))
            ]
            if lines:
                blocks.append(f"  {json.dumps(problem)}: {{\n" + ",\n".join(lines) + "\n  }")
        return f'{{\n "schema": "{SCHEMA}",\n "outcomes": {{\n' + ",\n".join(blocks) + "\n }\n}\n"

    def write(self, file: Path, order: Order) -> None:
        """Write the file whole, or leave it as it was."""
        part = file.with_name(f"{file.name}.{os.getpid()}.part")
        part.write_text(self.text(order), encoding="utf-8")
        part.replace(file)
