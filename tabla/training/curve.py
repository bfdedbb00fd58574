"""Drawing a loss curve with characters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

HEIGHT, WIDTH = 10, 60
DIVERGED = 10
"""A loss of more than so many times the loss of the initial models counts as diverged."""
LEAST = 0.01
"""Initial losses below this one count as so large. A model that starts at its optimum may leave it by a rounding."""


def diverged(losses: Sequence[float]) -> int | None:
    """Return the epoch in which a training run diverged; None if it did not.

    `losses` has the loss of the initial models, then the loss after each epoch. A run diverged if its last loss is not
    finite, or more than `DIVERGED` times the first one. The epoch is the first from which on every loss is so large.
    """
    limit = DIVERGED * max(losses[0], LEAST)
    epoch = None
    for number, loss in enumerate(losses):
        small = np.isfinite(loss) and loss <= limit
        epoch = None if small else number if epoch is None else epoch
    return epoch


def _row(value: float, low: float, high: float, height: int) -> int:
    """Return the row of a value, counted from 0 at the top."""
    if high <= low:
        return height - 1
    return round((high - value) / (high - low) * (height - 1))


def _spread(values: Sequence[float], width: int) -> list[float]:
    """Return `width` values, interpolated linearly between the given ones."""
    if len(values) == 1:
        return [values[0]] * width
    spread = []
    for k in range(width):
        at = k * (len(values) - 1) / max(1, width - 1)
        left = min(int(at), len(values) - 2)
        spread.append(values[left] + (at - left) * (values[left + 1] - values[left]))
    return spread


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """The losses of one part of the data, one for each epoch: those of the machine and those of float64."""

    machine: Sequence[float]
    reference: Sequence[float]


def curve(
    machine: Sequence[float],
    reference: Sequence[float],
    *,
    unicode: bool,
    validation: Pair | None = None,
    test: Pair | None = None,
    width: int = WIDTH,
    height: int = HEIGHT,
) -> str:
    """Draw the losses of the machine and of the float64 reference, one value for each epoch.

    `validation` and `test` are the losses of parts that are held out. The machine has a character for each part, and
    float64 has one for all. Where curves meet, the character of the machine is shown, and that of the test part before
    the others. `width` and `height` are in characters. A curve that diverged ends where it did, and the others alone
    set the scale.
    """
    marks = ("●", "▲", "○") if unicode else ("*", "^", "o")
    faint, bar, corner, dash = ("·", "│", "└", "─") if unicode else (".", "|", "+", "-")
    drawn = [(Pair(machine=machine, reference=reference), marks[0], "training")]
    drawn += [(validation, marks[1], "validation")] if validation else []
    drawn += [(test, marks[2], "test")] if test else []
    lines = [(pair.reference, faint) for pair, _, _ in drawn] + [(pair.machine, mark) for pair, mark, _ in drawn]
    shown = [losses for losses, _ in lines if diverged(losses) is None] or [losses for losses, _ in lines]
    scale = [loss for losses in shown for loss in losses[: diverged(losses)]] or [0.0]
    low, high = min(scale), max(scale)
    cells = [[" "] * width for _ in range(height)]
    for losses, mark in lines:
        values = losses[: diverged(losses)]
        end = 1 + (len(values) - 1) * (width - 1) // max(1, len(losses) - 1) if len(losses) > 1 else width
        for column, value in enumerate(_spread(values, end) if values else ()):
            if low <= value <= high:
                cells[_row(value, low, high, height)][column] = mark
    edge = [f"{high:.4g}", *[""] * (height - 2), f"{low:.4g}"]
    margin = max(map(len, edge))
    text = [f"  {label:>{margin}} {bar}{''.join(row)}".rstrip() for label, row in zip(edge, cells, strict=True)]
    last = str(len(machine) - 1)
    text.append(f"  {'':>{margin}} {corner}{dash * width}")
    text.append(f"  {'':>{margin}}  0{'epochs':^{width - 1 - len(last)}}{last}")
    legend = [f"{mark} {name}" for _, mark, name in drawn] if len(drawn) > 1 else [f"{marks[0]} accelerator"]
    text.append(f"  {'':>{margin}}  {'   '.join([*legend, f'{faint} float64'])}")
    return "\n".join(text)
