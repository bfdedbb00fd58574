"""Who takes whose word: for every operand and every write, the operation whose word is there in that very cycle.

Registers, the bus and the tree hold what the cycle says, whoever was meant. Neither addresses nor values are looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tabla.graph.format import Format
from tabla.schedule.check.runs import Numbers, Run, parts
from tabla.schedule.strands.regions import ScheduleFault, scatters
from tabla.schedule.strands.strand import Cycles, Operation, Strand
from tabla.templates.instructions import kind_of
from tabla.templates.template import Template, functions, timing

Port = tuple[int, int, str]
"""An operand: the number of a run, a slot of its body, and the name of the port."""


@dataclass(frozen=True, slots=True, eq=False)
class Sources:
    """Where words come from: for each the operation of a run, and whether the function unit's value of it is meant."""

    runs: Numbers
    operations: Numbers
    functions: NDArray[np.bool_]

    def __getitem__(self, chosen: slice | NDArray[np.bool_] | Numbers) -> Sources:
        return Sources(self.runs[chosen], self.operations[chosen], self.functions[chosen])

    def __len__(self) -> int:
        return len(self.runs)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Write:
    """One slot of a strand that writes, on one unit: its cycles, and what it writes. A scattered write has the
    positions that are added to its addresses.
    """

    unit: str
    strand: Strand
    slot: int
    cycles: Cycles
    sources: Sources
    positions: Sources | None = None

    @property
    def operation(self) -> Operation:
        """The operation of the slot."""
        return self.strand.body[self.slot]


@dataclass(frozen=True, slots=True, eq=False)
class _Events:
    """Cycles, ascending, and the operations that make something show in them."""

    cycles: Cycles
    sources: Sources

    @staticmethod
    def of(found: Sequence[tuple[Cycles, Sources]]) -> _Events:
        nothing: Numbers = np.zeros(0, dtype=np.int64)
        cycles = np.concatenate([nothing, *(cycles for cycles, _ in found)])
        order = np.argsort(cycles, kind="stable")
        runs = np.concatenate([nothing, *(s.runs for _, s in found)])
        operations = np.concatenate([nothing, *(s.operations for _, s in found)])
        marks = np.concatenate([nothing.astype(np.bool_), *(s.functions for _, s in found)])
        return _Events(cycles[order], Sources(runs, operations, marks)[order])

    def in_cycles(self, cycles: Cycles) -> tuple[NDArray[np.bool_], Sources]:
        """Return in which of some cycles something shows, and what shows in those."""
        at = np.searchsorted(self.cycles, cycles)
        hit = at < len(self.cycles)
        hit[hit] = self.cycles[at[hit]] == cycles[hit]
        return hit, self.sources[at[hit]]

    def latest(self, cycles: Cycles) -> Sources | None:
        """Return what came last until each cycle. The result is None if nothing has come before one of them."""
        at = np.searchsorted(self.cycles, cycles, side="right") - 1
        return self.sources[at] if len(at) == 0 or at.min() >= 0 else None


@dataclass(frozen=True, slots=True, eq=False)
class _Line:
    """The strands of one unit in time: their first and last cycles, their intervals, and of each the number of its
    first run, into how many runs its slots are taken apart, and into how many its iterations.
    """

    firsts: Numbers
    lasts: Numbers
    steps: Numbers
    runs: Numbers
    slots: Numbers
    iterations: Numbers

    @staticmethod
    def of(strands: Sequence[Strand], runs: Sequence[Sequence[Run]], cuts: Sequence[str]) -> _Line:
        def numbers(found: Iterable[int]) -> Numbers:
            return np.array(list(found), dtype=np.int64)

        return _Line(
            firsts=numbers(s.start for s in strands),
            lasts=numbers(s.final for s in strands),
            steps=numbers(s.interval for s in strands),
            runs=numbers(own[0].number for own in runs),
            slots=numbers(len(s.body) if cut == "slots" else 1 for s, cut in zip(strands, cuts, strict=True)),
            iterations=numbers(len(s.body) if cut == "iterations" else 0 for s, cut in zip(strands, cuts, strict=True)),
        )

    def issued(self, cycles: Cycles) -> Sources | None:
        """Return the operations that issue in some cycles, or None if nothing issues in one of them."""
        at = np.searchsorted(self.firsts, cycles, side="right") - 1
        if len(cycles) and (not len(self.firsts) or at.min() < 0):
            return None
        passed = cycles - self.firsts[at]
        if (cycles > self.lasts[at]).any() or (passed % self.steps[at]).any():
            return None
        operations, slots, each = passed // self.steps[at], self.slots[at], self.iterations[at]
        runs = self.runs[at] + operations % slots + np.where(each > 0, operations // np.maximum(each, 1), 0)
        return Sources(runs, operations // slots, np.zeros(len(at), dtype=np.bool_))


@dataclass(slots=True, eq=False)
class Wiring:
    """All of a program's words on their way.

    `cuts` are strands, by unit and number, that are taken apart into their `slots` or their `iterations`.

    `words`, `values` and `sums` are, by run, the operations of which somebody takes the result, the function's value,
    or, for the tree, the accumulators. `needs`: by run, the runs that must be known before; `followed`
    are runs that others go on from.
    """

    units: dict[str, tuple[Strand, ...]]
    template: Template
    format: Format
    cuts: Mapping[tuple[str, int], str] = field(default_factory=dict)
    runs: list[Run] = field(default_factory=list)
    operands: dict[Port, Sources] = field(default_factory=dict)
    trees: dict[Port, list[tuple[NDArray[np.bool_], Sources]]] = field(default_factory=dict)
    writes: list[Write] = field(default_factory=list)
    words: dict[int, list[Numbers]] = field(default_factory=dict)
    values: dict[int, list[Numbers]] = field(default_factory=dict)
    sums: dict[int, list[Numbers]] = field(default_factory=dict)
    needs: dict[int, set[int]] = field(default_factory=dict)
    followed: set[int] = field(default_factory=set)
    _lines: dict[str, _Line] = field(default_factory=dict)
    _function: _Events = field(init=False)
    _position: _Events = field(init=False)
    _bus: _Events = field(init=False)
    _sent: dict[str, _Events] = field(init=False)

    def __post_init__(self) -> None:
        for unit, strands in self.units.items():
            if kind_of(unit) in ("lane_issue", "root_issue"):
                self._lines[unit] = self._line(unit, strands)
        self._collect()
        self._root_writes()
        self._lane_writes()
        for run in self.runs:
            for slot, operation in enumerate(run.strand.body):
                self._operands(run, slot, operation)

    def _line(self, unit: str, strands: Sequence[Strand]) -> _Line:
        runs = list[list[Run]]()
        cuts = [self.cuts.get((unit, place), "") for place in range(len(strands))]
        for place, (strand, cut) in enumerate(zip(strands, cuts, strict=True)):
            runs.append([])
            for part, begin, end in parts(strand, cut):
                before = runs[-1][-1] if runs[-1] else runs[-2][-1] if place else None
                run = Run(
                    number=len(self.runs),
                    unit=unit,
                    strand=part,
                    begin=begin,
                    end=end,
                    place=place,
                    before=-1 if before is None else before.number,
                )
                runs[-1].append(run)
                self.runs.append(run)
                self.needs[run.number] = set()
                if run.goes_on:
                    if before is None:
                        raise ScheduleFault(f"{unit}: '{strand.comment}' goes on with the sum of another sample")
                    self.needs[run.number].add(before.number)
                    self.followed.add(before.number)
        return _Line.of(strands, runs, cuts)

    def _collect(self) -> None:
        """Collect what marked operations make: function values, positions, sums for the tree, counted overflows."""
        laws, codes = timing(), {f.code: f for f in functions().values()}
        shown: list[tuple[Cycles, Sources]] = []
        held: list[tuple[Cycles, Sources]] = []
        sent: dict[str, list[tuple[Cycles, Sources]]] = {unit: [] for unit in self._lines}
        for run in self.runs:
            for slot, operation in enumerate(run.strand.body):
                code = int(operation.field("function", 0)) if run.unit == "root_issue" else 0
                position = run.unit == "root_issue" and operation.field("b") == "position"
                up = run.unit != "root_issue" and bool(operation.field("up"))
                emits = bool(operation.field("emit"))
                if not (code or position or up or emits):
                    continue
                lasts = np.arange(run.begin, run.end, dtype=np.int64)
                lasts = lasts[lasts % run.inner == run.inner - 1] * run.slots + slot
                cycles = run.strand.start + lasts * run.strand.interval
                sources = Sources(np.full(len(lasts), run.number), lasts, np.full(len(lasts), bool(code)))
                if code:
                    late = codes[code].cycles(self.format.width, self.format.fraction)
                    shown.append((cycles + laws.result + late, sources))
                    # The function unit counts events of values that nobody takes, too.
                    self.values.setdefault(run.number, []).append(lasts)
                if code or emits:
                    self.words.setdefault(run.number, []).append(lasts)
                if position:
                    held.append((cycles + laws.held, Sources(sources.runs, lasts, np.zeros(len(lasts), np.bool_))))
                if up:
                    sent[run.unit].append((cycles, sources))
        self._function, self._position = _Events.of(shown), _Events.of(held)
        self._sent = {unit: _Events.of(found) for unit, found in sent.items() if unit != "root_issue"}

    # ---- what is written

    def _root_writes(self) -> None:
        arrivals: list[tuple[Cycles, Sources]] = []
        for strand in self.units["root_write"]:
            for slot, operation in enumerate(strand.body):
                cycles = strand.cycles(slot)
                source = str(operation.field("source", "result"))
                found = self._register(source, cycles)
                if found is None:
                    raise ScheduleFault(f"'{strand.comment}' writes a {source} that does not show")
                if not any(operation.field(name) for name in ("to_memory", "to_bus", "to_output")):
                    continue
                self._take(found)
                positions = self._positions_of(strand, operation, cycles)
                write = Write(
                    unit="root_write", strand=strand, slot=slot, cycles=cycles, sources=found, positions=positions
                )
                self.writes.append(write)
                if operation.field("to_bus"):
                    arrivals.append((cycles + timing().broadcast, found))
        self._bus = _Events.of(arrivals)

    def _positions_of(self, strand: Strand, operation: Operation, cycles: Cycles) -> Sources | None:
        """Return the positions that the register shows while writes are decoded; None for plain writes."""
        if not scatters(operation):
            return None
        found = self._position.latest(cycles - 1)
        if found is None:
            raise ScheduleFault(f"'{strand.comment}' scatters when no position is held")
        self._take(found)
        return found

    def _lane_writes(self) -> None:
        counted = self.template.roots > 1
        for unit, strands in self.units.items():
            if kind_of(unit) != "lane_write":
                continue
            for strand in strands:
                for slot, operation in enumerate(strand.body):
                    cycles = strand.cycles(slot)
                    if operation.field("source", "result") == "bus":
                        found = self._on_bus(cycles)
                    else:
                        shown = self._lines[unit.replace("write", "issue")].issued(cycles - timing().result)
                        # Lanes of several roots round no result that does not count.
                        if shown is None or (counted and not all(self._counts(shown))):
                            raise ScheduleFault(f"'{strand.comment}' writes a result that does not show")
                        found = shown
                    self._take(found)
                    self.writes.append(Write(unit=unit, strand=strand, slot=slot, cycles=cycles, sources=found))

    def _counts(self, found: Sources) -> Iterator[bool]:
        """Yield, for each slot that made one of these words, whether its results are emitted or compared."""
        for number in np.unique(found.runs).tolist():
            run = self.runs[number]
            for slot in np.unique(found.operations[found.runs == number] % run.slots).tolist():
                operation = run.strand.body[slot]
                yield bool(operation.field("emit")) or operation.field("post", "none") != "none"

    # ---- what is taken

    def _register(self, source: str, cycles: Cycles) -> Sources | None:
        """Return what the root's `result` or `function` register shows in some cycles; None if it shows nothing."""
        if source == "result":
            return self._lines["root_issue"].issued(cycles - timing().result)
        hit, found = self._function.in_cycles(cycles)
        return found if hit.all() else None

    def _on_bus(self, cycles: Cycles) -> Sources:
        found = self._bus.latest(cycles)
        if found is None:
            raise ScheduleFault("the bus is read before a word is on it")
        return found

    def _operands(self, run: Run, slot: int, operation: Operation) -> None:
        laws = timing()
        operations = np.arange(run.begin, run.end, dtype=np.int64) * run.slots + slot
        cycles = run.strand.start + operations * run.strand.interval
        added = operation.field("base", "zero") == "addend"
        for port in ("a", "b", "c"):
            source = str(operation.field(port))
            if port == "c" and not added:
                continue
            found: Sources | None
            if source == "bus":
                found = self._on_bus(cycles + laws.operand)
            elif source.removeprefix("late_") in ("result", "function"):
                late = laws.late_operand if source.startswith("late_") else laws.operand
                found = self._register(source.removeprefix("late_"), cycles + late)
                if found is None:
                    raise ScheduleFault(f"'{run.strand.comment}' reads a register when nothing shows there")
            elif source.startswith("gathered_"):
                found = self._position.latest(cycles)
                if found is None:
                    raise ScheduleFault(f"'{run.strand.comment}' gathers when no position is held")
            else:
                continue
            self._take(found, run)
            self.operands[(run.number, slot, port)] = found
        if run.unit == "root_issue" and (base := str(operation.field("base", "zero"))) in ("tree", "array"):
            self._tree(run, slot, base)

    def _tree(self, run: Run, slot: int, base: str) -> None:
        """Find the sums that operations start from. Every sequencer that sends in the right cycle joins a sum."""
        late = 1 + self.template.tree_levels * timing().tree_level
        if base == "array":
            late += self.template.array_levels * timing().tree_level
        firsts = np.arange(run.begin, run.end, dtype=np.int64)
        firsts = firsts[firsts % run.inner == 0] * run.slots + slot
        cycles = run.strand.start + firsts * run.strand.interval - late
        parts = []
        for events in self._sent.values():
            hit, found = events.in_cycles(cycles)
            if len(found):
                parts.append((hit, found))
                self._note(self.sums, found)
                self.needs[run.number].update(np.unique(found.runs).tolist())
        if not parts or not np.logical_or.reduce([hit for hit, _ in parts]).all():
            raise ScheduleFault(f"'{run.strand.comment}' takes a sum that is not at the tree's end")
        self.trees[(run.number, slot, "base")] = parts

    def _take(self, found: Sources, run: Run | None = None) -> None:
        if found.functions.any():
            self._note(self.values, found[found.functions])
        if not found.functions.all():
            self._note(self.words, found[~found.functions])
        if run is not None:
            self.needs[run.number].update(np.unique(found.runs).tolist())

    def _note(self, table: dict[int, list[Numbers]], found: Sources) -> None:
        for number in np.unique(found.runs).tolist():
            table.setdefault(number, []).append(found.operations[found.runs == number])
