"""Drawing a loss curve with characters."""

from __future__ import annotations

from collections.abc import Sequence

HEIGHT, WIDTH = 10, 60


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
        at = k * (len(values) - 1) / (width - 1)
        left = min(int(at), len(values) - 2)
        spread.append(values[left] + (at - left) * (values[left + 1] - values[left]))
    return spread


def curve(
    machine: Sequence[float], reference: Sequence[float], *, unicode: bool, width: int = WIDTH, height: int = HEIGHT
) -> str:
    """Draw the losses of the machine and of the float64 reference, one value for each epoch.

    Where both curves meet, the character of the machine is shown. `width` and `height` are in characters.
    """
    dot, faint, bar, corner, dash = ("●", "·", "│", "└", "─") if unicode else ("*", ".", "|", "+", "-")
    low, high = min(*machine, *reference), max(*machine, *reference)
    cells = [[" "] * width for _ in range(height)]
    for values, mark in ((_spread(reference, width), faint), (_spread(machine, width), dot)):
        for column, value in enumerate(values):
            cells[_row(value, low, high, height)][column] = mark
    edge = [f"{high:.4g}", *[""] * (height - 2), f"{low:.4g}"]
    margin = max(map(len, edge))
    lines = [f"  {text:>{margin}} {bar}{''.join(row)}".rstrip() for text, row in zip(edge, cells, strict=True)]
    last = str(len(machine) - 1)
    lines.append(f"  {'':>{margin}} {corner}{dash * width}")
    lines.append(f"  {'':>{margin}}  0{'epochs':^{width - 1 - len(last)}}{last}")
    lines.append(f"  {'':>{margin}}  {dot} accelerator   {faint} float64")
    return "\n".join(lines)
