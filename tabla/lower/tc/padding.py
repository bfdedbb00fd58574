"""Padded copies: tensors with zeros around them, for reads that a condition chooses only where they are inside.

A choice computes both of its values, and a read outside its tensor would be one of them. The copy has an element
wherever the statement's reads of the tensor reach. Which word it has outside the tensor does not matter, because no
choice takes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from tabla.ir.constraints import ends
from tabla.ir.graph import Affine, Index, Linear, Read, Term
from tabla.lang.tc import program
from tabla.lang.tc.program import walk
from tabla.lower.builder import GraphBuilder
from tabla.lower.tc.points import Box, Points
from tabla.lower.tc.words import Held
from tabla.source import Span

MOST_PADDING = 4
"""A copy has at most so many times the elements of its tensor. Reads that reach further become gathers."""


def reach(points: Points, tensor: str) -> Box:
    """Return the ranges of the subscripts that the value's affine reads of a tensor have at some point, axis by axis,
    with those of the tensor itself.
    """
    found = list(points.bounds(tensor))
    for read in walk(points.value):
        if isinstance(read, program.Read) and read.tensor == tensor:
            for axis, subscript in enumerate(read.subscripts):
                affine = points.affine(subscript)
                taken = None if affine is None else ends(affine, points.constraints, points.all)
                if taken is not None:
                    low, high = found[axis]
                    found[axis] = (min(low, taken[0]), max(high, taken[1] + 1))
    return tuple(found)


def padded(builder: GraphBuilder, owner: str, held: Held, inside: Box, wide: Box, span: Span) -> Held | None:
    """Copy the elements of a tensor that have the subscripts `inside`, and return a copy with all those of `wide`.

    Return None if the copy would be too large.
    """
    if _volume(wide) > MOST_PADDING * _volume(inside):
        return None
    indices = tuple(Index(name=f"axis{axis}", low=low, high=high) for axis, (low, high) in enumerate(inside))
    copy = Read(tensor=held.tensor, subscripts=_from(indices, held.base), span=span)
    name, base = builder.temporary(owner), tuple(low for low, _ in wide)
    builder.tensor(name, tuple(high - low for low, high in wide), "value", origin=owner, span=span, filled=True)
    builder.emit(name, _from(indices, base), indices, Linear(terms=(Term(factors=(copy,)),)), span)
    return Held(tensor=name, base=base)


def _from(indices: Sequence[Index], base: Sequence[int]) -> tuple[Affine, ...]:
    return tuple(Affine.make(-low, {index.name: 1}) for index, low in zip(indices, base, strict=True))


def _volume(box: Box) -> int:
    return prod(high - low for low, high in box)
