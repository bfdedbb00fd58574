"""The outcome of an exploration: its points with their figures, and those that no other point beats.

The Pareto front has the points that no other point beats in everything.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tabla.base.disk import make_folder
from tabla.base.folder import replaced_file
from tabla.base.layout import laid_out
from tabla.base.source import TablaError, TablaTypeError, TablaValueError
from tabla.learn.explore.candidate import Candidate, Part
from tabla.learn.explore.notebook import exploration_html
from tabla.learn.explore.page import explore_page
from tabla.learn.explore.records import check_folder, told
from tabla.templates.targets import KINDS


def front(values: Sequence[Sequence[float]]) -> list[int]:
    """Return the positions of the values that no other value beats, in ascending order.

    Each value is a row of numbers, of which larger ones are better. A row beats another one if it is at least as good
    everywhere and better somewhere. Of equal rows the first one stays.
    """
    order = sorted(range(len(values)), key=lambda n: (*(-number for number in values[n]), n))
    kept: list[int] = []
    for n in order:
        # A row that comes later beats none before it, so only those before have to be compared.
        if not any(all(a >= b for a, b in zip(values[other], values[n], strict=True)) for other in kept):
            kept.append(n)
    return sorted(kept)


SCHEMA = "tabla-explore-1"
PAGE, FIGURES = "index.html", "explore.json"
"""The files of a report: the page, and all figures as JSON."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Exploration:
    """The outcome of an exploration.

    `points` has all points on each part, in the order of parts, formats, minibatches and PEs. `metric` is the name of
    the validation metric, of which larger values are better; it is empty without data.
    """

    name: str
    points: tuple[Candidate, ...] = field(repr=False)
    metric: str = ""

    def __repr__(self) -> str:
        fronts = ", ".join(f"{len(self.front(part))} on the front of {part.name}" for part in self.parts)
        return f"<Exploration {self.name}: {len(self.points)} points, {fronts}>"

    def _repr_html_(self) -> str:
        return exploration_html(self, self.rows)

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts in the order in which they were asked for."""
        return tuple(dict.fromkeys(each.part for each in self.points))

    def front(self, part: Part | str | None = None) -> tuple[Candidate, ...]:
        """Return the points on a part that no other one beats in samples per second, area and metric.

        Points that are refused, or that do not fit the part, are not among them. `part` is one of `parts` or its name,
        such as ``"LFE5U-85F:6"``; any other one is a `TablaError`. Without it, it is the only part of the exploration;
        several are a `TablaError`.
        """
        asked = self._part(part)
        found = [each for each in self.points if each.part == asked and each.fits and not each.refused]
        return tuple(found[n] for n in front([self._goals(each) for each in found]))

    def _part(self, part: Part | str | None) -> Part:
        names = ", ".join(each.name for each in self.parts)
        if part is None:
            if len(self.parts) > 1:
                raise TablaError(f"each of the parts {names} has a front", hint="write front(parts[0])")
            return self.parts[0]
        if not isinstance(part, Part | str):
            raise TablaTypeError(f"part: {part!r} is no part", hint="write front(parts[0])")
        name = part if isinstance(part, str) else part.name
        for each in self.parts:
            if each.name == name:
                return each
        raise TablaValueError(f"the exploration has no part '{name}'", hint=f"there are {names}")

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
            "points": [{**each.as_json(), "front": id(each) in on_front} for each in self.points],
        }

    def write(self, folder: str | Path) -> None:
        """Write ``index.html``, the page, and ``explore.json``, all figures, into a folder.

        The folder is made if it is not there. One that holds other files is a `TablaError`.
        """
        path = Path(folder)
        check_folder(path)
        with told(path):
            make_folder(path)
        texts = {FIGURES: json.dumps(self.as_json(), indent=2, allow_nan=False) + "\n", PAGE: explore_page(self)}
        for name, text in texts.items():
            with replaced_file(path / name) as file:
                file.write_text(text, encoding="utf-8", newline="\n")

    def shown(self, value: float | None) -> str:
        """Return a value of the metric as text."""
        if value is None:
            return "-"
        return f"{100 * value:.2f} %" if self.metric == "accuracy" else f"{value:.5g}"

    def text(self, width: int | None = None) -> str:
        """Return what ``tabla explore`` prints: for each part, the front as a table that fits `width` columns."""
        blocks = []
        for part in self.parts:
            found = [each for each in self.points if each.part == part]
            best = sorted(self.front(part), key=lambda each: (-(each.rate or 0), each.cycles or 0))
            refused = sum(bool(each.refused) for each in found)
            large = sum(not each.fits and not each.refused for each in found)
            rest = "".join(
                f", {count} {what}" for count, what in ((large, "do not fit"), (refused, "refused")) if count
            )
            points = f"{len(found)} point{'' if len(found) == 1 else 's'}"
            head = f"{self.name} on {part.name}: {points}, {len(best)} on the front{rest}"
            blocks.append("\n".join([head, "", *laid_out(self.rows(best), width)]))
        return "\n\n".join(blocks) + "\n"

    def rows(self, found: Sequence[Candidate]) -> list[list[str]]:
        """Return the figures of points as the rows of a table, below its head."""
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
        return rows
