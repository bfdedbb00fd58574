"""What every task builder needs: the mapped graph on its layout, and the laws; and how strands become a task."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tabla.ir.format import Format
from tabla.ir.graph import Affine, Graph, Linear, Product, Read, Statement, Term
from tabla.mapping.fit import Fit
from tabla.mapping.places import EVERY, ROOT, Place, Span, Spot
from tabla.mapping.search import Mapping as Chosen
from tabla.mapping.search import static_tensors
from tabla.strands.layout import Layout
from tabla.strands.leaving import Nest, departing
from tabla.strands.loops import Lanes, Loop, address, parts_of
from tabla.strands.regions import Regions, gathers, read_ports, write_ports
from tabla.strands.strand import Address, Operation, Strand
from tabla.strands.tasks import Access, Port, Shown, Task
from tabla.templates.template import Template, functions, timing

MOST_FORWARDED = 16
"""Longest vector that goes from register to register: a strand follows the one before it by fewer cycles than that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """What a root strand yields: the loops and the interval at which words show, first in `show`, and in which
    register."""

    loops: tuple[Loop, ...]
    interval: int
    show: int
    register: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """One mapping on an allocated layout.

    `readers` counts the statements (and results) that read a tensor, `made` is the position of the last statement that
    writes it; the results `departing` leave as they are made.
    """

    graph: Graph
    chosen: Chosen
    layout: Layout
    template: Template
    format: Format
    regions: Regions
    static: frozenset[str]
    readers: Mapping[str, int]
    made: Mapping[str, int]
    shifts: tuple[int, ...]
    departing: Mapping[str, str]

    @staticmethod
    def of(graph: Graph, chosen: Chosen, layout: Layout, template: Template, format: Format) -> Site:
        """Collect what the builders ask for again and again."""
        readers: dict[str, int] = {}
        for statement in graph.statements:
            for tensor in statement.sources:
                readers[tensor] = readers.get(tensor, 0) + 1
        for _, tensor in graph.results:
            readers[tensor] = readers.get(tensor, 0) + 1
        shifts = {s.operation.shift for s in graph.statements if isinstance(s.operation, Linear | Product)} - {0}
        return Site(
            graph=graph,
            chosen=chosen,
            layout=layout,
            template=template,
            format=format,
            regions=Regions(layout),
            static=static_tensors(graph),
            readers=readers,
            made={statement.target: n for n, statement in enumerate(graph.statements)},
            shifts=(0, *sorted(shifts)),
            departing=departing(graph, chosen.fits),
        )

    def up(self, statement: Statement) -> int:
        """Lane issue to the root issue that takes its sum: the group's own, or that of the whole array."""
        return self.word_up + (self.template.array_levels * timing().tree_level if statement.crosses else 0)

    @property
    def word_up(self) -> int:
        """Lane issue to the root issue that takes one lane's word."""
        return 1 + self.template.tree_levels * timing().tree_level

    @property
    def down(self) -> int:
        """Root issue to the lane issue that takes its result from the bus."""
        return timing().result + timing().broadcast - timing().operand

    def sequencers(self, span: Span) -> tuple[int, ...]:
        """The sequencers that drive lanes; none named: all."""
        each = self.template.lanes_per_sequencer
        return tuple(range(span.first // each, (span.first + span.lanes) // each))

    def scalar(self, tensor: str) -> bool:
        """Whether it has one element."""
        return self.graph.tensors[tensor].size == 1

    def home(self, tensor: str) -> Spot:
        """Where it is computed or updated."""
        return self.chosen.homes[self.layout.owner(tensor)]

    def function_cycles(self, name: str) -> int:
        """Latency of a function in this format."""
        return functions()[name].cycles(self.format.width, self.format.fraction)

    def early_first(self, terms: Sequence[Term]) -> list[Term]:
        """Terms in the order in which their words are made: the sum waits for none longer than it must."""
        return sorted(terms, key=lambda t: max(self.made.get(f.tensor, -1) for f in t.factors if isinstance(f, Read)))

    def shift(self, statement: Statement) -> int:
        """Index of the statement's shift in the shift table."""
        return self.shifts.index(statement.operation.shift) if isinstance(statement.operation, Linear | Product) else 0

    def moving(self, tensor: str) -> bool:
        """Whether copies of it must be made for each sample."""
        return tensor not in self.static and self.graph.tensors[tensor].role not in ("input", "label")

    def copies(self, tensor: str) -> list[Spot]:
        """Spots to which each sample copies it."""
        if not self.moving(tensor):
            return []
        home = self.chosen.homes.get(tensor)
        return [s for t, s in self.chosen.copies if t == tensor and s != home]

    def bus_scalars(self) -> frozenset[str]:
        """Scalars that some statement takes from the bus."""
        return frozenset(f.bus for f in self.chosen.fits if f.bus and self.scalar(f.bus))

    def wanted_at_root(self, tensor: str) -> bool:
        """Whether some statement reads it there, or the root broadcasts it to lanes."""
        needs = {need for fit in self.chosen.fits for need in fit.needs}
        spots = {spot for name, spot in (*needs, *self.chosen.copies) if name == tensor} - {self.home(tensor)}
        return (tensor, ROOT) in needs or len(spots) > 1

    def parts(self, statement: Statement, fit: Fit) -> list[Statement]:
        """The statement as so many as its fit asks for."""
        return parts_of(statement, fit, self.template.lanes)

    def words_in_every_lane(self, tensor: str) -> int:
        """How many words of a vector lanes read where all of them have it, the first ones."""
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

    def passing(self, left: Container[str]) -> list[str]:
        """Of the results that have `left` as they were made, those that nobody reads at the root."""
        return [t for shown, t in self.graph.results if shown in left and self._unread(t)]

    def _unread(self, tensor: str) -> bool:
        return self.readers[tensor] == 1 if self.home(tensor) == ROOT else not self.wanted_at_root(tensor)

    def root_write(
        self, target: str, write: Sequence[Affine], output: Output, name: str, *, leaves: bool = False
    ) -> Strand:
        """The strand that writes a root result to its place, and out when it `leaves` as it is made; by the `name` of
        what makes it.
        """
        model = int(self.layout.owner(target) != target)
        fields: dict[str, str | int] = {"source": output.register, "to_output": int(leaves), "model": model}
        addresses: dict[str, Address] = {}
        if not leaves or self.layout.holds(target, ROOT):
            fields["to_memory"] = 1
            addresses["address"] = address(self.layout.place(target, ROOT), write, output.loops)
        return Strand(
            unit="root_write",
            start=output.show,
            interval=output.interval,
            comment=name,
            counts=tuple(x.count for x in output.loops),
            body=(Operation(fields=fields, addresses=addresses),),
        )

    def lane_write(
        self, statement: Statement, lanes: Lanes, loops: tuple[Loop, ...], start: int, interval: int, comment: str
    ) -> Strand:
        """The strand that writes what lanes make of a statement into every bank of its place, first in `start`."""
        place = self.layout.place(statement.target, self.home(statement.target))
        model = int(self.layout.owner(statement.target) != statement.target)
        banks = {f"to_{bank}": 1 for bank in place.banks}
        fields: dict[str, str | int] = {"source": "result", "model": model, **banks}
        to = {"address": address(place, statement.write, loops, lanes), **lanes.bounds(loops)}
        return Strand(
            unit="lane_write",
            start=start,
            interval=interval,
            counts=tuple(loop.count for loop in loops),
            comment=comment,
            body=(Operation(fields=fields, addresses=to),),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Extras:
    """What a task offers beside its strands; cycles are those of the strands as given."""

    shown: tuple[Shown, ...] = ()
    function: tuple[int, int] | None = None
    holds: str = ""
    produces: tuple[str, ...] = ()
    shows: str = ""
    leaves: tuple[Nest, ...] = ()
    bus_until: int | None = None


def task_of(site: Site, name: str, strands: Sequence[Strand], extras: Extras, *, statement: int = -1) -> Task:
    """A task from strands: shifted to start at 0, every access listed."""
    zero = min(s.start for s in strands)
    moved = tuple(s.at(s.start - zero) for s in strands)
    reads, ports = _reads(site, moved)
    arrivals, uses = _bus(moved)
    if extras.bus_until is not None:
        uses.append(extras.bus_until - zero)
    span = extras.function
    return Task(
        name=name,
        strands=moved,
        reads=tuple(reads),
        writes=tuple(_writes(site, moved)),
        ports=tuple(ports),
        bus=(min(arrivals), max(uses)) if arrivals else None,
        holds=extras.holds,
        function=(span[0] - zero, span[1] - zero) if span else None,
        shown=tuple(replace(s, show=s.show - zero) for s in extras.shown),
        produces=extras.produces,
        shows=extras.shows,
        leaves=extras.leaves,
        statement=statement,
    )


def _slots(strands: Sequence[Strand]) -> Iterator[tuple[int, Strand, int, Operation]]:
    for n, strand in enumerate(strands):
        for slot, operation in enumerate(strand.body):
            yield n, strand, slot, operation


def _reads(site: Site, strands: Sequence[Strand]) -> tuple[list[Access], list[Port]]:
    reads: list[Access] = []
    ports: list[Port] = []
    for n, strand, slot, operation in _slots(strands):
        for generator, memory in read_ports(strand.unit, operation):
            anywhere = gathers(operation, generator)
            access = site.regions.access(memory, strand, slot, operation.addresses[generator], anywhere=anywhere)
            tensor = access.key[0][0]
            if not anywhere and strand.unit == "root_issue":
                cycle = strand.start + slot * strand.interval + timing().operand
                port = Port(tensor=tensor, strand=n, slot=slot, port=generator, cycle=cycle, access=len(reads))
                # A sum takes its factors in every turn, its start value in the first ones only.
                turns = replace(strand, reduce=0) if generator != "c" else strand
                words = shown_words(turns, operation.addresses[generator])
                if strand.iterations == 1 and site.scalar(tensor):
                    ports.append(port)
                elif words:
                    ports.append(replace(port, words=words, interval=strand.interval if len(words) > 1 else 1))
            reads.append(access)
    return reads, ports


def shown_words(strand: Strand, at: Address) -> tuple[int, ...]:
    """The addresses that a strand touches in turn, one slot if several times; none if they cannot be forwarded."""
    alone = len(strand.body) == 1 and not strand.reduce
    short = strand.iterations == 1 or (strand.iterations <= MOST_FORWARDED and alone)
    return tuple(strand.values(at).tolist()) if short and not at.window else ()


def _writes(site: Site, strands: Sequence[Strand]) -> list[Access]:
    writes: list[Access] = []
    for _, strand, slot, operation in _slots(strands):
        done = set()
        for generator, memory in write_ports(strand.unit, operation):
            access = site.regions.access(memory, strand, slot, operation.addresses[generator])
            if access.key not in done:
                writes.append(access)
                done.add(access.key)
    return writes


def _bus(strands: Sequence[Strand]) -> tuple[list[int], list[int]]:
    """Cycles of the first words on the bus, and of the last uses."""
    arrivals, uses = [], []
    for _, strand, _, operation in _slots(strands):
        if strand.unit == "root_write" and operation.field("to_bus"):
            arrivals.append(strand.start + timing().broadcast)
            uses.append(strand.final + timing().broadcast)
        if strand.unit == "lane_write" and operation.field("source") == "bus":
            uses.append(strand.final)
    return arrivals, uses


__all__ = ["EVERY", "Extras", "Output", "Place", "Site", "task_of"]
