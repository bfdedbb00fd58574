"""The clock rate that an array reaches: a base, less a price for each thing that makes its longest paths longer."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from tabla.cost.structure import live
from tabla.hw.features import Features
from tabla.hw.lane import lane_shape
from tabla.program.image import Image

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
