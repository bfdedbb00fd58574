"""Sets of elements that depend on one word, or on which that word depends, kept symbolically by axes.

A *claim* names the elements of a tensor by its *pinned* axes: along a pinned axis only the first element is claimed,
along every other axis all elements are. An axis of a single element is not pinned. A claim may hold fewer elements
than depend on the word, never more. With it goes how many cycles its elements are away from the word on any schedule:
the longest chain of the shortest ways from place to place (:mod:`tabla.schedule.bound.distances`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from tabla.graph.graph import Affine, Graph, Index, Read, Statement
from tabla.schedule.bound.distances import NOW, Distances, Times
from tabla.schedule.bound.trains import Train

Pins = frozenset[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """Elements of a tensor, by pinned axes, and their distance from the word in cycles.

    `times` holds the fewest cycles from the word's result to each element's result, or back, by the place where the
    element is made. Of elements that depend on the word, `last` holds the cycles until all of them can be there, and
    `train` the work that units issue before.
    """

    pins: Pins
    times: Times
    last: Times = NOW
    train: Train = field(default_factory=Train)

    def words(self, graph: Graph, tensor: str) -> int:
        """How many elements of the tensor are claimed."""
        return math.prod(extent for axis, extent in enumerate(graph.tensors[tensor].shape) if axis not in self.pins)

    def kept(self, distances: Distances) -> Claim:
        """Return the claim of a model that this claim of its update, in the sample before, gives."""
        times, last = distances.kept(self.times), distances.kept(self.last)
        return Claim(pins=self.pins, times=times, last=last, train=self.train.before())


Claims = Mapping[str, Claim]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """What is claimed of tensors, in the word's own sample and, through models, in the next or the one before."""

    own: Claims
    other: Claims


def all_of(tensors: Iterable[str]) -> Claims:
    """Claim every element of some tensors, at distance 0."""
    return {name: Claim(pins=frozenset(), times=NOW) for name in tensors}


def first_word(graph: Graph, tensor: str) -> Claim:
    """Claim the first element of a tensor, at distance 0."""
    shape = graph.tensors[tensor].shape
    return Claim(pins=frozenset(axis for axis, extent in enumerate(shape) if extent > 1), times=NOW)


def pinned_indices(subscripts: tuple[Affine, ...], pins: Pins, box: Mapping[str, Index]) -> frozenset[str] | None:
    """Return the indices that are 0 where the pinned axes are; None if a pinned axis is no plain index."""
    names = [plain(subscripts[axis], box) for axis in sorted(pins)]
    return None if "" in names else frozenset(names)


def largest(claims: Iterable[frozenset[str]]) -> frozenset[str] | None:
    """Return the largest claim, which has the fewest pinned indices."""
    return min(claims, key=_size, default=None)


def _size(pinned: frozenset[str]) -> tuple[int, list[str]]:
    """The order of claims: the larger claim comes first, and of equal ones the first by name."""
    return len(pinned), sorted(pinned)


def plain(subscript: Affine, box: Mapping[str, Index]) -> str:
    """Return the name of the index that a subscript is, if the index begins at 0; otherwise an empty name."""
    if subscript.constant or len(subscript.coefficients) != 1:
        return ""
    name, factor = subscript.coefficients[0]
    return name if factor == 1 and box[name].low == 0 else ""


def reads_all(graph: Graph, statement: Statement, tensor: str, pins: Pins, pinned: frozenset[str]) -> bool:
    """Return whether a statement whose `pinned` indices are 0 reads exactly what is claimed of a tensor."""
    return any(met(statement, read, pinned, graph) == pins for read in statement.reads if read.tensor == tensor)


def in_every_sum(statement: Statement, tensor: str) -> frozenset[str]:
    """Return the summed indices along which a statement reads a tensor, if every output sums over all that is read.

    Otherwise return none, as if the tensor is read along an output index or in several places.
    """
    outs = {index.name for index in statement.indices}
    reads = [read for read in statement.reads if read.tensor == tensor]
    return reads[0].names if len(reads) == 1 and outs.isdisjoint(reads[0].names) else frozenset()


def last_in_sums(
    graph: Graph, statement: Statement, names: Iterable[str], forward: Claims, pinned: frozenset[str]
) -> tuple[str, frozenset[str]] | None:
    """Return a vector of which all claimed words join every sum of a statement, and the indices along which they do."""
    for name in names:
        summed = in_every_sum(statement, name)
        if summed and reads_all(graph, statement, name, forward[name].pins, pinned):
            return name, summed
    return None


def sources(statement: Statement, reads: Iterable[Read], claims: Claims) -> dict[str, frozenset[str]]:
    """Return, for each claimed tensor that is read, the indices that are 0 where a read meets what is claimed."""
    found: dict[str, frozenset[str]] = {}
    for read in reads:
        if read.tensor in claims:
            pinned = pinned_indices(read.subscripts, claims[read.tensor].pins, statement.box)
            if pinned is not None:
                found[read.tensor] = min(pinned, found.get(read.tensor, pinned), key=_size)
    return found


def met(statement: Statement, read: Read, pinned: frozenset[str], graph: Graph) -> Pins | None:
    """Return the pinned axes of what a read meets; None if it meets neither one nor all elements along some axis."""
    box, pins, seen = statement.box, set(), set()
    for axis, (subscript, extent) in enumerate(zip(read.subscripts, graph.tensors[read.tensor].shape, strict=True)):
        if subscript == Affine():
            pins |= {axis} if extent > 1 else set()
            continue
        name = plain(subscript, box)
        if not name or name in seen:
            return None
        seen.add(name)
        if name in pinned:
            pins.add(axis)
        elif box[name].high != extent:
            return None
    return frozenset(pins)
