"""The page of an exploration: all points in a plot, those of the front with their commands."""

from __future__ import annotations

import shlex
from functools import cache
from typing import Any, Protocol

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from tabla.learn.explore.candidate import Candidate, Part
from tabla.templates.targets import KINDS


class Comparison(Protocol):
    """What the page shows of an exploration, which is a `tabla.learn.explore.result.Exploration`."""

    @property
    def name(self) -> str:
        """The name of the program."""
        ...

    @property
    def metric(self) -> str:
        """The name of the validation metric; empty without data."""
        ...

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts."""
        ...

    @property
    def points(self) -> tuple[Candidate, ...]:
        """All points on each part."""
        ...

    def front(self, part: Part) -> tuple[Candidate, ...]:
        """Return the points on a part that no other one beats."""
        ...

    def shown(self, value: float | None) -> str:
        """Return a value of the metric as text."""
        ...


def explore_page(found: Comparison) -> str:
    """Return the page as HTML that needs no other file. The same exploration gives the same text."""
    return _page().render(
        found=found,
        title=f"{found.name}: arrays and number formats compared",
        parts=[_part(found, part) for part in found.parts],
        model={
            "axes": _axes(found),
            "parts": [{"name": part.name, "points": _points(found, part)} for part in found.parts],
        },
    )


@cache
def _page() -> Template:
    """Return the template. It escapes everything that is put in, and a name that it does not get is a fault."""
    environment = Environment(
        loader=PackageLoader("tabla.learn.explore"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "sort_keys": True}
    return environment.get_template("explore.html")


def _axes(found: Comparison) -> list[dict[str, str]]:
    """Return what can be plotted: the name in a point, and the words beside the axis."""
    axes = [("rate", "samples per second"), ("area", "area, % of the part's scarcest resource")]
    axes += [("metric", f"{found.metric} on the validation part")] if found.metric else []
    axes += [("cycles", "cycles per sample"), *((kind, kind) for kind in KINDS)]
    return [{"key": key, "title": title} for key, title in axes]


def _points(found: Comparison, part: Part) -> list[dict[str, Any]]:
    """Return the points of a part that are not refused."""
    best = {each.point for each in found.front(part)}
    shown = [each for each in found.points if each.part == part and not each.refused]
    return [_point(found, each, front=each.point in best) for each in shown]


def _point(found: Comparison, each: Candidate, *, front: bool) -> dict[str, Any]:
    """Return a point for the script. What it does not have is null."""
    return {
        "name": each.point.name,
        "command": shlex.join(each.command),
        "front": front,
        "fits": each.fits,
        "source": "Yosys and nextpnr" if each.confirmed else "estimated",
        "effort": each.effort,
        "rate": each.rate,
        "area": each.area,
        "metric": each.metric,
        "metric_text": found.shown(each.metric),
        "cycles": each.cycles,
        "latency": each.latency,
        "megahertz": each.megahertz,
        "format": each.point.format,
        **{kind: each.resources.get(kind) for kind in KINDS},
    }


def _part(found: Comparison, part: Part) -> dict[str, Any]:
    """Return the figures and the table of a part."""
    every = [each for each in found.points if each.part == part]
    best = sorted(found.front(part), key=lambda each: (-(each.rate or 0), each.cycles or 0))
    return {
        "name": part.name,
        "boxes": [
            ("points", f"{len(every):,}", ""),
            ("on the front", f"{len(best):,}", "no other one beats them"),
            ("do not fit", f"{sum(not e.fits and not e.refused for e in every):,}", part.device.part),
            ("refused", f"{sum(bool(e.refused) for e in every):,}", "see the last table"),
        ],
        "front": [_row(found, each) for each in best],
        "refused": [(each.point.name, each.refused, each.cure) for each in every if each.refused],
    }


def _row(found: Comparison, each: Candidate) -> dict[str, Any]:
    return {
        "rate": "-" if each.rate is None else f"{each.rate:,.0f}",
        "area": "-" if each.area is None else f"{each.area:.1f}",
        "metric": found.shown(each.metric),
        "point": each.point,
        "guard": max(each.point.guard, 0),
        "cycles": "-" if each.cycles is None else f"{each.cycles:g}",
        "clock": "-" if each.megahertz is None else f"{each.megahertz:.1f}",
        "resources": [f"{each.resources[kind]:,}" if kind in each.resources else "-" for kind in KINDS],
        "command": shlex.join(each.command),
    }
