"""The parts of what notebooks show of training, testing and predicting: curves of losses, scores and predictions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from tabla.base.html import COLOURS, Series, block, paragraph, picture, table
from tabla.learn.data.classes import Classes, Confusion

ROWS = 10
"""The most predictions that are shown."""


def loss_curves(losses: Mapping[str, tuple[Sequence[float], Sequence[float]]], *, label: str, title: str) -> str:
    """Return the losses after each epoch, by the part of the data: those of the accelerator, and of float64 dashed."""
    series = [
        Series(name=part, x=range(len(ours)), y=ours, colour=colour)
        for colour, (part, (ours, _)) in zip(COLOURS, losses.items(), strict=False)
    ]
    for number, (_, theirs) in enumerate(losses.values()):
        name = "" if number else "float64"
        series.append(Series(name=name, x=range(len(theirs)), y=theirs, colour="currentColor", dashed=True))
    return picture(series, across="epochs", up=label, title=title)


def scored(
    headline: str,
    rows: Sequence[tuple[str, str, str]],
    facts: Sequence[tuple[str, object]],
    *,
    curves: str = "",
    confusion: str = "",
) -> str:
    """Return a page of scores: a sentence, a picture, the scores, a confusion matrix, and further figures by name."""
    scores = table(rows, head=("", "accelerator", "float64"))
    return block(paragraph(headline), curves, scores, confusion, table(facts))


def confusion_table(found: Confusion | None, classes: Classes | None, *, most: int, caption: str) -> str:
    """Return a confusion matrix as a table; nothing if there is none, or if it has more classes than `most`."""
    if found is None or classes is None or classes.count > most:
        return ""
    rows = [(name, *row) for name, row in zip(classes.names(), found, strict=True)]
    return table(rows, head=("", *classes.names()), caption=caption)


def first_rows(headline: str, columns: Mapping[str, NDArray[np.generic]]) -> str:
    """Return the first rows of columns as a table, below a sentence."""
    count = min(map(len, columns.values()))
    rows = [(row, *map(_value, _row(columns.values(), row))) for row in range(min(ROWS, count))]
    more = paragraph(f"and {count - len(rows):,} more") if count > len(rows) else ""
    return block(paragraph(headline), table(rows, head=("", *columns)), more)


def _row(columns: Iterable[NDArray[np.generic]], row: int) -> list[object]:
    return [column[row] for column in columns]


def _value(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float | np.floating) else str(value)
