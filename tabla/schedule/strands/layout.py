"""The layout: the banks and the base address of every place in the memories of the array."""

from __future__ import annotations

from collections.abc import Mapping as Map
from dataclasses import dataclass, field, replace

from tabla.graph.graph import Graph
from tabla.schedule.mapping.places import ROOT, Bank, Place, Spot

Key = tuple[str, Spot]
Span = tuple[int, int]
"""The first and the last of some cycles of a sample, both included."""
Ranges = tuple[tuple[int, int], ...]
"""Addresses [begin, end), in order and apart from each other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lifetime:
    """The cycles of a sample in which words of a place are written, and those in which they are read.

    `read` is None for words that nobody reads. A single word may be written and read in fewer cycles.
    """

    written: Span
    read: Span | None

    @property
    def span(self) -> Span:
        """The first and the last cycle in which any word of the place is needed."""
        read = self.read or self.written
        return min(self.written[0], read[0]), max(self.written[1], read[1])

    def of(self, kind: str) -> Span | None:
        """Return the span of the cycles of a kind, ``read`` or ``write``."""
        return self.read if kind == "read" else self.written


def scratch(statement: int) -> Spot:
    """Return the spot of the partial words of a `Product`, by the number of its statement.

    There is one run of partial words for each output element, or for each row of outputs of a scan.
    """
    return Spot("root", statement)


def is_scratch(spot: Spot) -> bool:
    """Say whether a spot holds partial words of a `Product`."""
    return spot.kind == "root" and spot != ROOT


@dataclass(frozen=True, slots=True, kw_only=True)
class Depths:
    """The words used of each memory: per lane, or of the root. The data memories' words are those of one sample."""

    model: int = 0
    data: int = 0
    interim: int = 0
    root_data: int = 0
    root_memory: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Where every word of a mapped graph lies.

    `places` has the place of each tensor at each spot. `twins` has the second copies, in the lanes' `interim` memories,
    of streamed tensors of which one operation reads two words. `depths` has the words used of each memory.
    `lifetimes` has the places that may share addresses with others that are named there. All other places have their
    addresses to themselves at all times. If two places share an address, then neither their reads nor their writes
    mix, so the cycle of a read or a write says which of the two is meant.

    `needed` has the addresses that are needed of a memory: of ``model``, ``data`` and ``interim`` for each lane of the
    array, of ``root data`` and ``root memory`` for each of the operands a, b and c of a root. Those of data memories
    are in the first slot of the ring. Of a memory that it does not name all words are needed everywhere.
    """

    graph: Graph
    places: Map[Key, Place]
    twins: Map[Key, Place] = field(default_factory=dict)
    depths: Depths = field(default_factory=Depths)
    lifetimes: Map[Key, Lifetime] = field(default_factory=dict)
    needed: Map[str, tuple[Ranges, ...]] = field(default_factory=dict)

    @property
    def wide_memories(self) -> frozenset[str]:
        """The memories that hold wide models: ``model`` and ``interim`` of the lanes, ``root memory``."""
        wide = [place for place in self.places.values() if place.guard]
        return frozenset(f"root {b}" if place.spot.kind == "root" else b for place in wide for b in place.banks)

    def place(self, tensor: str, spot: Spot) -> Place:
        """Return the place of a tensor at a spot. The next value of a model lies where the model lies."""
        return self.places[(self.owner(tensor), spot)]

    def holds(self, tensor: str, spot: Spot) -> bool:
        """Say whether a tensor has a place at a spot."""
        return (self.owner(tensor), spot) in self.places

    def owner(self, tensor: str) -> str:
        """Return the model that a next value belongs to, else the tensor itself."""
        return self.graph.owner(tensor)

    def sources(self, tensor: str, spot: Spot) -> tuple[tuple[Bank, Place], ...]:
        """Return every bank in which a lane can read a tensor, with its place there."""
        place = self.place(tensor, spot)
        found = [(bank, place) for bank in place.banks]
        if twin := self.twins.get((self.owner(tensor), spot)):
            found.append(("interim", twin))
        return tuple(found)

    def widened(self, tensor: str, spot: Spot) -> Layout | None:
        """Return the layout with a second bank for a tensor of the lanes; None if it has two already."""
        key = (self.owner(tensor), spot)
        place = self.places[key]
        if place.banks == ("data",):
            if key in self.twins:
                return None
            return replace(self, twins={**self.twins, key: replace(place, banks=("interim",))})
        if len(place.banks) > 1:
            return None
        # The first bank stays first, because it tells a place that is loaded from one that each sample copies.
        banks: tuple[Bank, ...] = ("model", "interim") if place.banks[0] == "model" else ("interim", "model")
        return replace(self, places={**self.places, key: replace(place, banks=banks)})

    def text(self) -> str:
        """Return the memory map, for people and golden tests."""
        lines = []
        for (tensor, spot), place in sorted(self.places.items()):
            shape = "x".join(str(n) for n in place.shape) or "scalar"
            lived = self.lifetimes.get((tensor, spot))
            when = f", cycles {lived.span[0]} to {lived.span[1]}" if lived else ""
            lines.append(f"{tensor} {shape} at {spot}: {'+'.join(place.banks)}[{place.base}] {place.words} words{when}")
        for (tensor, spot), place in sorted(self.twins.items()):
            lines.append(f"{tensor} twin at {spot}: {'+'.join(place.banks)}[{place.base}] {place.words} words")
        return "\n".join(lines) + "\n"


def hollow(graph: Graph) -> frozenset[str]:
    """Find the computed tensors with elements that no statement writes but that somebody may read.

    Such elements are zero: they are loaded with the models. A tensor may be read as a whole if it is a result, if it is
    `filled`, or if some statement writes it with strides.
    """
    written: dict[str, int] = {}
    strided: set[str] = set()
    for statement in graph.statements:
        points = 1
        for index in statement.indices:
            points *= index.extent
        written[statement.target] = written.get(statement.target, 0) + points
        if any(abs(c) > 1 or len(s.names) > 1 for s in statement.write for _, c in s.coefficients):
            strided.add(statement.target)
    shown = {t for _, t in graph.results}
    partial = {t for t, n in written.items() if n < graph.tensors[t].size}
    filled = {t for t in graph.tensors.values() if t.filled}
    read = shown | strided | {tensor.name for tensor in filled}
    return frozenset(partial & read) - set(graph.updates.values())


def preloaded(layout: Layout, static: frozenset[str]) -> Map[Key, Place]:
    """Return the places that are loaded with the models, in order.

    These are the models at home, constants, models that never change (`static`), and hollow tensors.
    """
    zeros = hollow(layout.graph)
    return {
        key: place
        for key, place in sorted(layout.places.items())
        if key[0] in static
        or (key[0] in zeros and not is_scratch(key[1]))
        or (layout.graph.tensors[key[0]].role == "model" and place.banks[0] in ("model", "memory"))
    }
