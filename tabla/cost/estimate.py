"""The estimate of a build: blocks by counting, LUT4s and flip-flops by a fitted price for each size of each part."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from tabla.cost.blocks import block_rams, multipliers
from tabla.cost.clock import ClockModel, causes, clocks
from tabla.cost.structure import parts
from tabla.hw.features import features_of
from tabla.program.image import Image

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
