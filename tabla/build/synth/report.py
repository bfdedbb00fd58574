"""The figures of a synthesis, as a record, as text and as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tabla.base.layout import laid_out
from tabla.build.synth.nextpnr import Placement
from tabla.build.synth.source_lines import SourceLines
from tabla.build.synth.yosys import ModuleCells
from tabla.templates.targets import KINDS, Device, Target

SCHEMA = "tabla-synthesis-1"


@dataclass(frozen=True, slots=True, kw_only=True)
class SynthesisReport:
    """The resources that a design takes of a part, and the clock rate that it reaches there.

    `taken` counts the resources by kind after synthesis of the whole design. `modules` counts them for each part of the
    design synthesised by itself. `placements` holds the run of every seed, and `best` is the fastest of them; without
    place and route it is None. `cycles` is the number of cycles per sample, if it is known. `lines` says where each
    signal is declared.
    """

    top: str
    target: Target
    device: Device
    taken: Mapping[str, int]
    modules: tuple[ModuleCells, ...]
    warnings: tuple[str, ...] = ()
    placements: tuple[Placement, ...] = field(default=(), repr=False)
    best: Placement | None = field(default=None, repr=False)
    cycles: int | None = None
    lines: SourceLines | None = field(default=None, repr=False)

    @property
    def megahertz(self) -> float | None:
        """The claimed clock rate; None if nothing was placed, or if nextpnr does not know the timing."""
        return self.best.clock.claimed if self.best and self.best.clock else None

    @property
    def samples_per_second(self) -> float | None:
        """The clock rate divided by the cycles per sample; None if either is not known."""
        return None if self.megahertz is None or not self.cycles else self.megahertz * 1e6 / self.cycles

    def data(self) -> dict[str, Any]:
        """Return what ``tabla synth --json`` writes: nextpnr's own report of the best seed, and further figures."""
        report: Mapping[str, Any] = self.best.report if self.best else {}
        return {
            "fmax": report.get("fmax", {}),
            "utilization": report.get("utilization", {}),
            "critical_paths": report.get("critical_paths", []),
            "modules": [
                {
                    "name": row.name,
                    "depth": row.depth,
                    "instances": row.instances,
                    **row.taken,
                    "percent": {kind: self._share(row.instances * row.taken[kind], kind) for kind in KINDS},
                }
                for row in self.modules
            ],
            "schema": SCHEMA,
            "top": self.top,
            "cycles": self.cycles,
            "samples_per_second": self.samples_per_second,
            "target": self.target.name,
            "device": self.device.name,
            "part": self.device.part,
            "package": self.best.package if self.best else None,
            "speed": self.best.grade if self.best else None,
            "seed": self.best.seed if self.best else None,
            "seeds": {str(run.seed): run.clock.reported for run in self.placements if run.clock},
            "megahertz": self.megahertz,
            "limit": self.best.clock.reason if self.best and self.best.clock else "",
            "resources": {
                kind: {
                    "name": self.target.title_of(kind),
                    "used": self.taken[kind],
                    "available": self.device.capacity(kind),
                }
                for kind in KINDS
            },
            "critical_path": self._path(),
            "warnings": list(self.warnings),
        }

    def json(self) -> str:
        """Return `data` as JSON text."""
        return json.dumps(self.data(), indent=2) + "\n"

    def text(self, width: int | None = None) -> str:
        """Return what ``tabla synth`` prints, with a table that fits `width` columns."""
        lines = [f"{self.top} on {self.target.title} {self.device.part}", "", *self._table(width), ""]
        lines += self._clock()
        lines += [f"warning: {warning}" for warning in self.warnings]
        return "\n".join(lines).rstrip() + "\n"

    def _table(self, width: int | None) -> list[str]:
        """Return the table of resources: a row for each module, one for the whole design, one for the part's capacity.

        The percentages of a module are for all its instances together. Where `width` columns are not enough, the names
        of modules leave out that of the design, with which they begin, and resources have their short names.
        """
        titles = [self.target.title_of(kind) for kind in KINDS]
        for rows in (self._rows("", titles), self._rows(f"{self.top}_", KINDS)):
            lines = _aligned(rows)
            if width is None or max(map(len, lines)) <= width:
                return lines
        return laid_out(rows, width, texts=(0,))

    def _rows(self, prefix: str, titles: Sequence[str]) -> list[list[str]]:
        rows = [["module", "", *(word for title in titles for word in (title, "%"))]]
        for row in self.modules:
            times = f"{row.instances} x" if row.instances > 1 else ""
            name = "  " * row.depth + row.name.removeprefix(prefix)
            rows.append([name, times, *self._amounts(row.taken, row.instances)])
        rows.append(["the whole, optimised", "", *self._amounts(self.taken)])
        rows.append(["capacity", "", *(word for kind in KINDS for word in (str(self.device.capacity(kind)), ""))])
        return rows

    def _amounts(self, taken: Mapping[str, int], instances: int = 1) -> list[str]:
        """Return the cells of a row: for each kind, the number for one instance and the share of all instances."""
        amounts = []
        for kind in KINDS:
            share = self._share(instances * taken[kind], kind)
            amounts += [str(taken[kind]), "-" if share is None else f"{share:.1f}"]
        return amounts

    def _share(self, taken: int, kind: str) -> float | None:
        """Return a share of the capacity of the part, in percent; None if the part has no such resource."""
        capacity = self.device.capacity(kind)
        return round(100 * taken / capacity, 2) if capacity else None

    def _path(self) -> list[str]:
        """Return the critical path with a line for each hop, or nothing if no path is known."""
        if not self.best or not self.best.path:
            return []
        return self.best.path.text(self.lines).splitlines()

    def _clock(self) -> list[str]:
        if not self.best:
            return [self.target.note or "not placed and routed: no clock figure (--pnr)"]
        run = self.best
        where = f"{run.device.part}, package {run.package}" + (f", grade {run.grade}" if run.grade else "")
        if not run.clock:
            return [f"placed and routed on {where}; {self.target.note or 'no clock'}"]
        lines = [f"{run.clock.claimed:.1f} MHz on {where}, seed {run.seed} of {len(self.placements)}"]
        if run.clock.reason:
            lines.append(f"held at the limit of {run.clock.reason}; nextpnr reports {run.clock.reported:.1f} MHz")
        if self.samples_per_second is not None:
            lines.append(f"{self.samples_per_second:,.0f} samples per second, {self.cycles} cycles each")
        if run.path:
            lines += ["", "critical path:", *self._path()]
        return lines


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the rows of a table as lines, with each share close to the number that it belongs to."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        f"{row[0]:<{widths[0]}}  {row[1]:>{widths[1]}}".rstrip().ljust(widths[0] + widths[1] + 2)
        + "".join(
            f"{'  ' if column % 2 else ' '}{cell:>{width}}"
            for column, (cell, width) in enumerate(zip(row[2:], widths[2:], strict=True), 1)
        ).rstrip()
        for row in rows
    ]
