"""The estimate of a build: blocks by counting, LUT4s and flip-flops by a fitted price for each size of each part.

The clock rate is a base, less a price for each thing that makes the longest paths of an array longer.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from tabla.build.cost.blocks import block_rams, multipliers
from tabla.build.cost.structure import live, parts
from tabla.hw.features import Features, features_of
from tabla.hw.lane import lane_shape
from tabla.program.image import Image
from tabla.templates.targets import Device

_LEVELS = 2
"""The loops of most programs; a sequencer with more of them has longer paths."""
_MULTIPLIER = 18
"""Bits of the factors that one multiplier takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockModel:
    """The rate in MHz of the best of three seeds: `base`, less the price of each size that :func:`causes` names.

    The rate never exceeds `limit`, that of the blocks.
    """

    base: float
    prices: Mapping[str, float]
    limit: float

    def rate(self, sizes: Mapping[str, float]) -> float:
        """Return the rate of an array with these sizes."""
        lost = sum(self.prices[name] * size for name, size in sizes.items())
        return round(min(self.limit, max(self.base - lost, self.base / 3)), 1)


def causes(image: Image, features: Features, luts: int) -> dict[str, float]:
    """Return what makes an array slower.

    The sizes are the doublings of its LUT4s above 4,000 and the bits of a word above those of a multiplier. Of the
    others each is 0 or 1: several sequencers, words wider than a multiplier, extremes, lanes that compute nothing, as
    where a program works at the root alone, and more than two levels of loops. The last four have a longest path each,
    and the longest of these decides. Their order is that of their prices, so each is 0 beside one that is named before.
    """
    parameters = image.parameters
    wide = parameters.width > _MULTIPLIER
    extremes = not wide and any(features[unit].uses("post", "extreme") for unit in ("lane_issue", "root_issue"))
    idle = not (wide or extremes) and not live(lane_shape(parameters, features))
    return {
        "doublings": math.log2(max(1.0, luts / 4000)),
        "sequencers": float(parameters.sequencers > 1),
        "wide": float(wide),
        "wide_bits": float(max(0, parameters.width - _MULTIPLIER)),
        "levels": float(not (wide or extremes or idle) and parameters.levels > _LEVELS),
        "extremes": float(extremes),
        "idle_lanes": float(idle),
    }


def clocks(models: Mapping[str, ClockModel], sizes: Mapping[str, float]) -> dict[str, float]:
    """Return the rates of an array by the speed grade."""
    return {grade: model.rate(sizes) for grade, model in models.items()}


def clock_on(rates: Mapping[str, float], device: Device, grade: int) -> float | None:
    """Return that of the `rates` in MHz which a part has in a speed grade; None for a grade that was not measured."""
    return rates.get("5G" if "5G" in device.part else str(grade))


SCHEMA = "tabla-cost-1"
TABLE = "ecp5.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """What ``python -m benchmarks.cost fit`` has fitted to syntheses.

    `luts` and `flip_flops` are the prices: what a unit of the size ``part.size`` takes. `clocks` are the models of the
    clock rates by the speed grade.
    """

    luts: Mapping[str, float]
    flip_flops: Mapping[str, float]
    clocks: Mapping[str, ClockModel]

    @staticmethod
    def of(content: Mapping[str, Any]) -> Table:
        """Return the table that JSON holds."""
        return Table(
            luts=content["luts"],
            flip_flops=content["flip_flops"],
            clocks={grade: ClockModel(**model) for grade, model in content["clocks"].items()},
        )


@cache
def table() -> Table:
    """Return the table of the package."""
    return Table.of(json.loads(files(__package__).joinpath(TABLE).read_text(encoding="utf-8")))


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """The resources of a Lattice ECP5 that an array takes, and the clock rates in MHz by the speed grade.

    Multipliers (MULT18X18D) and block RAMs (DP16KD) are counted; everything else is fitted.
    """

    luts: int
    flip_flops: int
    multipliers: int
    block_rams: int
    megahertz: Mapping[str, float] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return the figures by the names of `tabla.templates.targets.KINDS`."""
        taken = {"LUT": self.luts, "FF": self.flip_flops, "DSP": self.multipliers, "RAM": self.block_rams}
        return {"resources": taken, "megahertz": dict(self.megahertz)}


def sizes(image: Image) -> dict[str, float]:
    """Return the sizes of all parts of an array, added up, by the names that prices have."""
    found: dict[str, float] = {}
    for part in parts(image, features_of(image)):
        for name, size in part.sizes.items():
            key = f"{part.kind}.{name}"
            found[key] = found.get(key, 0.0) + part.count * size
    return found


def estimate(image: Image, priced: Table | None = None) -> Estimate:
    """Return the estimate for an image, by the prices of the package's table or of another one."""
    priced = priced or table()
    features, all_sizes = features_of(image), sizes(image)
    luts, flip_flops = (
        round(sum(prices.get(name, 0.0) * size for name, size in all_sizes.items()))
        for prices in (priced.luts, priced.flip_flops)
    )
    return Estimate(
        luts=luts,
        flip_flops=flip_flops,
        multipliers=multipliers(image, features),
        block_rams=block_rams(image, features),
        megahertz=clocks(priced.clocks, causes(image, features, luts)),
    )
