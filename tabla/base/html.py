"""Tables and pictures of records for notebooks: HTML and SVG, whose texts and axes take the colour of the page.

A notebook may be dark or light, so nothing has a background, and every colour of `COLOURS` is seen on both. All names
are escaped, because they may come from data. Styles are attributes, for a page may drop style sheets.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from html import escape

COLOURS = ("#3b82f6", "#d97706", "#16a34a", "#a855f7", "#ef4444")
"""The colours of curves and points, in their order."""
_WIDTH, _HEIGHT = 480, 220
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 12, 10, 38
_TICKS, _ROW = 4, 18
_FONT = "font-family='system-ui, sans-serif' font-size='11' fill='currentColor'"


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """Points of a picture: their places, the colour of their line or marks, and what people see when they point at one.

    `joined` draws a line through them, `dashed` makes it dashed. `names` has a text for each point, or is empty. A
    series without a name is not in the legend.
    """

    name: str
    x: Sequence[float]
    y: Sequence[float]
    colour: str
    joined: bool = True
    dashed: bool = False
    names: Sequence[str] = ()


def table(
    rows: Sequence[Sequence[object]], *, head: Sequence[object] = (), texts: Collection[int] = (0,), caption: str = ""
) -> str:
    """Return a table. The columns `texts` begin at the left, and all others end at the right."""
    title = f"<caption style='text-align:left'>{escape(caption)}</caption>" if caption else ""
    top = f"<thead>{_row('th', head, texts)}</thead>" if head else ""
    return f"<table>{title}{top}<tbody>{''.join(_row('td', row, texts) for row in rows)}</tbody></table>"


def _row(kind: str, cells: Sequence[object], texts: Collection[int]) -> str:
    # A heading without words would head nothing: a screen reader would announce it at each cell below.
    kinds = [kind if cell != "" else "td" for cell in cells]
    parts = (_cell(each, cell, number in texts) for number, (each, cell) in enumerate(zip(kinds, cells, strict=True)))
    return f"<tr>{''.join(parts)}</tr>"


def _cell(kind: str, content: object, left: bool) -> str:
    return f"<{kind} style='text-align:{'left' if left else 'right'}'>{escape(str(content))}</{kind}>"


def paragraph(text: str) -> str:
    """Return a paragraph."""
    return f"<p>{escape(text)}</p>"


def block(*parts: str) -> str:
    """Return parts below each other; empty ones are left out."""
    return f"<div>{''.join(part for part in parts if part)}</div>"


def picture(series: Sequence[Series], *, across: str, up: str, title: str) -> str:
    """Return series of points as an SVG with axes, ticks and a legend. Points that are not finite are left out.

    `across` and `up` are the words at the axes, and `title` is what a screen reader says.
    """
    points = [(x, y) for one in series for x, y in zip(one.x, one.y, strict=True) if _finite(x, y)]
    (left, right), (low, high) = _range([x for x, _ in points]), _range([y for _, y in points])

    def at(x: float, y: float) -> tuple[float, float]:
        wide, tall = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM
        return _LEFT + (x - left) / (right - left) * wide, _TOP + (high - y) / (high - low) * tall

    legend, below = _legend(series)
    height = _HEIGHT + below
    size = f"viewBox='0 0 {_WIDTH} {height}' width='{_WIDTH}' height='{height}' style='max-width:100%'"
    named = f"role='img' aria-label='{escape(title, quote=True)}'"
    drawn = "".join(_drawn(one, at) for one in series)
    axes = _axes(left, right, low, high, across, up)
    return f"<svg xmlns='http://www.w3.org/2000/svg' {size} {named}>{axes}{drawn}{legend}</svg>"


def _finite(*values: float) -> bool:
    return all(math.isfinite(value) for value in values)


def _range(values: Sequence[float]) -> tuple[float, float]:
    """Return the ends of an axis: a little more than the values, and never of no length."""
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    room = 0.04 * (high - low) or 0.5 * abs(high) or 0.5
    return low - room, high + room


def _axes(left: float, right: float, low: float, high: float, across: str, up: str) -> str:
    bottom, end = _HEIGHT - _BOTTOM, _WIDTH - _RIGHT
    turned = f"transform='translate(12 {(_TOP + bottom) / 2:g}) rotate(-90)'"
    parts = [
        f"<path d='M{_LEFT} {_TOP}V{bottom}H{end}' fill='none' stroke='currentColor' stroke-opacity='0.6'/>",
        f"<text x='{(_LEFT + end) / 2:g}' y='{_HEIGHT - 6}' text-anchor='middle' {_FONT}>{escape(across)}</text>",
        f"<text {turned} text-anchor='middle' {_FONT}>{escape(up)}</text>",
    ]
    for value in _ticks(left, right):
        x = _LEFT + (value - left) / (right - left) * (end - _LEFT)
        parts.append(f"<text x='{x:.1f}' y='{bottom + 15}' text-anchor='middle' {_FONT}>{_shown(value)}</text>")
    for value in _ticks(low, high):
        y = _TOP + (high - value) / (high - low) * (bottom - _TOP)
        parts.append(f"<path d='M{_LEFT} {y:.1f}H{end}' stroke='currentColor' stroke-opacity='0.15'/>")
        parts.append(f"<text x='{_LEFT - 6}' y='{y + 4:.1f}' text-anchor='end' {_FONT}>{_shown(value)}</text>")
    return "".join(parts)


def _ticks(low: float, high: float) -> list[float]:
    """Return round numbers between the ends of an axis: 1, 2 or 5 times a power of ten apart."""
    rough = (high - low) / _TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    step = max(power * factor for factor in (1, 2, 5) if power * factor <= rough * 1.001)
    first = math.ceil(low / step)
    return [step * number for number in range(first, math.floor(high / step) + 1)]


def _shown(value: float) -> str:
    """Return the number at a tick, with k for thousands and M for millions."""
    for size, unit, letter in ((1e6, 1e6, " M"), (1e4, 1e3, " k")):
        if abs(value) >= size:
            return f"{value / unit:.4g}{letter}"
    return f"{value:.4g}"


def _drawn(one: Series, at: Callable[[float, float], tuple[float, float]]) -> str:
    found = [(number, x, y) for number, (x, y) in enumerate(zip(one.x, one.y, strict=True)) if _finite(x, y)]
    spots = [(number, *at(x, y)) for number, x, y in found]
    if one.joined and len(spots) > 1:
        path = " ".join(f"{x:.1f},{y:.1f}" for _, x, y in spots)
        dash = " stroke-dasharray='5 4'" if one.dashed else ""
        width = 1.2 if one.dashed else 2.2  # a line below a dashed one is to be seen
        return f"<polyline points='{path}' fill='none' stroke='{one.colour}' stroke-width='{width}'{dash}/>"
    marks = []
    for number, x, y in spots:
        told = f"<title>{escape(one.names[number])}</title>" if one.names else ""
        marks.append(f"<circle cx='{x:.1f}' cy='{y:.1f}' r='4' fill='{one.colour}'>{told}</circle>")
    return "".join(marks)


def _legend(series: Sequence[Series]) -> tuple[str, int]:
    """Return the marks of the series with their names, in as many rows as they need, and the height of the rows."""
    parts, x, y = [], _LEFT, _HEIGHT + 8
    for one in series:
        wide = 40 + 7 * len(one.name)
        if not one.name:
            continue
        if x > _LEFT and x + wide > _WIDTH:
            x, y = _LEFT, y + _ROW
        dash = " stroke-dasharray='5 4'" if one.dashed else ""
        line = f"<path d='M{x} {y}h18' stroke='{one.colour}' stroke-width='2'{dash}/>"
        parts.append(line if one.joined else f"<circle cx='{x + 9}' cy='{y}' r='4' fill='{one.colour}'/>")
        parts.append(f"<text x='{x + 23}' y='{y + 4}' {_FONT}>{escape(one.name)}</text>")
        x += wide
    return "".join(parts), y - _HEIGHT - 8 + _ROW if parts else 0
