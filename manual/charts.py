"""The charts of the measurements: ``python -m manual.charts`` draws them into ``docs`` from the tables of the pages.

A chart is a row of bars for each row of a table, so that its figures are those of the table, which tests hold against
what was measured. The pictures are SVG, which a forge shows, too.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

DOCS = Path(__file__).resolve().parents[1] / "docs"
WIDTH, LEFT, RIGHT = 760, 226, 96
BAR, GAP, HEAD = 15, 9, 62
COLOURS = ("light-dark(#2563eb, #7aa7ff)", "light-dark(#b45309, #fbbf24)", "light-dark(#0f766e, #2dd4bf)")
Row = dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A chart of a table of a page.

    `page` has the table whose head begins with the column `key`, and `columns` are the columns of its bars with their
    names in the legend. `chosen` says which rows are drawn, `named` how they are called. With `logarithmic`, equal
    distances are equal factors. `numbers` reads a cell; None leaves the bar out.
    """

    name: str
    page: str
    title: str
    key: str
    columns: dict[str, str]
    chosen: Callable[[Row], bool] = lambda row: True
    named: Callable[[Row], str] = lambda row: next(iter(row.values()))
    logarithmic: bool = False
    unit: str = ""
    lowest: float = 0.0


def number(cell: str) -> float | None:
    """Return the first number of a cell: ``5,523,153``, ``48.4 ± 1.5``, ``98.8%``, ``162.3 (1)``."""
    found = re.match(r"\**(-?[\d,]+(?:\.\d+)?)", cell)
    return float(found[1].replace(",", "")) if found else None


def rows(chart: Chart) -> list[Row]:
    """Return the rows of the tables of a chart's page that have its columns."""
    found: list[Row] = []
    head: list[str] = []
    for line in (DOCS / chart.page).read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []
        if not cells:
            head = []
        elif not head:
            head = cells if cells[0] == chart.key and set(chart.columns) <= set(cells) else ["other"]
        elif head != ["other"] and not set(line) <= set("|-: "):
            row = dict(zip(head, cells, strict=True))
            if chart.chosen(row):
                found.append(row)
    assert found, f"{chart.page} has no rows for {chart.name}"
    return found


def picture(chart: Chart) -> str:
    """Return a chart as SVG."""
    table = rows(chart)
    values = [[number(row[column]) for column in chart.columns] for row in table]
    known = [value for line in values for value in line if value is not None]
    low, high = (10 ** math.floor(math.log10(min(known))) if chart.logarithmic else chart.lowest), max(known)

    def across(value: float) -> float:
        if chart.logarithmic:
            share = math.log(value / low) / math.log(high / low)
        else:
            share = (max(value, low) - low) / (high - low)
        return share * (WIDTH - LEFT - RIGHT)

    step = BAR * len(chart.columns) + GAP
    height = HEAD + step * len(table) + 24
    parts = [f'<text class="title" x="12" y="24">{escape(chart.title)}</text>', *_legend(chart)]
    for tick in _ticks(low, high, chart.logarithmic):
        x = LEFT + across(tick)
        parts.append(f'<path class="grid" d="M{x:.1f} {HEAD - 8}V{height - 24}"/>')
        parts.append(f'<text class="soft middle" x="{x:.1f}" y="{height - 8}">{_short(tick)}</text>')
    for place, (row, line) in enumerate(zip(table, values, strict=True)):
        top = HEAD + step * place
        name = escape(chart.named(row))
        parts.append(f'<text class="right" x="{LEFT - 8}" y="{top + step / 2 + 1:g}">{name}</text>')
        for bar, (column, value) in enumerate(zip(chart.columns, line, strict=True)):
            if value is not None:
                parts += _bar(bar, top + BAR * bar, across(value), f"{row[column]}{chart.unit}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" role="img" '
        f'aria-label="{escape(chart.title)}">\n<style>\n:root {{ color-scheme: light dark }}\n{_style()}</style>\n'
        f'<rect class="ground" width="{WIDTH}" height="{height}" rx="10"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def _bar(number: int, top: int, width: float, text: str) -> Sequence[str]:
    return (
        f'<rect class="c{number}" x="{LEFT}" y="{top}" width="{max(width, 1):.1f}" height="{BAR - 2}" rx="2"/>',
        f'<text class="value" x="{LEFT + width + 5:.1f}" y="{top + 11}">{escape(text.strip("*"))}</text>',
    )


def _legend(chart: Chart) -> Sequence[str]:
    parts, x = [], 12.0
    for bar, name in enumerate(chart.columns.values()):
        parts.append(f'<rect class="c{bar}" x="{x:g}" y="34" width="12" height="12" rx="2"/>')
        parts.append(f'<text class="soft" x="{x + 17:g}" y="45">{escape(name)}</text>')
        x += 34 + 7.2 * len(name)
    return parts


def _ticks(low: float, high: float, logarithmic: bool) -> list[float]:
    if logarithmic:
        return [10.0**power for power in range(round(math.log10(low)), math.floor(math.log10(high)) + 1)]
    size = 10 ** math.floor(math.log10(high - low))
    step = next(size * part for part in (0.2, 0.5, 1, 2) if (high - low) / (size * part) <= 6)
    return [low + step * count for count in range(int((high - low) / step) + 1)]


def _short(value: float) -> str:
    for factor, letter in ((1e6, " M"), (1e3, " k")):
        if value >= factor:
            return f"{value / factor:g}{letter}"
    return f"{value:g}"


def _style() -> str:
    rules = [
        'text { font: 12.5px system-ui, "DejaVu Sans", sans-serif; fill: light-dark(#0f172a, #e5e9f0) }',
        ".ground { fill: light-dark(#f8fafc, #11161d) } .grid { stroke: light-dark(#dbe2ea, #2b3442) }",
        ".title { font-size: 15px; font-weight: 600 } .middle { text-anchor: middle } .right { text-anchor: end }",
        ".soft, .value { fill: light-dark(#475569, #a3b0c2) } .value { font-size: 11px }",
        *(f".c{bar} {{ fill: {colour} }}" for bar, colour in enumerate(COLOURS)),
    ]
    return "\n".join(rules) + "\n"


def _on_64(row: Row) -> bool:
    return row["PEs"] == "64"


CHARTS = (
    Chart(
        name="chart-fpga",
        page="fpga.md",
        title="Cycles a sample, 64 PEs (logarithmic; fewer is better)",
        key="program",
        columns={"cycles": "tabla", "cycles of VeriGOOD-ML": "VeriGOOD-ML, by its simulator, computing only"},
        chosen=lambda row: _on_64(row) and row["part, grade"] == "LFE5U-85F, 6",
        logarithmic=True,
    ),
    Chart(
        name="chart-processor",
        page="fpga.md",
        title="Samples a second of 64 PEs and of one core (logarithmic; more is better)",
        key="program",
        columns={
            "64 PEs, samples/s": "64 PEs",
            "C, samples/s": "C on one core",
            "C with -ffast-math, samples/s": "C with -ffast-math",
        },
        logarithmic=True,
    ),
    Chart(
        name="chart-learning",
        page="learning-benchmarks.md",
        title="Cycles a sample, and the bound that no schedule can beat; 64 PEs (logarithmic)",
        key="program",
        columns={"cycles": "cycles", "bound": "bound"},
        chosen=_on_64,
        logarithmic=True,
    ),
    Chart(
        name="chart-accuracy",
        page="accuracy.md",
        title="Accuracy or R2 in percent on held-out data (R2 of linnerud is below 0)",
        key="problem",
        columns={
            "float64": "float64",
            "`auto16`": "16 bits, auto16",
            "scikit-learn": "scikit-learn",
        },
        chosen=lambda row: "float64" in row and row["problem"] != "linnerud",
    ),
    Chart(
        name="chart-networks",
        page="networks.md",
        title="Share of the multipliers' slots that multiply, on the largest array that fits",
        key="network",
        columns={"use of multipliers": "slots that multiply"},
        named=lambda row: f"{row['network']}, {row['PEs']} PEs",
    ),
)


if __name__ == "__main__":
    for each in CHARTS:
        (DOCS / f"{each.name}.svg").write_text(picture(each), encoding="utf-8", newline="\n")
