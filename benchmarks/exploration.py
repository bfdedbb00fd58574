"""How long ``tabla explore`` takes for 200 points of an example, with two workers on this machine."""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks.process import measured
from tabla.examples.catalogue import EXAMPLES

MOST_SECONDS = 600.0
"""Seconds by the clock in which two cores explore 200 points."""
WORKERS = 2
SPACE = (
    *("--pes", "4..64"),
    *("--format", "q6.10,q4.8,q3.5,q4.12,q8.8,q6.6,q5.11,q7.9"),
    *("--minibatch", "1,2,4,8,16"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplorationRow:
    """An exploration: its points, those on the front, the seconds by the clock, and those of all processors."""

    example: str
    points: int
    front: int
    seconds: float
    processor_seconds: float

    @property
    def fine(self) -> bool:
        """Whether it took no longer than it should."""
        return self.seconds <= MOST_SECONDS


def bench_exploration(example: str = "logistic", space: tuple[str, ...] = SPACE) -> ExplorationRow:
    """Explore an example once, in processes of its own and without any figure from before."""
    with tempfile.TemporaryDirectory() as folder:
        program, ends = str(EXAMPLES[example].program), ("--workers", str(WORKERS), "-o", f"{folder}/r", "-q")
        usage = measured(["explore", program, *space, *ends])
        points = json.loads((Path(folder) / "r" / "explore.json").read_text(encoding="utf-8"))["points"]
    return ExplorationRow(
        example=example,
        points=len(points),
        front=sum(bool(each["front"]) for each in points),
        seconds=round(usage.seconds, 1),
        processor_seconds=round(usage.processor_seconds, 1),
    )
