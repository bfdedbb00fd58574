"""Functions in decimal arithmetic that the standard library does not have, for the tables of the function unit."""

from __future__ import annotations

from decimal import Decimal, getcontext

PI = Decimal("3.14159265358979323846264338327950288419716939937510582")
_FLAT = 9
"""From here on the error function is 1 to more digits than any table has."""


def erf(value: Decimal) -> Decimal:
    """Return the error function by its series about 0."""
    if abs(value) >= _FLAT:
        return Decimal(1).copy_sign(value)
    power = total = value
    order = 0
    while abs(power) > _least():
        order += 1
        power = -power * value * value / order
        total += power / (2 * order + 1)
    return 2 * total / PI.sqrt()


def atan(value: Decimal) -> Decimal:
    """Return the arc tangent. Halving the angle three times makes the argument small enough for the series."""
    for _ in range(3):
        value = value / (1 + (1 + value * value).sqrt())
    power = total = value
    order = 1
    while abs(power) > _least():
        power = -power * value * value
        order += 2
        total += power / order
    return 8 * total


def arc(value: Decimal) -> Decimal:
    """Return the angle over a chord of a circle of radius 1: ``2 * asin(value / 2)``, for values inside -2 to 2."""
    return 2 * atan(value / (4 - value * value).sqrt())


def _least() -> Decimal:
    """A term that changes no digit of a number near 1."""
    return Decimal(10) ** -getcontext().prec
