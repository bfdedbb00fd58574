"""The outcome of a comparison of number formats: what each of them is worth on a validation part."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tabla.base.html import COLOURS, Series, block, paragraph, picture, table
from tabla.graph.format import Format
from tabla.learn.events import Events
from tabla.learn.measure import Score
from tabla.learn.metrics import Metric
from tabla.learn.record import score_numbers

SCHEMA = "tabla-formats-1"
POINTS = 100
"""A metric of 1, such as an accuracy of 100 %, is so many points."""
CLOSE = 0.5
"""A format is close to float64 if its metric is at most so many points below that of float64."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One format of a comparison: words of `width` bits, and models with `guard` guard bits.

    `score` is that of the validation part, and `events` are those of learning. `saturated` counts the numbers of the
    data outside of the format, for which its nearest word stands. Without a score the format is refused, `refused`
    says why, and `cure` what may help. Where no format of the width suits the data, `format` is None.
    """

    width: int
    guard: int
    format: Format | None
    score: Score | None = None
    events: Events | None = None
    saturated: int = 0
    refused: str = ""
    cure: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the cell for JSON. What a refused format does not have is null."""
        scored = self.score.events if self.score else None
        return {
            "bits": self.width,
            "model_guard": self.guard,
            "format": str(self.format) if self.format else None,
            **(score_numbers(self.score) if self.score else {"loss": None, "metric": None}),
            "saturated": self.saturated if self.score else None,
            "overflows": self.events.overflows if self.events else None,
            "domain_errors": self.events.domain_errors if self.events else None,
            "updates": self.events.updates if self.events else None,
            "zero_updates": self.events.zero_updates if self.events else None,
            "validation_overflows": scored.overflows if scored else None,
            "validation_domain_errors": scored.domain_errors if scored else None,
            "refused": self.refused or None,
            "cure": self.cure or None,
        }


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class FormatTable:
    """A comparison of number formats with each other and with float64.

    Every format learned from the same `samples` in the same order, and was scored on the same `validation_samples`.
    `metric` is an accuracy or ``r2``, whose 1 counts as 100 points. `float64` is the score of float64. `cells` are in
    the order of their widths, and then of their guard bits. With a `patience`, each of them has its best epoch.
    """

    name: str
    metric: Metric
    samples: int
    validation_samples: int
    epochs: int
    patience: int | None
    float64: Score
    cells: tuple[Cell, ...] = field(repr=False)

    @property
    def narrowest(self) -> Cell | None:
        """The cell with the fewest bits, and then with the fewest guard bits, that is close to float64, if any is.

        A format that is better than float64 is close, too.
        """
        return next((cell for cell in self.cells if self.close(cell)), None)

    def close(self, cell: Cell) -> bool:
        """Return whether the metric of a cell is at most half a point below that of float64."""
        # Both are multiples of one sample for an accuracy; their difference may be wrong in its last place.
        return cell.score is not None and POINTS * (self.float64.metric - cell.score.metric) <= CLOSE + 1e-9

    def text(self) -> str:
        """Return what ``tabla formats`` prints."""
        epochs = f"{self.epochs} epoch{'s' * (self.epochs > 1)}"
        if self.patience is not None:
            epochs = f"at most {epochs}"
        lines = [
            f"{self.name}: {self.samples} samples to learn from, {self.validation_samples} to choose by, {epochs}",
            f"validation {self.metric.name} in points, of 100 at the most",
            "",
            f"{'float64':<14}{_points(self.float64):>10}",
            "",
            *self._table(),
            "",
            *self._notes(),
        ]
        return "\n".join([*lines, *self._answer()])

    @property
    def headline(self) -> str:
        """The outcome in a few words: the program, how many formats were compared, and the narrowest that is close."""
        formats = f"{len(self.cells)} number formats"
        cell = self.narrowest
        best = "none is close to float64" if cell is None else f"the narrowest close to float64 is {cell.format}"
        return f"{self.name}: {formats}, {best}"

    def __repr__(self) -> str:
        return f"<FormatTable {self.headline}>"

    def _repr_html_(self) -> str:
        guards = sorted({cell.guard for cell in self.cells})
        widths = sorted({cell.width for cell in self.cells})
        reasons, title = self.reasons(), f"{self.metric.name} in points"
        series = [self._curve(guard, colour) for guard, colour in zip(guards, COLOURS, strict=False)]
        ends, value = (widths[0], widths[-1]), POINTS * self.float64.metric
        series.append(Series(name="float64", x=ends, y=(value, value), colour=COLOURS[-1], dashed=True))
        rows = [self._html_row(width, reasons) for width in widths]
        return block(
            paragraph(self.headline),
            picture(series, across="bits", up=title, title=f"{title} by the bits of a word"),
            table(rows, head=("bits", "format", *(f"G = {guard}" for guard in guards)), texts=(1,)),
            paragraph("* at most half a point below float64") if self.narrowest else "",
            *(paragraph(f"[{number}] {reason}") for number, reason in enumerate(reasons, 1)),
        )

    def _curve(self, guard: int, colour: str) -> Series:
        found = [(c.width, POINTS * c.score.metric) for c in self.cells if c.guard == guard and c.score is not None]
        widths, points = [width for width, _ in found], [point for _, point in found]
        return Series(name=f"G = {guard}", x=widths, y=points, colour=colour)

    def _html_row(self, width: int, reasons: list[str]) -> list[object]:
        cells = [cell for cell in self.cells if cell.width == width]
        return [width, cells[0].format or "-", *(self._shown(cell, reasons).strip() for cell in cells)]

    def _table(self) -> Iterator[str]:
        guards = sorted({cell.guard for cell in self.cells})
        reasons = self.reasons()
        yield (f"{'bits':>4}  {'format':<8}" + "".join(f"{f'G = {guard}':>10}{'':<6}" for guard in guards)).rstrip()
        for width in sorted({cell.width for cell in self.cells}):
            row = [cell for cell in self.cells if cell.width == width]
            shown = "".join(self._shown(cell, reasons) for cell in row)
            point = str(row[0].format) if row[0].format else "-"
            yield f"{width:>4}  {point:<8}{shown}".rstrip()

    def _shown(self, cell: Cell, reasons: list[str]) -> str:
        if cell.score is None:
            return f"{'refused':>10} {f'[{reasons.index(cell.refused) + 1}]':<5}"
        return f"{_points(cell.score):>10} {'*' if self.close(cell) else '':<5}"

    def reasons(self) -> list[str]:
        """Return why formats are refused, each reason once."""
        return list(dict.fromkeys(cell.refused for cell in self.cells if cell.refused))

    def _notes(self) -> Iterator[str]:
        found = self.reasons()
        if self.narrowest is not None:
            yield "  *  at most half a point below float64"
        for number, reason in enumerate(found, 1):
            yield f"[{number}]  {reason}"
        if found or self.narrowest is not None:
            yield ""

    def _answer(self) -> Iterator[str]:
        cell = self.narrowest
        if cell is None:
            yield "narrowest    none of these formats is within half a point of float64"
            return
        guard = f" --model-guard {cell.guard}" if cell.guard else ""
        yield f"narrowest    {cell.width} bits: --format {cell.format}{guard}{' --saturate' * (cell.saturated > 0)}"

    def as_json(self) -> dict[str, Any]:
        """Return what ``tabla formats --json`` writes."""
        cell = self.narrowest
        chosen = cell and {"bits": cell.width, "model_guard": cell.guard, "format": str(cell.format)}
        return {
            "schema": SCHEMA,
            "name": self.name,
            "metric": self.metric.name,
            "close_points": CLOSE,
            "samples": self.samples,
            "validation_samples": self.validation_samples,
            "epochs": self.epochs,
            "patience": self.patience,
            "float64": score_numbers(self.float64),
            "cells": [cell.as_json() for cell in self.cells],
            "narrowest": chosen,
        }


def _points(score: Score) -> str:
    return f"{POINTS * score.metric:.2f}" if math.isfinite(score.metric) else "no number"
