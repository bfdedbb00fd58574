"""Drawing a line chart as SVG. The horizontal axis is logarithmic, and the vertical one is linear and begins at 0."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from math import log10

WIDTH, HEIGHT = 760, 400
LEFT, RIGHT, TOP, BOTTOM = 62, 92, 54, 52
NAME = 16  # the least distance between two names, in pixels
COLOURS = ("#2563eb", "#ea580c", "#16a34a", "#9333ea")

Points = Sequence[tuple[float, float]]


def line_chart(lines: Mapping[str, Points], *, title: str, across: str, upwards: str) -> str:
    """Return the chart as SVG. Each line is a sequence of points (x, y), x > 0 and y >= 0, sorted by x.

    The name of a line stands at its end.
    """
    every = [point for points in lines.values() for point in points]
    low, high = log10(min(x for x, _ in every)), log10(max(x for x, _ in every))
    step = _step(max(y for _, y in every))
    top = step * (int(max(y for _, y in every) / step) + 1)

    def right(x: float) -> float:
        return LEFT + (log10(x) - low) / (high - low) * (WIDTH - LEFT - RIGHT)

    def down(y: float) -> float:
        return HEIGHT - BOTTOM - y / top * (HEIGHT - TOP - BOTTOM)

    size = f'width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
    face = 'font-family="system-ui, DejaVu Sans, sans-serif" font-size="12"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} {face}>',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        f'<text x="{LEFT}" y="26" font-size="15" fill="#0f172a">{escape(title)}</text>',
    ]
    for number in range(round(top / step) + 1):
        y = down(number * step)
        parts.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" stroke="#e2e8f0"/>')
        parts.append(_text(LEFT - 8, y + 4, f"{number * step:g}", "end"))
    for x in sorted({x for x, _ in every}):
        parts.append(
            f'<line x1="{right(x):.1f}" y1="{HEIGHT - BOTTOM}" x2="{right(x):.1f}" y2="{HEIGHT - BOTTOM + 5}"'
            ' stroke="#64748b"/>'
        )
        parts.append(_text(right(x), HEIGHT - BOTTOM + 18, f"{x:,.0f}", "middle"))
    parts.append(_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, across, "middle"))
    parts.append(_text(LEFT - 8, TOP - 12, upwards, "start"))
    ends = sorted((down(points[-1][1]), name) for name, points in lines.items())
    places: dict[str, float] = {}
    for y, name in ends:
        places[name] = max(y, *(p + NAME for p in places.values())) if places else y
    for colour, (name, points) in zip(COLOURS, lines.items(), strict=False):
        path = " ".join(f"{right(x):.1f},{down(y):.1f}" for x, y in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{right(x):.1f}" cy="{down(y):.1f}" r="3" fill="{colour}"/>' for x, y in points]
        end = WIDTH - RIGHT + 10
        parts.append(f'<text x="{end}" y="{places[name] + 4:.1f}" fill="{colour}">{escape(name)}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def _step(most: float) -> float:
    """Return the distance of the grid lines: 1, 2 or 5 times a power of ten, for at most eight lines."""
    return next(f * 10.0**ten for ten in range(-6, 9) for f in (1, 2, 5) if most <= 8 * f * 10.0**ten)


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="#475569">{escape(text)}</text>'
