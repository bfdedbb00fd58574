"""Figures of a synthesis as text and as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tabla.synth.nextpnr import Placement
from tabla.synth.yosys import ModuleCells
from tabla.templates.targets import KINDS, Device, Target


@dataclass(frozen=True, slots=True, kw_only=True)
class SynthesisReport:
    """What a design takes of a part, and how fast it runs there.

    `taken` counts resources by kind after synthesis of the whole; `modules` those of each part by itself. `placements`
    holds every seed's run, `best` the fastest one (None without place and route).
    """

    top: str
    target: Target
    device: Device
    taken: Mapping[str, int]
    modules: tuple[ModuleCells, ...]
    warnings: tuple[str, ...] = ()
    placements: tuple[Placement, ...] = field(default=(), repr=False)
    best: Placement | None = field(default=None, repr=False)

    @property
    def megahertz(self) -> float | None:
        """The clock rate that may be claimed; None if nothing was placed or its timing is not known."""
        return self.best.clock.claimed if self.best and self.best.clock else None

    def samples_per_second(self, cycles: int) -> float | None:
        """Clock rate divided by the cycles of a sample."""
        return None if self.megahertz is None else self.megahertz * 1e6 / cycles

    def data(self) -> dict[str, Any]:
        """The form of ``--json``: nextpnr's own report of the best seed, and what it does not know."""
        report: Mapping[str, Any] = self.best.report if self.best else {}
        return {
            "fmax": report.get("fmax", {}),
            "utilization": report.get("utilization", {}),
            "critical_paths": report.get("critical_paths", []),
            "modules": [
                {"name": row.name, "depth": row.depth, "instances": row.instances, **row.taken} for row in self.modules
            ],
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
            "critical_path": self.best.path.text().splitlines() if self.best and self.best.path else [],
            "warnings": list(self.warnings),
        }

    def json(self) -> str:
        """`data` as text."""
        return json.dumps(self.data(), indent=2) + "\n"

    def text(self) -> str:
        """What ``tabla synth`` prints."""
        lines = [f"{self.top} on {self.target.title} {self.device.part}", "", *self._table(), ""]
        lines += self._clock()
        lines += [f"warning: {warning}" for warning in self.warnings]
        return "\n".join(lines).rstrip() + "\n"

    def _table(self) -> list[str]:
        head = ["module", "", *(self.target.title_of(kind) for kind in KINDS)]
        rows = [head]
        for row in self.modules:
            times = f"{row.instances} x" if row.instances > 1 else ""
            rows.append(["  " * row.depth + row.name, times, *(str(row.taken[kind]) for kind in KINDS)])
        rows.append(["the whole, optimised", "", *(str(self.taken[kind]) for kind in KINDS)])
        rows.append(["capacity", "", *(str(self.device.capacity(kind)) for kind in KINDS)])
        rows.append(["", "", *(self._percent(kind) for kind in KINDS)])
        widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
        return [
            f"{row[0]:<{widths[0]}}  "
            + "  ".join(f"{cell:>{width}}" for cell, width in zip(row[1:], widths[1:], strict=True))
            for row in rows
        ]

    def _percent(self, kind: str) -> str:
        capacity = self.device.capacity(kind)
        return f"{100 * self.taken[kind] / capacity:.1f} %" if capacity else "-"

    def _clock(self) -> list[str]:
        if not self.best:
            return [self.target.note or "not placed and routed: no clock figure"]
        run = self.best
        where = f"{run.device.part}, package {run.package}" + (f", grade {run.grade}" if run.grade else "")
        if not run.clock:
            return [f"placed and routed on {where}; {self.target.note or 'no clock'}"]
        lines = [f"{run.clock.claimed:.1f} MHz on {where}, seed {run.seed} of {len(self.placements)}"]
        if run.clock.reason:
            lines.append(f"held at the limit of {run.clock.reason}; nextpnr reports {run.clock.reported:.1f} MHz")
        if run.path:
            lines += ["", "critical path:", run.path.text()]
        return lines
