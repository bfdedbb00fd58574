"""The aims of the accuracy table, and whether the results reach them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from benchmarks.accuracy.measure import AUTO16, FIXED, FLOAT64, GUARDS, fixed_cell, grid_cell
from benchmarks.accuracy.results import Results

MOST_MISSES = 1
"""So many problems may miss an aim."""
_ERRORS = 2.0
"""So many standard errors of the difference are allowed above the points of an aim."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mean:
    """The mean of a cell in points, with its standard error, over the `runs` that were not refused.

    A point is a per cent of accuracy, or a hundredth of R2. `refused` counts the runs that were refused.
    """

    points: float
    error: float
    runs: int
    refused: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Aim:
    """The cell `ours` may be so many `points` worse than the cell `other`; None stands for the best fixed format."""

    title: str
    ours: str
    other: str | None
    points: float


AIMS = (
    Aim(title="`auto16` against float64", ours=AUTO16, other=FLOAT64, points=0.5),
    Aim(title="`auto16` against the best fixed format of 16 bits", ours=AUTO16, other=None, points=0.5),
    Aim(title="10 bits with G = 8 against float64", ours=grid_cell(10, 8), other=FLOAT64, points=1.0),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """How many points a problem loses against an aim, on average over the splits, with the standard error of that.

    Both cells have the same splits, so the error is that of the differences split by split.
    """

    aim: Aim
    loss: float
    error: float

    @property
    def allowed(self) -> float:
        """The loss that is accepted."""
        return self.aim.points + _ERRORS * self.error

    @property
    def reached(self) -> bool:
        """Whether the loss is accepted."""
        return self.loss <= self.allowed


def mean(results: Results, problem: str, cell: str) -> Mean | None:
    """Return the mean of a cell, or None if it has no runs or all of them were refused."""
    runs = results.runs(problem, cell).values()
    metrics = [100 * run.metric for run in runs if run.metric is not None]
    if not metrics:
        return None
    return Mean(
        points=float(np.mean(metrics)), error=_error(metrics), runs=len(metrics), refused=len(runs) - len(metrics)
    )


def best_fixed(results: Results, problem: str) -> str | None:
    """Return the cell of 16 bits with the largest mean among those that no split refuses; the first of equal ones.

    The test part itself chooses it, so it is a little better than any format that is chosen beforehand. If every cell
    is refused by a split, those that are refused least often count.
    """
    found = [(cell, each) for cell in fixed_cells() if (each := mean(results, problem, cell)) is not None]
    if not found:
        return None
    least = min(each.refused for _, each in found)
    return max((each.points, -number, cell) for number, (cell, each) in enumerate(found) if each.refused == least)[2]


def fixed_cells() -> Iterator[str]:
    """Yield the names of the cells with fixed formats."""
    return (fixed_cell(number, guard) for number in FIXED for guard in GUARDS)


def verdict(results: Results, problem: str, aim: Aim) -> Verdict | None:
    """Return how a problem stands to an aim, over the splits that neither cell refuses; None if there is none."""
    other = aim.other or best_fixed(results, problem)
    if other is None:
        return None
    ours, theirs = results.runs(problem, aim.ours), results.runs(problem, other)
    losses = [
        100 * (theirs[seed].metric - run.metric)  # type: ignore[operator]
        for seed, run in sorted(ours.items())
        if run.metric is not None and seed in theirs and theirs[seed].metric is not None
    ]
    return Verdict(aim=aim, loss=float(np.mean(losses)), error=_error(losses)) if losses else None


def missed(results: Results, problems: Sequence[str], aim: Aim) -> list[str]:
    """Return the problems that miss an aim. One without a verdict misses it."""
    found = {name: verdict(results, name, aim) for name in problems}
    return [name for name, each in found.items() if each is None or not each.reached]


def _error(values: Sequence[float]) -> float:
    return float(np.std(values, ddof=1)) / sqrt(len(values)) if len(values) > 1 else 0.0
