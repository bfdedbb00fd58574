"""Integer changes of variables: solutions of divisibility conditions, and coordinates in which a map is injective."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd

Vector = list[int]


@dataclass(frozen=True, slots=True)
class Hermite:
    """The column Hermite form of a matrix: ``matrix * transform`` is a lower echelon matrix.

    Its first `rank` columns are independent, and the others are zero. `transform` is unimodular and is given by its
    columns.
    """

    transform: list[Vector]
    rank: int


def column_hermite(matrix: Sequence[Sequence[int]], columns: int) -> Hermite:
    """Reduce the columns of a matrix. A column stays as it is as long as nothing must be taken from it."""
    transform = [[int(row == column) for row in range(columns)] for column in range(columns)]
    images = [[int(row[column]) for row in matrix] for column in range(columns)]
    rank = 0
    for row in range(len(matrix)):
        while True:
            live = [column for column in range(rank, columns) if images[column][row]]
            if len(live) <= 1:
                break
            pivot = min(live, key=lambda column: (abs(images[column][row]), column))
            for column in live:
                if column != pivot:
                    times = images[column][row] // images[pivot][row]
                    _subtract(images[column], images[pivot], times)
                    _subtract(transform[column], transform[pivot], times)
        if live:
            for columns_of in (images, transform):
                columns_of.insert(rank, columns_of.pop(live[0]))
            rank += 1
    return Hermite(transform=transform, rank=rank)


def _subtract(column: Vector, other: Vector, times: int) -> None:
    for place, value in enumerate(other):
        column[place] -= times * value


def divisible(factors: Sequence[int], constant: int, divisor: int) -> tuple[Vector, list[Vector]] | None:
    """Return all integer vectors x for which ``factors * x + constant`` is divisible, as ``x = particular + basis * t``
    with integer t.

    The result is None if there is no such vector. The basis has as many vectors as x has elements, given one after the
    other.
    """
    count = len(factors)
    common = gcd(*factors, divisor)
    if constant % common:
        return None
    reduced = column_hermite([[*factors, divisor]], count + 1)
    first = reduced.transform[0]
    value = sum(f * x for f, x in zip([*factors, divisor], first, strict=True))
    particular = [-(constant // value) * x for x in first[:count]]
    basis = [column[:count] for column in reduced.transform[1:]]
    return particular, basis
