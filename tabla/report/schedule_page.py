"""The schedule as an HTML page and as JSON.

The page shows the figures, a chart with a row for each unit and a bar for each strand, and tables of all statements and
strands.
"""

from __future__ import annotations

from html import escape
from typing import Any

from tabla.bound import Bound
from tabla.report.costs import StatementCost
from tabla.report.figures import figures
from tabla.schedule.schedule import Schedule
from tabla.strands.strand import Strand
from tabla.templates.template import kind_of

SCHEMA = "tabla-schedule-1"
WIDTH, LEFT, ROW, BAR, HEAD = 1160, 96, 46, 26, 30
_UNITS = {
    "lane_issue": ("lanes", "#2563eb"),
    "lane_write": ("lane writes", "#0891b2"),
    "root_issue": ("root", "#9333ea"),
    "root_write": ("root writes", "#c026d3"),
}

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>
body {{ font: 14px/1.5 system-ui, sans-serif; color: #0f172a; margin: 32px auto; max-width: 1200px; padding: 0 20px }}
h1 {{ font-size: 20px; margin: 0 0 4px }} h2 {{ font-size: 16px; margin: 26px 0 4px }}
p {{ color: #475569; margin: 0 0 18px }}
dl {{ display: flex; flex-wrap: wrap; gap: 10px; margin: 0 0 22px }}
dl div {{ border: 1px solid #e2e8f0; border-radius: 8px; padding: 8px 14px; min-width: 96px }}
dt {{ color: #64748b; font-size: 12px }} dd {{ margin: 0; font-size: 19px; font-variant-numeric: tabular-nums }}
figure {{ margin: 0 0 26px; overflow-x: auto }} svg {{ display: block }}
rect.strand {{ fill-opacity: .82 }} rect.strand:hover {{ fill-opacity: 1; stroke: #0f172a }}
table {{ border-collapse: collapse; width: 100%; font-size: 13px }}
th, td {{ text-align: left; padding: 3px 10px 3px 0; border-bottom: 1px solid #e2e8f0; white-space: nowrap }}
th.n, td.n {{ text-align: right; font-variant-numeric: tabular-nums; padding-right: 18px }}
th:last-child, td:last-child {{ white-space: normal; width: 50% }}
th {{ color: #64748b; font-weight: 500 }} code {{ font: 12px ui-monospace, DejaVu Sans Mono, monospace }}
</style></head><body>
<h1>{title}</h1>
<p>{about}</p>
<dl>{boxes}</dl>
<figure>{picture}</figure>
<h2>What each statement costs the lanes</h2>
<p>{summary}.</p>
<table><tr><th>statement</th><th class=n>line</th><th>way</th><th class=n>cycles</th><th class=n>lane slots</th>
<th class=n>multiply</th><th class=n>wasted</th><th>why</th></tr>
{costs}
</table>
<h2>Strands</h2>
<table><tr><th>unit</th><th class=n>start</th><th class=n>end</th><th>loops</th><th class=n>every</th><th>what</th></tr>
{rows}
</table></body></html>
"""


def schedule_json(schedule: Schedule) -> dict[str, Any]:
    """Return the schedule as JSON values."""
    return {
        "schema": SCHEMA,
        "name": schedule.graph.name,
        "cycles": schedule.cycles,
        "latency": schedule.latency,
        "period": schedule.period,
        "end": schedule.end,
        "units": {unit: [_strand_json(s) for s in strands] for unit, strands in schedule.units.items()},
        "stream": [_strand_json(s) for s in schedule.stream_sample],
    }


def _strand_json(strand: Strand) -> dict[str, Any]:
    return {
        "start": strand.start,
        "end": strand.end,
        "counts": list(strand.counts),
        "interval": strand.interval,
        "reduce": strand.reduce,
        "body": len(strand.body),
        "comment": strand.comment,
    }


def schedule_page(schedule: Schedule, bound: Bound) -> str:
    """Return the HTML page, which needs no other file."""
    report = figures(schedule, bound)
    boxes = [
        ("cycles per sample", f"{report.cycles}"),
        ("bound", f"{report.bound}"),
        ("cycles / bound", f"{report.ratio:.2f}"),
        ("binds", report.binding),
        ("latency", f"{report.latency}"),
        ("multiplies", f"{report.multiplies}"),
        ("utilisation", f"{100 * report.utilisation:.1f} %"),
        ("microcode words", f"{report.microcode_words}"),
    ]
    return _PAGE.format(
        title=escape(f"{report.name}: the schedule of one sample"),
        about=escape(
            f"{report.pes} PEs, {report.format}, words per beat: {report.stream_words}. Bars are hardware loops; "
            f"faint bars belong to the next samples, one every {report.cycles} cycles. Point at a bar to read it."
        ),
        boxes="".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in boxes),
        picture=_picture(schedule),
        summary=escape(report.costs.summary),
        costs="\n".join(_cost(cost) for cost in report.costs.statements),
        rows="\n".join(_row(unit, s) for unit, strands in schedule.units.items() for s in strands),
    )


def _name(unit: str) -> str:
    """Return the name of a unit for people, with the number of its sequencer if there are several sequencers."""
    kind = kind_of(unit)
    return _UNITS[kind][0] + unit.removeprefix(kind).replace("_", " ")


def _cost(cost: StatementCost) -> str:
    numbers = (cost.cycles, cost.slots, cost.multiplies, cost.wasted)
    cells = "".join(f"<td class=n>{number}</td>" for number in numbers)
    line = "" if cost.line is None else cost.line
    return (
        f"<tr><td><code>{escape(cost.name)}</code></td><td class=n>{line}</td><td>{cost.way}</td>{cells}"
        f"<td>{escape(cost.reason)}</td></tr>"
    )


def _row(unit: str, strand: Strand) -> str:
    loops = " × ".join(map(str, strand.counts)) or "1"
    return (
        f"<tr><td>{_name(unit)}</td><td class=n>{strand.start}</td><td class=n>{strand.end}</td>"
        f"<td>{loops}</td><td class=n>{strand.interval}</td><td><code>{escape(strand.comment)}</code></td></tr>"
    )


def _step(span: int) -> int:
    """Return the cycles between two ticks: 1, 2 or 5 times a power of ten, such that there are at most twelve ticks."""
    return next(f * ten for ten in (1, 10, 100, 1000, 10**4, 10**5, 10**6) for f in (1, 2, 5) if span <= 12 * f * ten)


def _picture(schedule: Schedule) -> str:
    span = max(schedule.end + 1, schedule.cycles, 1)
    scale = (WIDTH - LEFT - 10) / span
    height = HEAD + ROW * len(schedule.units) + 8
    size = f'width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}"'
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="system-ui, sans-serif" font-size="12">']
    step = _step(span)
    for cycle in range(0, span + 1, step):
        x = LEFT + cycle * scale
        parts.append(f'<line x1="{x:.1f}" y1="{HEAD - 6}" x2="{x:.1f}" y2="{height}" stroke="#e2e8f0"/>')
        parts.append(f'<text x="{x:.1f}" y="{HEAD - 12}" text-anchor="middle" fill="#64748b">{cycle}</text>')
    for number, (unit, strands) in enumerate(schedule.units.items()):
        colour = _UNITS[kind_of(unit)][1]
        y = HEAD + ROW * number + (ROW - BAR) / 2
        parts.append(f'<text x="0" y="{y + BAR / 2 + 4:.1f}" fill="#334155">{_name(unit)}</text>')
        for strand in strands:
            follower = strand.start + schedule.cycles
            while follower < span:
                parts.append(_bar(strand, follower, span, scale, y, colour, faint=True))
                follower += schedule.cycles
            parts.append(_bar(strand, strand.start, span, scale, y, colour, faint=False))
    x = LEFT + schedule.cycles * scale
    parts.append(
        f'<line x1="{x:.1f}" y1="{HEAD - 6}" x2="{x:.1f}" y2="{height}" stroke="#dc2626" stroke-dasharray="4 3">'
        "<title>the next sample begins</title></line>"
    )
    return "".join([*parts, "</svg>"])


def _bar(strand: Strand, start: int, span: int, scale: float, y: float, colour: str, *, faint: bool) -> str:
    length = min(strand.length, span - start)
    x, width = LEFT + start * scale, max(1.5, length * scale - 0.6)
    if faint:
        return f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{BAR}" rx="2" fill="{colour}" opacity="0.15"/>'
    text = escape(f"{strand.start} .. {strand.end}  {strand.comment}")
    return (
        f'<rect class="strand" x="{x:.1f}" y="{y}" width="{width:.1f}" height="{BAR}" rx="2" fill="{colour}">'
        f"<title>{text}</title></rect>"
    )
