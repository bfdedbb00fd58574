"""The Pareto front: the points that no other point beats in everything."""

from __future__ import annotations

from collections.abc import Sequence


def front(values: Sequence[Sequence[float]]) -> list[int]:
    """Return the positions of the values that no other value beats, in ascending order.

    Each value is a row of numbers, of which larger ones are better. A row beats another one if it is at least as good
    everywhere and better somewhere. Of equal rows the first one stays.
    """
    order = sorted(range(len(values)), key=lambda n: (*(-number for number in values[n]), n))
    kept: list[int] = []
    for n in order:
        # A row that comes later beats none before it, so only those before have to be compared.
        if not any(all(a >= b for a, b in zip(values[other], values[n], strict=True)) for other in kept):
            kept.append(n)
    return sorted(kept)
