"""Measuring a problem: every cell of the table, for a split seed after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from benchmarks.accuracy.estimators import estimated
from benchmarks.accuracy.problems import Problem
from benchmarks.accuracy.results import Outcome
from benchmarks.accuracy.trained import WIDE, Trainer
from tabla.base.source import TablaError
from tabla.build.arrays import steps_of
from tabla.driver import build
from tabla.graph.format import Format
from tabla.learn.auto_format import learning_judge
from tabla.learn.format_choice import FormatChoice, Judge, Survey, survey
from tabla.learn.options import LearnOptions
from tabla.learn.train import Start

WIDTHS = (8, 10, 12, 16, 18)
GUARDS = (0, 4, 8)
AUTO = 16
FIXED = tuple(Format(integer=integer, fraction=AUTO - integer) for integer in range(2, 10))
"""The formats of 16 bits that are tried, to find the best one."""
FLOAT64, ESTIMATOR, AUTO16 = "float64", "estimator", "auto16"


def grid_cell(width: int, guard: int) -> str:
    """Return the name of a cell of the grid."""
    return f"{width} bits, G {guard}"


def fixed_cell(number: Format, guard: int) -> str:
    """Return the name of a cell of a fixed format."""
    return f"{number}, G {guard}"


CELLS = (
    ESTIMATOR,
    FLOAT64,
    AUTO16,
    *(grid_cell(width, guard) for width in WIDTHS for guard in GUARDS),
    *(fixed_cell(number, guard) for number in FIXED for guard in GUARDS),
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Bench:
    """The runs of one problem, in machine code or in numpy. A run that several cells share is made once."""

    problem: Problem
    compiled: bool = True
    _trainers: dict[tuple[Format, int, bool], Trainer] = field(default_factory=dict)
    _runs: dict[tuple[Format, int, bool, int], Outcome] = field(default_factory=dict)

    def measure(self, seed: int, cells: Sequence[str] = CELLS) -> Iterator[tuple[str, Outcome]]:
        """Yield the outcome of each cell for a split seed."""
        start = self._wide.start(seed)
        if FLOAT64 in cells:
            yield FLOAT64, Outcome(metric=self._wide.reals(start))
        if ESTIMATOR in cells:
            yield ESTIMATOR, Outcome(metric=estimated(self.problem, start.ready.parts))
        found, judge = self._survey(start), self._judge(start)
        widths = [w for w in WIDTHS if (w == AUTO and AUTO16 in cells) or any(grid_cell(w, g) in cells for g in GUARDS)]
        for width in widths:
            try:
                choice = found.choose(width, judge)
            except TablaError as fault:
                # No format of this width holds the values, or a constant rounds to zero in the one that does.
                refused = Outcome(refused=fault.message)
                yield from ((cell, refused) for g in GUARDS if (cell := grid_cell(width, g)) in cells)
                continue
            if width == AUTO and AUTO16 in cells:
                yield AUTO16, self.run(seed, start, choice.format, choice.guard, saturate=True)
            for guard in GUARDS:
                if (cell := grid_cell(width, guard)) in cells:
                    yield cell, self.run(seed, start, choice.format, guard, saturate=True)
        for number in FIXED:
            for guard in GUARDS:
                if (cell := fixed_cell(number, guard)) in cells:
                    yield cell, self.run(seed, start, number, guard)
        self._runs.clear()

    def run(self, seed: int, start: Start, number: Format, guard: int, *, saturate: bool = False) -> Outcome:
        """Learn in a format with so many guard bits, or as many as it takes at the problem's learning rate.

        Data outside of a format saturates, or is refused.
        """
        try:
            bits = min(guard, self._trainer(number, 0, saturate).largest_guard)
            key = number, bits, saturate, seed
            if key not in self._runs:
                found = self._trainer(number, bits, saturate).words(start)
                self._runs[key] = Outcome(format=str(number), guard=bits, metric=found.metric, words=found.words)
            return self._runs[key]
        except TablaError as fault:
            return Outcome(format=str(number), guard=guard, refused=fault.message)

    def choice(self, seed: int, width: int) -> FormatChoice:
        """Return what ``--format autoN`` chooses for a split seed."""
        start = self._wide.start(seed)
        return self._survey(start).choose(width, self._judge(start))

    @property
    def _wide(self) -> Trainer:
        return self._trainer(WIDE, 0, False)

    def _trainer(self, number: Format, guard: int, saturate: bool) -> Trainer:
        key = number, guard, saturate
        if key not in self._trainers:
            self._trainers[key] = Trainer(
                problem=self.problem, format=number, guard=guard, saturate=saturate, compiled=self.compiled
            )
        return self._trainers[key]

    def _survey(self, start: Start) -> Survey:
        stages = self._wide.stages
        return survey(
            stages.lowered,
            steps_of(stages, start.ready.parts.training.arrays),
            start.models,
            count=start.steps,
            epochs=self.problem.epochs,
            plan=self._wide.reals_plan,
        )

    def _judge(self, start: Start) -> Judge:
        made, options = partial(build, self.problem.program), self._wide.options
        return learning_judge(made, options, self._wide.stages, start, LearnOptions(epochs=self.problem.epochs))
