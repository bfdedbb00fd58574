"""The estimate of a build: blocks by counting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tabla.cost.blocks import block_rams, multipliers
from tabla.hw.features import features_of
from tabla.program.image import Image


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """The resources of a Lattice ECP5 that an array takes: multipliers MULT18X18D and block RAMs DP16KD."""

    multipliers: int
    block_rams: int

    def as_json(self) -> dict[str, Any]:
        """Return the figures by the names of `tabla.templates.targets.KINDS`."""
        return {"resources": {"DSP": self.multipliers, "RAM": self.block_rams}}


def estimate(image: Image) -> Estimate:
    """Return the estimate for an image."""
    features = features_of(image)
    return Estimate(multipliers=multipliers(image, features), block_rams=block_rams(image, features))
