"""A point on a part of an FPGA family, with its figures."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from typing import Any

from tabla.learn.explore.space import Point
from tabla.templates.targets import Device

_NAMES = {"LUT": "lut4", "FF": "ff", "DSP": "dsp", "RAM": "ram"}
"""The names of the resources in JSON, by those of `tabla.templates.targets.KINDS`."""


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

    `cycles` are those of a sample with the search for a schedule at `effort`, which knows the part if it was
    `made_for_part`. `resources` and `megahertz` are estimates, or what Yosys and nextpnr found if `confirmed`. `metric`
    is that of the validation part, if there is data. A point that is refused has a reason and a cure instead.
    """

    point: Point
    part: Part
    effort: int
    command: tuple[str, ...]
    made_for_part: bool = False
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
            "made_for_part": self.made_for_part,
            "cycles": self.cycles,
            "latency": self.latency,
            **{name: self.resources.get(kind) for kind, name in _NAMES.items()},
            "mhz": self.megahertz,
            "samples_per_second": round(self.rate) if self.rate else None,
            "area_percent": round(self.area, 2) if self.area is not None else None,
            "metric": self.metric,
            "fits": self.fits,
            "synthesised": self.confirmed,
            "refused": self.refused or None,
            "cure": self.cure or None,
            "command": shlex.join(self.command),
        }
