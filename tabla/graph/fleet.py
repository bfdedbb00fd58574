"""What a fleet computes: devices that share the samples of a step, and a host that adds up what each has learnt
(``docs/decisions/0034-fleet.md``).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.int64]


def combined(before: Words, after: Sequence[Words], limits: tuple[int, int]) -> tuple[Words, int]:
    """Return the model of the next step, ``clamp(s + sum over d of (s'_d - s))``, and how many of its words saturate.

    `before` is the model s that every device started from, and `after` has what each device made of it. All of them are
    stored integers, and `limits` are the least and the greatest of these. The order of the devices does not matter,
    because the sum is exact.
    """
    total = before + sum(each - before for each in after)
    words = np.clip(total, *limits)
    return words, int(np.sum(words != total))
