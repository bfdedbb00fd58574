"""Random numbers that a program holds, from a seed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import islice
from math import prod
from numbers import Integral

from tabla.languages.tile.dimensions import TensorDim, size_of
from tabla.languages.tile.places import here, refuse
from tabla.languages.tile.program import Values
from tabla.languages.tile.tensors import Tensor

_BITS = 64
_MASK = (1 << _BITS) - 1
FRACTION = 16
"""Fraction bits of a random number."""


def prng(seed: int, dims: Sequence[TensorDim | int] | TensorDim | int) -> Tensor:
    """Return numbers of [0, 1) in a shape, evenly distributed multiples of 2^-16. A seed gives the same numbers always.

    They are numbers of the program, the same for each sample. A number format with fewer fraction bits rounds them.
    """
    if isinstance(seed, bool) or not isinstance(seed, Integral):
        refuse(f"the seed {seed!r} is not an integer", "write prng(1, [4, 6])")
    sizes = tuple(size_of(size) for size in (dims if isinstance(dims, Sequence) else (dims,)))
    if any(size < 1 for size in sizes):
        refuse(f"random numbers of shape {sizes}", "sizes are positive")
    drawn = islice(splitmix(int(seed)), prod(sizes))
    values = tuple(Fraction(each >> (_BITS - FRACTION), 1 << FRACTION) for each in drawn)
    return Tensor(Values(shape=sizes, kind="float", values=values, span=here()))


def splitmix(seed: int) -> Iterator[int]:
    """Yield the 64-bit integers of SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators)."""
    state = seed & _MASK
    while True:
        state = (state + 0x9E3779B97F4A7C15) & _MASK
        mixed = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _MASK
        yield mixed ^ (mixed >> 31)
