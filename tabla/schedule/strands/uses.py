"""How a mapping uses each tensor: who reads it, where it lies, and where copies of it are made."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass

from tabla.graph.format import Format
from tabla.graph.graph import Graph, Statement
from tabla.schedule.mapping.fit import Fit
from tabla.schedule.mapping.mapping import Mapping as Chosen
from tabla.schedule.mapping.mapping import static_tensors
from tabla.schedule.mapping.places import EVERY, ROOT, Span, Spot
from tabla.schedule.strands.leaving import departing
from tabla.schedule.strands.loops import parts_of
from tabla.templates.template import Template, timing


@dataclass(frozen=True, slots=True, kw_only=True)
class Uses:
    """The uses of the tensors under one mapping; no address is needed to know them.

    `readers` counts the statements and results that read a tensor. `made` has the position of the last statement that
    writes it. `departing` has the results that the root sends out word by word as it makes them: by tensor, the name
    under which each is returned.
    """

    chosen: Chosen
    format: Format
    static: frozenset[str]
    readers: Mapping[str, int]
    made: Mapping[str, int]
    departing: Mapping[str, str]

    @staticmethod
    def of(chosen: Chosen, format: Format) -> Uses:
        """Collect what code generation asks for again and again."""
        graph = chosen.graph
        readers: dict[str, int] = {}
        for statement in graph.statements:
            for tensor in statement.sources:
                readers[tensor] = readers.get(tensor, 0) + 1
        for _, tensor in graph.results:
            readers[tensor] = readers.get(tensor, 0) + 1
        return Uses(
            chosen=chosen,
            format=format,
            static=static_tensors(graph),
            readers=readers,
            made={statement.target: n for n, statement in enumerate(graph.statements)},
            departing=departing(graph, chosen.fits),
        )

    @property
    def graph(self) -> Graph:
        """The graph that is mapped."""
        return self.chosen.graph

    @property
    def template(self) -> Template:
        """The array, its number of roots and sequencers chosen."""
        return self.chosen.template

    def up(self, statement: Statement) -> int:
        """Return the cycles from a lane issue to the root issue that takes its sum: the group's, or the array's."""
        return self.word_up + (self.template.array_levels * timing().tree_level if statement.crosses else 0)

    @property
    def word_up(self) -> int:
        """The cycles from a lane issue to the root issue that takes one lane's word."""
        return 1 + self.template.tree_levels * timing().tree_level

    @property
    def down(self) -> int:
        """The cycles from a root issue to the lane issue that takes its result from the bus."""
        return timing().result + timing().broadcast - timing().operand

    def sequencers(self, span: Span) -> tuple[int, ...]:
        """Return the sequencers that drive the lanes of a span; none named stands for all."""
        each = self.template.lanes_per_sequencer
        return tuple(range(span.first // each, (span.first + span.lanes) // each))

    def lanes(self, spot: Spot) -> int:
        """Count the lanes that a spot lies in."""
        return spot.span.lanes or self.template.lanes

    def scalar(self, tensor: str) -> bool:
        """Say whether a tensor has one element."""
        return self.graph.tensors[tensor].size == 1

    def home(self, tensor: str) -> Spot:
        """Return the spot where a tensor is computed or updated."""
        return self.chosen.homes[self.graph.owner(tensor)]

    def moving(self, tensor: str) -> bool:
        """Say whether copies of a tensor must be made for each sample."""
        return tensor not in self.static and self.graph.tensors[tensor].role not in ("input", "label")

    def copies(self, tensor: str) -> list[Spot]:
        """Return the spots to which each sample copies a tensor: not its home, and none that its update keeps."""
        if not self.moving(tensor):
            return []
        kept = {(tensor, self.chosen.homes.get(tensor)), *self.chosen.kept}
        return [s for t, s in self.chosen.copies if t == tensor and (t, s) not in kept]

    def taken(self, tensor: str) -> list[Spot]:
        """Return the spots in the lanes that may take a tensor from the bus as the root makes it.

        Of the next value of a model these are the copies that its update keeps.
        """
        owner = self.graph.owner(tensor)
        if owner != tensor:
            return [spot for model, spot in self.chosen.kept if model == owner]
        return [spot for spot in self.copies(tensor) if spot != ROOT]

    def bus_scalars(self) -> frozenset[str]:
        """Return the scalars that some statement takes from the bus."""
        return frozenset(f.bus for f in self.chosen.fits if f.bus and self.scalar(f.bus))

    def wanted_at_root(self, tensor: str) -> bool:
        """Say whether some statement reads a tensor at the root, or the root broadcasts it to lanes."""
        needs = {need for fit in self.chosen.fits for need in fit.needs}
        spots = {spot for name, spot in (*needs, *self.chosen.copies) if name == tensor} - {self.home(tensor)}
        return (tensor, ROOT) in needs or len(spots) > 1

    def parts(self, statement: Statement, fit: Fit) -> list[Statement]:
        """Divide a statement into as many statements as its fit asks for."""
        return parts_of(statement, fit, self.template.lanes)

    def words_in_every_lane(self, tensor: str) -> int:
        """Count the first words of a vector that lanes read where all of them have it."""
        words = 0
        for statement, fit in zip(self.graph.statements, self.chosen.fits, strict=True):
            if (tensor, EVERY) not in fit.needs:
                continue
            if not fit.early or fit.bus != tensor:
                return self.graph.tensors[tensor].size
            for part in self.parts(statement, fit)[:1]:
                ends = [r.subscripts[0].bounds(part.box)[1] for r in part.reads if r.tensor == tensor]
                words = max(words, *(end + 1 for end in ends))
        return words or self.graph.tensors[tensor].size

    def unread_at_root(self, left: Container[str]) -> list[str]:
        """Return the tensors that nobody reads at the root, of the results that have `left` as they were made."""
        return [tensor for shown, tensor in self.graph.results if shown in left and self._unread(tensor)]

    def _unread(self, tensor: str) -> bool:
        return self.readers[tensor] == 1 if self.home(tensor) == ROOT else not self.wanted_at_root(tensor)
