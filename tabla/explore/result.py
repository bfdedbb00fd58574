"""The outcome of an exploration: its points with their figures, and those that no other point beats."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tabla.explore.front import front
from tabla.explore.space import Point
from tabla.templates.targets import KINDS, Device

SCHEMA = "tabla-explore-1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of an FPGA family in one of its speed grades."""

    device: Device
    grade: int

    @property
    def name(self) -> str:
        """The name as ``--part`` takes it."""
        return f"{self.device.part}:{self.grade}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A point on a part, with its figures.

    `cycles` are those of a sample with the search for a schedule at `effort`. `resources` and `megahertz` are
    estimates, or what Yosys and nextpnr found if `confirmed`. `metric` is that of the validation part, if there is
    data. A point that is refused has a reason and a cure instead.
    """

    point: Point
    part: Part
    effort: int
    command: tuple[str, ...]
    cycles: float | None = None
    latency: int | None = None
    resources: dict[str, int] = field(default_factory=dict)
    megahertz: float | None = None
    metric: float | None = None
    confirmed: bool = False
    refused: str = ""
    cure: str = ""

    @property
    def rate(self) -> float | None:
        """Samples per second."""
        return 1e6 * self.megahertz / self.cycles if self.megahertz and self.cycles else None

    @property
    def area(self) -> float | None:
        """The share of the part's scarcest resource that the point takes, in percent."""
        if not self.resources:
            return None
        return max(100 * self.resources[kind] / (self.part.device.capacity(kind) or 1) for kind in self.resources)

    @property
    def fits(self) -> bool:
        """Whether the part holds the point."""
        return self.area is not None and self.area <= 100

    def as_json(self) -> dict[str, Any]:
        """Return the candidate for JSON."""
        return {
            "part": self.part.name,
            "pes": self.point.pes,
            "format": self.point.format,
            "model_guard": max(self.point.guard, 0),
            "minibatch": self.point.minibatch,
            "effort": self.effort,
            "cycles": self.cycles,
            "latency": self.latency,
            "resources": {kind: self.resources[kind] for kind in KINDS if kind in self.resources},
            "megahertz": self.megahertz,
            "samples_per_second": round(self.rate) if self.rate else None,
            "area_percent": round(self.area, 2) if self.area is not None else None,
            "metric": self.metric,
            "fits": self.fits,
            "synthesised": self.confirmed,
            "refused": self.refused or None,
            "cure": self.cure or None,
            "command": shlex.join(self.command),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Exploration:
    """All candidates of an exploration, in the order of parts, formats, minibatches and PEs.

    `metric` is the name of the validation metric, of which larger values are better; it is empty without data.
    """

    name: str
    candidates: tuple[Candidate, ...] = field(repr=False)
    metric: str = ""

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts in the order in which they were asked for."""
        return tuple(dict.fromkeys(each.part for each in self.candidates))

    def front(self, part: Part) -> tuple[Candidate, ...]:
        """Return the candidates on a part that no other one beats in samples per second, area and metric.

        Candidates that are refused, or that do not fit the part, are not among them.
        """
        found = [each for each in self.candidates if each.part == part and each.fits and not each.refused]
        return tuple(found[n] for n in front([self._goals(each) for each in found]))

    def _goals(self, each: Candidate) -> tuple[float, ...]:
        """Return what is compared, with larger numbers for what is better."""
        metric = 0.0
        if self.metric:
            metric = float("-inf") if each.metric is None else each.metric
        # Without a clock, the fewest cycles are the most samples.
        speed = each.rate if each.rate is not None else -(each.cycles or float("inf"))
        return speed, -(each.area or 0.0), metric

    def as_json(self) -> dict[str, Any]:
        """Return what ``tabla explore --json`` writes."""
        on_front = {id(each) for part in self.parts for each in self.front(part)}
        return {
            "schema": SCHEMA,
            "name": self.name,
            "metric": self.metric or None,
            "candidates": [{**each.as_json(), "front": id(each) in on_front} for each in self.candidates],
        }

    def shown(self, value: float | None) -> str:
        """Return a value of the metric as text."""
        if value is None:
            return "-"
        return f"{100 * value:.2f} %" if self.metric == "accuracy" else f"{value:.5g}"

    def text(self) -> str:
        """Return what ``tabla explore`` prints: for each part, the front as a table."""
        blocks = []
        for part in self.parts:
            found = [each for each in self.candidates if each.part == part]
            best = sorted(self.front(part), key=lambda each: (-(each.rate or 0), each.cycles or 0))
            refused = sum(bool(each.refused) for each in found)
            large = sum(not each.fits and not each.refused for each in found)
            rest = "".join(
                f", {count} {what}" for count, what in ((large, "do not fit"), (refused, "refused")) if count
            )
            points = f"{len(found)} point{'' if len(found) == 1 else 's'}"
            head = f"{self.name} on {part.name}: {points}, {len(best)} on the front{rest}"
            blocks.append("\n".join([head, "", *self._table(best)]))
        return "\n\n".join(blocks) + "\n"

    def _table(self, found: Sequence[Candidate]) -> list[str]:
        heads = ["samples/s", "area %", *([self.metric] if self.metric else []), "PEs", "format", "guard", "minibatch"]
        rows = [[*heads, "cycles", "MHz", *KINDS]]
        for each in found:
            rate, area = each.rate, each.area
            goals = ["-" if rate is None else f"{rate:,.0f}", "-" if area is None else f"{area:.1f}"]
            goals += [self.shown(each.metric)] if self.metric else []
            point = each.point
            array = [str(point.pes), point.format, str(max(point.guard, 0)), str(point.minibatch)]
            clock = "-" if each.megahertz is None else f"{each.megahertz:.1f}{'' if each.confirmed else ' ~'}"
            figures = [f"{each.cycles:g}" if each.cycles else "-", clock]
            resources = [f"{each.resources[kind]:,}" if kind in each.resources else "-" for kind in KINDS]
            rows.append([*goals, *array, *figures, *resources])
        widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
        return ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
