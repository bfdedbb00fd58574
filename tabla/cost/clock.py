"""The clock rate that an array reaches, by a line through measured rates."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from tabla.program.image import Image


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockModel:
    """The rate in MHz of the best of several seeds: `base` less what each of these costs.

    `doubling` is for each doubling of the LUT4s above 4,000, `sequencers` for several sequencers, `bit` for each bit of
    a word above 18, where a product takes several multipliers. The rate never exceeds `limit`, that of the blocks.
    Nothing is known of words of more than `widest` bits.
    """

    base: float
    doubling: float
    sequencers: float
    bit: float
    limit: float
    widest: int

    def rate(self, *, luts: int, sequencers: int, width: int) -> float:
        """Return the rate of an array with so many LUT4s and sequencers, in words of `width` bits."""
        prices = (self.doubling, self.sequencers, self.bit)
        found = causes(luts=luts, sequencers=sequencers, width=width)
        lost = sum(price * size for price, size in zip(prices, found, strict=True))
        return round(min(self.limit, max(self.base - lost, self.base / 3)), 1)


def causes(*, luts: int, sequencers: int, width: int) -> tuple[float, float, float]:
    """Return what makes an array slower, in the order of the prices of `ClockModel`."""
    return math.log2(max(1.0, luts / 4000)), float(sequencers > 1), float(max(0, width - 18))


def clocks(models: Mapping[str, ClockModel], image: Image, luts: int) -> dict[str, float]:
    """Return the rates by the speed grade, without grades in which no words of this width were measured."""
    sequencers, width = image.parameters.sequencers, image.parameters.width
    return {
        grade: model.rate(luts=luts, sequencers=sequencers, width=width)
        for grade, model in models.items()
        if width <= model.widest
    }
