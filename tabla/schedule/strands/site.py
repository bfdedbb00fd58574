"""What every builder of tasks needs: the mapped graph on its layout, and the step from strands to a task."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace

from tabla.graph.graph import Affine, Linear, Product, Read, Statement, Term
from tabla.graph.predicted_part import PredictedPart
from tabla.schedule.mapping.places import ROOT
from tabla.schedule.strands.layout import Layout
from tabla.schedule.strands.leaving import Nest
from tabla.schedule.strands.loops import Lanes, Loop, address
from tabla.schedule.strands.regions import Regions, gathers, reading_generators, scatters, writing_generators
from tabla.schedule.strands.strand import Address, Operation, Owner, Strand
from tabla.schedule.strands.tasks import Footprint, ForwardableOperand, Shown, Task
from tabla.schedule.strands.uses import Uses
from tabla.templates.template import functions, timing

MOST_FORWARDED = 16
"""The longest vector that is forwarded. The root issues a strand that takes a vector only after the strand that makes
it, so the first words of a longer vector no longer show by then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """What a strand of the root yields.

    Words show in `register`, which is ``result`` or ``function``: the first in cycle `show`, then one every `interval`
    cycles, in the order of `loops`.
    """

    loops: tuple[Loop, ...]
    interval: int
    show: int
    register: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Site(Uses):
    """One mapping on its layout: everything that the builders of tasks need.

    `regions` finds the place that an address belongs to. `shifts` is the build's table of shifts, 0 first. From
    position `wide_from` on they are those of updates of wide models, whose sums are shifted by the guard bits less.
    `learning` has the numbers of the statements that no prediction needs. It is empty where nothing predicts.
    """

    layout: Layout
    regions: Regions
    shifts: tuple[int, ...]
    wide_from: int
    learning: frozenset[int]

    @staticmethod
    def on(uses: Uses, layout: Layout) -> Site:
        """Put the uses of a mapping on its layout."""
        operations = [s.operation for s in uses.graph.statements if isinstance(s.operation, Linear | Product)]
        plain = (0, *sorted({each.shift for each in operations if not _guard(each)} - {0}))
        wide = sorted({each.shift - _guard(each) for each in operations if _guard(each)})
        known = {each.name: getattr(uses, each.name) for each in fields(Uses)}
        prediction = PredictedPart.of(uses.graph)
        every = frozenset(statement.id for statement in uses.graph.statements)
        return Site(
            **known,
            layout=layout,
            regions=Regions(layout),
            shifts=(*plain, *wide),
            wide_from=len(plain),
            learning=frozenset() if prediction is None else every - prediction.statements,
        )

    def function_cycles(self, name: str) -> int:
        """Return the latency, in cycles, of a function of the function unit in the build's format."""
        return functions()[name].cycles(self.format.width, self.format.fraction)

    def early_first(self, terms: Sequence[Term]) -> list[Term]:
        """Return terms in the order in which their words are made, so that a sum waits for no word too long."""
        return sorted(terms, key=lambda t: max(self.made.get(f.tensor, -1) for f in t.factors if isinstance(f, Read)))

    def shift(self, statement: Statement) -> int:
        """Return the position of a statement's shift in the table of shifts."""
        operation = statement.operation
        if not isinstance(operation, Linear | Product):
            return 0
        guard = _guard(operation)
        return self.shifts.index(operation.shift - guard, self.wide_from if guard else 0)

    def root_write(
        self, target: str, write: Sequence[Affine], output: Output, name: str, *, leaves: bool = False
    ) -> Strand:
        """Return the strand that writes words of the root to memory, to the output port, or to both.

        `write` has the subscripts of the elements of `target` that are written. With `leaves` the words go out, and to
        memory only if the layout has a place for them. `name` is that of the strand that makes the words.
        """
        model = int(self.layout.owner(target) != target)
        symbols: dict[str, str | int] = {"source": output.register, "to_output": int(leaves), "model": model}
        addresses: dict[str, Address] = {}
        if not leaves or self.layout.holds(target, ROOT):
            symbols["to_memory"] = 1
            addresses["address"] = address(self.layout.place(target, ROOT), write, output.loops)
        return Strand(
            unit="root_write",
            start=output.show,
            interval=output.interval,
            comment=name,
            counts=tuple(x.count for x in output.loops),
            body=(Operation(fields=symbols, addresses=addresses),),
        )

    def lane_write(
        self, statement: Statement, lanes: Lanes, loops: tuple[Loop, ...], start: int, interval: int, comment: str
    ) -> Strand:
        """Return the strand that writes what lanes compute into every bank of its place, first in cycle `start`."""
        place = self.layout.place(statement.target, self.home(statement.target))
        model = int(self.layout.owner(statement.target) != statement.target)
        banks = {f"to_{bank}": 1 for bank in place.banks}
        symbols: dict[str, str | int] = {"source": "result", "model": model, **banks}
        to = {"address": address(place, statement.write, loops, lanes), **lanes.bounds(loops)}
        return Strand(
            unit="lane_write",
            start=start,
            interval=interval,
            counts=tuple(loop.count for loop in loops),
            comment=comment,
            body=(Operation(fields=symbols, addresses=to),),
        )


def _guard(operation: Linear | Product) -> int:
    return operation.guard if isinstance(operation, Linear) else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Extras:
    """What a task offers beside its strands, in the terms of :class:`tabla.schedule.strands.tasks.Task`.

    Cycles are those of the strands as the builder gives them, before they are shifted to begin at 0. `bus_until` is
    the last cycle in which lanes still use a word of the bus.
    """

    shown: tuple[Shown, ...] = ()
    function: tuple[int, int] | None = None
    holds: str = ""
    produces: tuple[str, ...] = ()
    shows: str = ""
    leaves: tuple[Nest, ...] = ()
    bus_until: int | None = None


def task_of(site: Site, name: str, strands: Sequence[Strand], extras: Extras, *, statement: int = -1) -> Task:
    """Return the task of some strands: shifted so that the first begins in cycle 0, with every footprint listed.

    `statement` is the number of the statement that owns the strands without an owner of their own, -1 if none does.
    """
    zero = min(s.start for s in strands)
    owner = Owner(statement=statement)
    moved = tuple(
        _marked(site, strand.owned(owner if strand.owner == Owner() else strand.owner, strand.start - zero))
        for strand in strands
    )
    reads, forwardable = _reads(site, moved)
    arrivals, uses = _bus(moved)
    if extras.bus_until is not None:
        uses.append(extras.bus_until - zero)
    span = extras.function
    return Task(
        name=name,
        strands=moved,
        reads=tuple(reads),
        writes=tuple(_writes(site, moved)),
        forwardable=tuple(forwardable),
        bus=(min(arrivals), max(uses)) if arrivals else None,
        holds=extras.holds,
        function=(span[0] - zero, span[1] - zero) if span else None,
        shown=tuple(replace(s, show=s.show - zero) for s in extras.shown),
        produces=extras.produces,
        shows=extras.shows,
        leaves=extras.leaves,
        statement=statement,
    )


def _marked(site: Site, strand: Strand) -> Strand:
    """Return a strand whose operations say that they are for updates alone, if they are.

    A function that follows a statement in the same strand has its mark already.
    """
    if strand.owner.statement not in site.learning or not strand.unit.endswith("issue"):
        return strand
    return replace(strand, body=tuple(_learning(operation) for operation in strand.body))


def _learning(operation: Operation) -> Operation:
    marks: dict[str, str | int] = {"learns": 1} if operation.field("emit") else {}
    if operation.field("function"):
        marks["function_learns"] = 1
    return replace(operation, fields={**marks, **operation.fields})


def _slots(strands: Sequence[Strand]) -> Iterator[tuple[int, Strand, int, Operation]]:
    for n, strand in enumerate(strands):
        for slot, operation in enumerate(strand.body):
            yield n, strand, slot, operation


def _reads(site: Site, strands: Sequence[Strand]) -> tuple[list[Footprint], list[ForwardableOperand]]:
    reads: list[Footprint] = []
    forwardable: list[ForwardableOperand] = []
    for n, strand, slot, operation in _slots(strands):
        for generator, memory in reading_generators(strand.unit, operation):
            anywhere = gathers(operation, generator)
            footprint = site.regions.footprint(memory, strand, slot, operation.addresses[generator], anywhere=anywhere)
            tensor = footprint.key[0][0]
            if not anywhere and strand.unit == "root_issue":
                cycle = strand.start + slot * strand.interval + timing().operand
                operand_read = ForwardableOperand(
                    tensor=tensor, strand=n, slot=slot, operand=generator, cycle=cycle, footprint=len(reads)
                )
                # A sum takes its factors in every turn of its loops, but its start value in the first turns only.
                turns = replace(strand, reduce=0) if strand.reduce and generator != "c" else strand
                words = shown_words(turns, operation.addresses[generator])
                if strand.iterations == 1 and site.scalar(tensor):
                    forwardable.append(operand_read)
                elif words:
                    interval = strand.interval if len(words) > 1 else 1
                    forwardable.append(replace(operand_read, words=words, interval=interval))
            reads.append(footprint)
    return reads, forwardable


def shown_words(strand: Strand, at: Address) -> tuple[int, ...]:
    """Return the addresses of the words that a strand takes or writes, in order; none if these cannot be forwarded.

    A short vector can be forwarded if its strand has one body slot and sums nothing; a single word always can. Streamed
    words, which lie in the sample's window, cannot.
    """
    alone = len(strand.body) == 1 and not strand.reduce
    short = strand.iterations == 1 or (strand.iterations <= MOST_FORWARDED and alone)
    return tuple(strand.values(at).tolist()) if short and not at.window else ()


def _writes(site: Site, strands: Sequence[Strand]) -> list[Footprint]:
    writes: list[Footprint] = []
    for _, strand, slot, operation in _slots(strands):
        done = set()
        for generator, memory in writing_generators(strand.unit, operation):
            at, anywhere = operation.addresses[generator], scatters(operation)
            footprint = site.regions.footprint(memory, strand, slot, at, anywhere=anywhere)
            if footprint.key not in done:
                writes.append(footprint)
                done.add(footprint.key)
    return writes


def _bus(strands: Sequence[Strand]) -> tuple[list[int], list[int]]:
    """Return the cycles in which strands put their first words on the bus, and the cycles of the last uses there."""
    arrivals, uses = [], []
    for _, strand, _, operation in _slots(strands):
        if strand.unit == "root_write" and operation.field("to_bus"):
            arrivals.append(strand.start + timing().broadcast)
            uses.append(strand.final + timing().broadcast)
        if strand.unit == "lane_write" and operation.field("source") == "bus":
            uses.append(strand.final)
    return arrivals, uses
