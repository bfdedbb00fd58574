"""Addresses: every place of a mapping gets banks and a base in the memories of the array."""

from __future__ import annotations

from collections.abc import Mapping as Map
from dataclasses import dataclass, field, replace

from tabla.ir.graph import Graph, Product
from tabla.ir.running import running
from tabla.mapping.places import EVERY, ROOT, Bank, Place, Spot
from tabla.mapping.search import Mapping, static_tensors

Key = tuple[str, Spot]


def scratch(statement: int) -> Spot:
    """The place of a Product's partial words, by statement: one run of them per output element."""
    return Spot("root", statement)


def is_scratch(spot: Spot) -> bool:
    """Whether a place holds partial words of a Product."""
    return spot.kind == "root" and spot != ROOT


@dataclass(slots=True)
class Layout:
    """Places by (tensor, spot). `twin` holds lane copies, in `interim`, of streamed tensors that clash in `data`."""

    graph: Graph
    pes: int
    places: dict[Key, Place] = field(default_factory=dict)
    twins: dict[Key, Place] = field(default_factory=dict)

    def place(self, tensor: str, spot: Spot) -> Place:
        """The place of a tensor at a spot; the next value of a model lies where the model lies."""
        return self.places[(self.owner(tensor), spot)]

    def holds(self, tensor: str, spot: Spot) -> bool:
        """Whether the tensor has a place at the spot."""
        return (self.owner(tensor), spot) in self.places

    def owner(self, tensor: str) -> str:
        """The model that a next value belongs to, else the tensor itself."""
        return next((m for m, n in self.graph.updates.items() if n == tensor), tensor)

    def sources(self, tensor: str, spot: Spot) -> tuple[tuple[Bank, Place], ...]:
        """Every bank in which a lane can read it."""
        place = self.place(tensor, spot)
        found = [(bank, place) for bank in place.banks]
        if twin := self.twins.get((self.owner(tensor), spot)):
            found.append(("interim", twin))
        return tuple(found)

    def widen(self, tensor: str, spot: Spot) -> bool:
        """Give a lane tensor a second bank; False if it has one already."""
        key = (self.owner(tensor), spot)
        place = self.places[key]
        if place.banks == ("data",):
            if key in self.twins:
                return False
            self.twins[key] = replace(place, banks=("interim",))
            return True
        if len(place.banks) > 1:
            return False
        # Its own bank stays first: by that, what is loaded is told from what each sample copies.
        self.places[key] = replace(
            place, banks=("model", "interim") if place.banks[0] == "model" else ("interim", "model")
        )
        return True


def first_layout(graph: Graph, mapping: Mapping, *, pes: int) -> Layout:
    """Banks by role: streamed words in `data`, loaded ones in `model`, computed ones in `interim`; the root in
    two memories."""
    layout = Layout(graph, pes)
    static = static_tensors(graph)
    keys: set[Key] = set()
    for tensor, spot in (*mapping.homes.items(), *mapping.copies):
        keys.add((layout.owner(tensor), spot))
    for tensor, spot in sorted(keys):
        record = graph.tensors[tensor]
        banks: tuple[Bank, ...]
        if record.role in ("input", "label"):
            banks = ("data",)
        elif spot == ROOT:
            banks = ("memory",)
        elif tensor in static or (record.role == "model" and mapping.homes.get(tensor) == spot):
            banks = ("model",)
        else:
            banks = ("interim",)
        layout.places[(tensor, spot)] = Place(
            tensor=tensor, spot=spot, shape=record.shape, pes=spot.span.lanes or pes, banks=banks
        )
    for statement in graph.statements:
        if isinstance(statement.operation, Product):
            steps = 1
            for index in statement.reduced:
                steps *= index.extent
            found = running(statement)
            # A product that runs on has one run of partial words for all its outputs.
            rows = (i.extent for i in statement.indices if found is None or i != found.index)
            shape = (*rows, steps + 1)
            layout.places[(statement.target, scratch(statement.id))] = Place(
                tensor=statement.target, spot=scratch(statement.id), shape=shape, pes=pes, banks=("memory",)
            )
    return layout


@dataclass(frozen=True, slots=True, kw_only=True)
class Depths:
    """Words used of each memory: per lane, or of the root; windows of the data memories count one sample."""

    model: int
    data: int
    interim: int
    root_data: int
    root_memory: int


def allocate(layout: Layout) -> Depths:
    """Give every place a base. A place in two banks has one address, so both banks advance together."""
    used: dict[str, int] = {"model": 0, "data": 0, "interim": 0, "root data": 0, "root memory": 0}

    def put(table: dict[Key, Place], key: Key) -> None:
        place = table[key]
        names = [f"root {b}" if place.spot.kind == "root" else b for b in place.banks]
        base = max(used[n] for n in names)
        table[key] = replace(place, base=base)
        for name in names:
            used[name] = base + place.words

    # Shared addresses first: both banks are level then, and no gap opens.
    order = sorted(layout.places, key=lambda k: (-len(layout.places[k].banks), k))
    for key in order:
        put(layout.places, key)
    for key in sorted(layout.twins):
        put(layout.twins, key)
    return Depths(
        model=used["model"],
        data=used["data"],
        interim=used["interim"],
        root_data=used["root data"],
        root_memory=used["root memory"],
    )


def hollow(graph: Graph) -> frozenset[str]:
    """Computed tensors with elements that no statement writes, and that something reads as a whole: they are zero."""
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


def preloaded(layout: Layout, mapping_static: frozenset[str]) -> Map[Key, Place]:
    """Places loaded with the models: models at home, constants, models that never change, hollow tensors."""
    zeros = hollow(layout.graph)
    return {
        key: place
        for key, place in sorted(layout.places.items())
        if key[0] in mapping_static
        or (key[0] in zeros and not is_scratch(key[1]))
        or (layout.graph.tensors[key[0]].role == "model" and place.banks[0] in ("model", "memory"))
    }


__all__ = [
    "EVERY",
    "ROOT",
    "Depths",
    "Key",
    "Layout",
    "Place",
    "allocate",
    "first_layout",
    "hollow",
    "is_scratch",
    "preloaded",
    "scratch",
]
