"""A fixed piece of work, by which times of different machines and of different loads can be compared.

The work is of the two kinds that a compilation is made of: loops of plain Python over small objects, and numpy on
arrays. Nobody should ever change it, because all recorded ratios would lose their meaning.
"""

from __future__ import annotations

import time

import numpy as np

ROUNDS = 40
ITEMS = 12_000
WORDS = 200_000


def work() -> int:
    """Do the work, and return a number that depends on all of it."""
    total = 0
    for number in range(ROUNDS):
        places: dict[tuple[int, int], int] = {}
        for item in range(ITEMS):
            place = (item % 97, item * number % 89)
            places[place] = places.get(place, 0) + item
        total += sum(value for (row, column), value in sorted(places.items()) if row != column)
        words = np.arange(WORDS, dtype=np.int64) * (2 * number + 1) % 65_537
        words = np.sort(words)[::-1] >> 3
        total += int(np.cumsum(words)[-1])
    return total


def yardstick() -> float:
    """Return the processor seconds that the work takes now."""
    began = time.process_time()
    work()
    return time.process_time() - began
