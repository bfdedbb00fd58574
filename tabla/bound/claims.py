"""What depends on one word, and what that word depends on, counted symbolically: of elements by axes.

Of each tensor a set of *pinned* axes, along which only the first element is claimed; along the others every element is.
A claim is never too large. With it goes how many cycles each of these elements is away from the word, on any schedule:
the longest chain of shortest ways from place to place (:mod:`tabla.bound.distances`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from tabla.bound.distances import NOW, Distances, Times
from tabla.bound.trains import Train
from tabla.ir.constraints import points
from tabla.ir.graph import Affine, Graph, Index, Read, Statement

Pins = frozenset[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """Elements of a tensor, by pinned axes, and the fewest cycles from the word to each of them, or from each to it.

    `times`: both as results, the element by where it is made. Of what depends on the word, `last`: until all of them
    can be there; `train`: what units issue before.
    """

    pins: Pins
    times: Times
    last: Times = NOW
    train: Train = field(default_factory=Train)

    def words(self, graph: Graph, tensor: str) -> int:
        """How many elements of the tensor are claimed."""
        return math.prod(extent for axis, extent in enumerate(graph.tensors[tensor].shape) if axis not in self.pins)

    def kept(self, distances: Distances) -> Claim:
        """Of a model, from that of its update in the sample before."""
        times, last = distances.kept(self.times), distances.kept(self.last)
        return Claim(pins=self.pins, times=times, last=last, train=self.train.before())


Claims = Mapping[str, Claim]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """What is claimed of tensors, in a word's own sample and, through models, in the one beside it."""

    own: Claims
    other: Claims


def all_of(tensors: Iterable[str]) -> Claims:
    """Every element of some tensors, at once."""
    return {name: Claim(pins=frozenset(), times=NOW) for name in tensors}


def first_word(graph: Graph, tensor: str) -> Claim:
    """The first element of a tensor, now."""
    return Claim(pins=frozenset(range(len(graph.tensors[tensor].shape))), times=NOW)


def whole(graph: Graph, tensor: str) -> bool:
    """Whether its statements write every element."""
    written = sum(points(s, [index.name for index in s.indices]) for s in graph.writers(tensor))
    return written >= graph.tensors[tensor].size


def pinned_indices(subscripts: tuple[Affine, ...], pins: Pins, box: Mapping[str, Index]) -> frozenset[str] | None:
    """The indices that stand at 0 where the pinned axes do; None if that cannot be said."""
    names = [plain(subscripts[axis], box) for axis in sorted(pins)]
    return None if "" in names else frozenset(names)


def largest(claims: Iterable[frozenset[str]]) -> frozenset[str] | None:
    """The largest claim: that with the fewest pinned indices."""
    return min(claims, key=_size, default=None)


def _size(pinned: frozenset[str]) -> tuple[int, list[str]]:
    """Smaller for a larger claim; ties by name."""
    return len(pinned), sorted(pinned)


def plain(subscript: Affine, box: Mapping[str, Index]) -> str:
    """The index that a subscript is, if it begins at 0; empty otherwise."""
    if subscript.constant or len(subscript.coefficients) != 1:
        return ""
    name, factor = subscript.coefficients[0]
    return name if factor == 1 and box[name].low == 0 else ""


def reads_all(graph: Graph, statement: Statement, tensor: str, pins: Pins, pinned: frozenset[str]) -> bool:
    """Whether a statement reads all that is claimed of a tensor, where some indices stand at 0."""
    return any(met(statement, read, pinned, graph) == pins for read in statement.reads if read.tensor == tensor)


def in_every_sum(statement: Statement, tensor: str) -> frozenset[str]:
    """The summed indices along which a statement reads a tensor, if every output sums over all that it reads of it;
    else none.
    """
    outs = {index.name for index in statement.indices}
    reads = [read for read in statement.reads if read.tensor == tensor]
    return reads[0].names if len(reads) == 1 and outs.isdisjoint(reads[0].names) else frozenset()


def last_in_sums(
    graph: Graph, statement: Statement, names: Iterable[str], forward: Claims, pinned: frozenset[str]
) -> tuple[str, frozenset[str]] | None:
    """A vector of which all words that are claimed join every sum of a statement, and along which indices."""
    for name in names:
        summed = in_every_sum(statement, name)
        if summed and reads_all(graph, statement, name, forward[name].pins, pinned):
            return name, summed
    return None


def sources(statement: Statement, reads: Iterable[Read], claims: Claims) -> dict[str, frozenset[str]]:
    """For each tensor that is read and claimed: the indices that stand at 0 where a read meets what is claimed."""
    found: dict[str, frozenset[str]] = {}
    for read in reads:
        if read.tensor in claims:
            pinned = pinned_indices(read.subscripts, claims[read.tensor].pins, statement.box)
            if pinned is not None:
                found[read.tensor] = min(pinned, found.get(read.tensor, pinned), key=_size)
    return found


def met(statement: Statement, read: Read, pinned: frozenset[str], graph: Graph) -> Pins | None:
    """The pinned axes of the elements that a read meets; None if along some axis it is not the first, or all."""
    box, pins, seen = statement.box, set(), set()
    for axis, (subscript, extent) in enumerate(zip(read.subscripts, graph.tensors[read.tensor].shape, strict=True)):
        if subscript == Affine():
            pins.add(axis)
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
