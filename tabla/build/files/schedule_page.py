"""The schedule as a page to look at: a row of time for each unit, a bar for each strand, and why the lanes wait.

Python computes what is on the page (`tabla.build.files.timeline`). The templates beside this module hold the page, its
style and the script that draws the timeline; nothing is loaded from anywhere else.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from tabla.build.files.array_picture import STYLE, array_picture
from tabla.build.files.costs import WAYS, StatementCost
from tabla.build.files.figures import BuildReport, figures
from tabla.build.files.idle import REASONS
from tabla.build.files.timeline import Timeline, style, timeline
from tabla.graph.program_text import Locate, as_it_is
from tabla.schedule.bound import Bound
from tabla.schedule.placing.schedule import Schedule
from tabla.schedule.strands.strand import Strand

SCHEMA = "tabla-schedule-1"


def schedule_json(schedule: Schedule) -> dict[str, Any]:
    """Return the schedule as JSON values."""
    return {
        "schema": SCHEMA,
        "name": schedule.graph.name,
        "cycles": schedule.cycles,
        "latency": schedule.latency,
        "period": schedule.initiation_interval,
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


def schedule_page(schedule: Schedule, bound: Bound, locate: Locate = as_it_is) -> str:
    """Return the page as HTML that needs no other file.

    The same schedule and bound give the same text. Names and lines of the program are escaped. `locate` leads from the
    places in the text that the front end has read to those in the file.
    """
    report, drawn = figures(schedule, bound, locate), timeline(schedule, locate)
    worst = report.costs.most_wasteful
    return _page().render(
        title=f"{report.name}: the schedule of one sample",
        about=_about(report),
        report=report,
        boxes=_boxes(report),
        waiting={"text": drawn.text, "shares": _shares(drawn)},
        worst=_worst(report, worst) if worst is not None and worst.wasted else "",
        costs=[PageCost.of(cost) for cost in report.costs.statements],
        ways=[(way, WAYS[way]) for way in dict.fromkeys(cost.way for cost in report.costs.statements)],
        array=array_picture(drawn).svg(),
        style=STYLE,
        model=drawn.as_json(),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PageCost:
    """A row of the table of costs, with the multiplies of the lanes and of the root apart.

    `multiplies` is never above `slots`: a lane slot multiplies once. `root_multiplies` are the others that the
    statement asks for.
    """

    text: str
    line: int | str
    way: str
    cycles: int
    slots: int
    multiplies: int
    wasted: int
    root_multiplies: int
    reason: str

    @staticmethod
    def of(cost: StatementCost) -> PageCost:
        """Return the row of a statement."""
        lanes = min(cost.slots, cost.multiplies)
        return PageCost(
            text=cost.shown,
            line="" if cost.line is None else cost.line,
            way=cost.way,
            cycles=cost.cycles,
            slots=cost.slots,
            multiplies=lanes,
            wasted=cost.wasted,
            root_multiplies=cost.multiplies - lanes,
            reason=cost.reason,
        )


@cache
def _page() -> Template:
    """Return the template. It escapes everything that is put in, and a name that it does not get is a fault."""
    environment = Environment(
        loader=PackageLoader("tabla.build.files"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "sort_keys": True}
    return environment.get_template("schedule.html")


def _about(report: BuildReport) -> str:
    roots = f", {report.roots} roots" if report.roots > 1 else ""
    steps = f"A step takes {report.minibatch} samples; the timeline shows a step. " if report.minibatch > 1 else ""
    beats = f"{report.stream_words} word{'s' if report.stream_words > 1 else ''} per beat of the stream"
    return f"{report.pes} PEs{roots}, {report.format}, {beats}. {steps}The sample begins in cycle 0."


def _boxes(report: BuildReport) -> list[tuple[str, str, str]]:
    """Return the figures: a name, the figure, and the words below it."""
    return [
        ("cycles per sample", f"{report.cycles:,}", f"{report.ratio:.2f} of the bound"),
        ("bound", f"{report.bound:,}", f"by {report.binding}"),
        ("latency", f"{report.latency:,}", "cycles"),
        ("utilisation", f"{100 * report.utilisation:.1f} %", "of multiplier slots"),
        ("multiplies", f"{report.multiplies:,}", "per sample"),
        ("busiest", f"{100 * report.busy:.1f} %", report.busiest),
        ("microcode", f"{report.microcode_words:,}", "words"),
    ]


def _shares(drawn: Timeline) -> list[dict[str, Any]]:
    """Return the cycles of the lanes by what they do: work, or wait for something."""
    busy = sum(bar.end - bar.start for row in drawn.lanes for bar in row.bars)
    work = [{"kind": "busy", "name": "the lanes work", "cycles": busy}] if busy else []
    return work + [
        {"kind": style(reason), "name": f"wait for {REASONS[reason]}", "cycles": count}
        for reason, count in drawn.idle.items()
    ]


def _worst(report: BuildReport, worst: StatementCost) -> str:
    share = 100 * worst.wasted / (report.costs.period * report.pes)
    return f"{worst.shown} wastes most: {share:.1f} % of the slots of the lanes ({worst.reason})."
