"""The evaluation of one run over residues: what each of its operations adds, and the words and sums that come of it.

It follows docs/decisions/0003-machine.md (3.2 to 3.5, 3.12, 3.13) and nothing of the code that makes strands.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from tabla.schedule.check import residues
from tabla.schedule.check.fields import Active, guarded, lanes_of, symbol
from tabla.schedule.check.residues import PRIME, Counts, Mode, Residues, Sum, half_unit, power_of_two
from tabla.schedule.check.runs import Asked, Numbers, Run, address_of, span_of
from tabla.schedule.check.surroundings import Made, Runs
from tabla.schedule.check.wiring import Sources
from tabla.schedule.strands.regions import ScheduleFault
from tabla.schedule.strands.strand import Operation
from tabla.templates.template import functions

MOST_WORDS = 1 << 19
"""Products evaluated at a time. Larger arrays would leave the processor's caches."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Channel:
    """Numbers that accumulators collect: one for each operation, and where the accumulator begins anew."""

    each: Residues
    begins: Active
    before: Residues

    def at(self, wanted: Numbers) -> Residues:
        """What the accumulators hold after the operations `wanted`, ascending; numbers are not reduced."""
        if self.begins.all():
            return self.each[wanted]
        # First add up the stretches between two operations that begin a sum or are wanted.
        cuts = np.unique(np.concatenate([[0], np.flatnonzero(self.begins), wanted + 1]))
        cuts = cuts[cuts < len(self.each)]
        parts = np.add.reduceat(self.each, cuts, axis=0) if len(cuts) < len(self.each) else self.each
        totals = np.cumsum(parts, axis=0)
        begun = np.maximum.accumulate(np.where(self.begins[cuts], np.arange(len(cuts)), -1))
        part = np.searchsorted(cuts, wanted, side="right") - 1
        since = begun[part]
        earlier = np.where((since > 0)[:, None, None], totals[np.maximum(since - 1, 0)], 0)
        return totals[part] - earlier + np.where((since < 0)[:, None, None], self.before, 0)


@dataclass(slots=True, eq=False)
class Evaluation:
    """The evaluation of one run of the machine: `made` gives what the runs after it take."""

    machine: Runs
    run: Run
    root: bool = field(init=False)
    lanes: slice = field(init=False)
    width: int = field(init=False)
    mode: Mode = field(init=False)
    values: dict[tuple[int, str], Numbers] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.root = self.run.unit == "root_issue"
        self.lanes = lanes_of(self.machine.schedule, self.run.unit)
        self.width = self.lanes.stop - self.lanes.start
        modes = {self._mode(operation) for operation in self.run.strand.body}
        if len(modes) > 1:
            raise ScheduleFault(f"'{self.name}' adds and compares in one accumulator")
        (self.mode,) = modes

    @property
    def name(self) -> str:
        """The name of the strand in messages."""
        return self.run.strand.comment

    def _mode(self, operation: Operation) -> Mode:
        if operation.field("post", "none") != "extreme":
            return "sum"
        return "min" if operation.field("negate") else "max"

    def _shift(self, operation: Operation) -> int:
        schedule = self.machine.schedule
        return schedule.format.fraction + schedule.shifts[int(operation.field("shift"))]

    def _values(self, slot: int, generator: str) -> Numbers:
        if (slot, generator) not in self.values:
            strand = self.run.strand
            self.values[(slot, generator)] = strand.values(address_of(strand.body[slot], generator, strand))
        return self.values[(slot, generator)]

    # ---- operands

    def _operand(self, slot: int, port: str, at: Numbers, active: Active | None) -> Residues:
        """An operand in some iterations (counted from the strand's first): [iterations, groups, lanes]."""
        operation, run = self.run.strand.body[slot], self.run
        source = symbol(operation, run.unit, port)
        stored = port == "c" and bool(operation.field("wide"))
        if stored and source not in ("model", "interim", "memory"):
            raise ScheduleFault(f"'{self.name}' takes guard bits from {source}")
        if source in ("one", "position"):
            return np.full((1, 1, 1), power_of_two(self.machine.schedule.format.fraction), dtype=np.int64)
        if source in ("result", "function", "late_result", "late_function", "bus"):
            return self.machine.taken(self.machine.wiring.operands[(run.number, slot, port)][at - run.begin])
        generator = port if self.root else source
        asked = Asked(
            memory=f"root {source.removeprefix('gathered_')}" if self.root else source,
            at=self._values(slot, generator)[at],
            when=span_of(run.strand.cycles(slot)[at]),
            window=address_of(operation, generator, run.strand).window,
        )
        if source.startswith("gathered_"):
            position = self.machine.taken(self.machine.wiring.operands[(run.number, slot, port)][at - run.begin])
            return self.machine.memory.gathered(asked, position, self.name)
        return self.machine.memory.read(asked, self.lanes, active, self.name, stored=stored)

    def _active(self, slot: int, iterations: slice) -> Active | None:
        if self.root:
            return None
        return guarded(self.run.strand, self.run.strand.body[slot], iterations, self.lanes)

    # ---- one run

    def made(self) -> Made:
        """Return the words, function values and sums that the run makes."""
        run, wiring = self.run, self.machine.wiring
        words, values, sums = (_wanted(table.get(run.number)) for table in (wiring.words, wiring.values, wiring.sums))
        counted = not self._many(words, sums)
        before = self._before()
        blocks = max(1, MOST_WORDS // (run.slots * self.machine.groups * self.width))
        found_words, found_values, found_sums = [], [], list[Sum]()
        for begin in range(run.begin, run.end, blocks):
            block = _Block(self, begin, min(run.end, begin + blocks), before, counted)
            found_words.append(block.words(_within(words, block)))
            found_values.append(block.values(_within(values, block), _within(words, block), found_words[-1]))
            found_sums.append(block.sums(_within(sums, block)))
            before = block.left()
        return Made(
            word_operations=words,
            words=np.concatenate(found_words),
            value_operations=values,
            values=np.concatenate(found_values),
            sum_operations=sums,
            sums=Sum(
                total=np.concatenate([s.total for s in found_sums]),
                halves=np.concatenate([s.halves for s in found_sums]),
                parts=np.concatenate([s.parts for s in found_sums]),
            ),
            mode=self.mode,
            left=before,
        )

    def _many(self, words: Numbers, sums: Numbers) -> bool:
        """Say whether control alone shows that every wanted sum has several parts, so that none is a copy."""
        run = self.run
        if self.root or self.mode != "sum" or run.goes_on or run.number in self.machine.wiring.followed:
            return False
        for slot in np.unique(np.concatenate([words, sums]) % run.slots).tolist():
            operation = run.strand.body[slot]
            plain = symbol(operation, run.unit, "b") == "one" and not operation.field("negate")
            if operation.field("gate") or plain or symbol(operation, run.unit, "a") == "zero":
                return False
            # A sum is empty where no lane is active.
            own = sums[sums % run.slots == slot] // run.slots
            active = self._active(slot, slice(None))
            if len(own) and active is not None and not active[own].any(axis=1).all():
                return False
        return True

    def _before(self) -> Sum:
        """What the accumulators hold before its first operation."""
        if not self.run.goes_on:
            nothing: Residues = np.zeros((1, 1, 1), dtype=np.int64)
            return Sum(total=nothing, halves=nothing, parts=nothing)
        made = self.machine.made[self.run.before]
        if made.mode != self.mode:
            raise ScheduleFault(f"'{self.name}' adds and compares in one accumulator")
        return made.left


def _wanted(found: list[Numbers] | None) -> Numbers:
    return np.unique(np.concatenate(found)) if found else np.zeros(0, dtype=np.int64)


def _within(operations: Numbers, block: _Block) -> Numbers:
    low, high = np.searchsorted(operations, [block.first, block.first + block.count])
    return operations[low:high]


@dataclass(slots=True, eq=False)
class _Block:
    """Some iterations of a run: what each of their operations adds to the accumulators."""

    of: Evaluation
    begin: int
    end: int
    before: Sum
    counted: bool
    first: int = field(init=False)
    count: int = field(init=False)
    active: list[Active | None] = field(default_factory=list)
    _total: _Channel = field(init=False)
    _halves: _Channel = field(init=False)
    _parts: _Channel = field(init=False)

    def __post_init__(self) -> None:
        run, groups, width = self.of.run, self.of.machine.groups, self.of.width
        n = self.end - self.begin
        self.first, self.count = self.begin * run.slots, n * run.slots
        total = np.empty((n, run.slots, groups, width), dtype=np.int64)
        shape = (n, run.slots, groups, width) if self.counted else (0, 1, 1, 1)
        parts, halves = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
        begins = np.zeros((n, run.slots), dtype=np.bool_)
        firsts = np.flatnonzero(np.arange(self.begin, self.end) % run.inner == 0)
        for slot, operation in enumerate(run.strand.body):
            self.active.append(self.of._active(slot, slice(self.begin, self.end)))
            self._products(slot, operation, total[:, slot], parts[:, slot] if self.counted else None)
            if operation.field("base", "zero") != "accumulator" and len(firsts):
                begins[firsts, slot] = True
                start = self._start(slot, operation, firsts)
                if start is not None:
                    total[firsts, slot] += start.total
                    if self.counted:
                        parts[firsts, slot] += start.parts
                        halves[firsts, slot] += start.halves
        marks = begins.reshape(-1)

        def channel(each: Residues, before: Residues) -> _Channel:
            return _Channel(each=each.reshape(-1, *each.shape[2:]), begins=marks, before=before)

        self._total = channel(total, self.before.total)
        self._halves, self._parts = channel(halves, self.before.halves), channel(parts, self.before.parts)

    def _products(self, slot: int, operation: Operation, total: Residues, parts: Counts | None) -> None:
        """Put the products of a slot into `total`, and how many words they are into `parts`."""
        of, unit = self.of, self.of.run.unit
        if symbol(operation, unit, "a") == "zero":
            total[...] = 0
            return
        iterations = np.arange(self.begin, self.end, dtype=np.int64)
        active = self.active[slot]
        gate = int(operation.field("gate"))
        if gate:
            counts = of.run.strand.counts
            turn = int(np.prod(counts[len(counts) - gate :], dtype=np.int64))
            open_ = np.broadcast_to((iterations % turn == 0)[:, None], (len(iterations), of.width))
            active = open_ if active is None else active & open_
        left = of._operand(slot, "a", iterations, active)
        right = of._operand(slot, "b", iterations, active)
        product = left * right % PRIME
        if operation.field("negate") and of.mode == "sum":
            product = PRIME - product
        total[...] = product if active is None else product * active[:, None, :]
        if parts is not None:
            whole = symbol(operation, unit, "b") in ("one", "position")
            plain = not operation.field("negate") and of._shift(operation) == of.machine.schedule.format.fraction
            weight = 1 if whole and (of.mode != "sum" or plain) else 2
            parts[...] = weight if active is None else weight * active[:, None, :]

    def _start(self, slot: int, operation: Operation, firsts: Numbers) -> Sum | None:
        """The start values of a slot in the iterations `firsts`, counted from the block's first; None if all are 0."""
        of, run = self.of, self.of.run
        base, shift = symbol(operation, run.unit, "base"), of._shift(operation)
        halves = self._half(operation, shift)
        nothing: Residues = np.zeros((1, 1, 1), dtype=np.int64)
        if base in ("tree", "array"):
            begun = (run.begin + np.arange(run.end - run.begin)) % run.inner == 0
            which = np.cumsum(begun)[firsts + self.begin - run.begin] - 1
            parts = of.machine.wiring.trees[(run.number, slot, "base")]
            chosen = [_chosen(part, which) for part in parts]
            found = of.machine.sent(chosen, everywhere=base == "array", mode=of.mode, name=of.name)
            return Sum(total=found.total + halves, halves=found.halves + halves, parts=found.parts)
        if base == "addend":
            active, wide = self.active[slot], bool(operation.field("wide"))
            if active is not None and operation.field("up") and not wide:
                raise ScheduleFault(f"'{of.name}' sends start values of lanes that are not active up the tree")
            active = None if active is None else active[firsts]
            word = of._operand(slot, "c", firsts + self.begin, active)
            total = word * power_of_two(shift) % PRIME
            words = np.full_like(nothing, residues.STORED if wide else 1)
            if wide and active is not None:
                # Lanes that are not active have no wide addend.
                total, words = total * active[:, None, :], words * active[:, None, :]
            return Sum(total=total + halves, halves=halves, parts=words)
        return None if not halves.any() else Sum(total=halves, halves=halves, parts=nothing)

    def _half(self, operation: Operation, shift: int) -> Residues:
        half, unit = half_unit(shift), symbol(operation, self.of.run.unit, "half")
        out: Residues = np.zeros((1, self.of.machine.groups, self.of.width), dtype=np.int64)
        if unit == "all":
            out[...] = half
        elif unit == "lane0":
            out[:, :, 0] = half
        elif unit == "array0":
            out[:, 0, 0] = half
        return out

    # ---- what comes of it

    def _at(self, operations: Numbers) -> Sum:
        """The accumulators after some operations."""
        own = operations - self.first
        total = self._total.at(own) % PRIME
        if not self.counted:
            many = np.full((1, 1, 1), 2, dtype=np.int64)
            return Sum(total=total, halves=np.zeros_like(many), parts=many)
        return Sum(total=total, halves=self._halves.at(own) % PRIME, parts=self._parts.at(own))

    def _of_slot(self, operations: Numbers) -> Iterator[tuple[int, Operation, Active, Numbers]]:
        """For each slot: which of some operations are of it, and their iterations, counted from the block's first."""
        slots = self.of.run.slots
        for slot in np.unique(operations % slots).tolist():
            chosen = operations % slots == slot
            yield slot, self.of.run.strand.body[slot], chosen, operations[chosen] // slots - self.begin

    def words(self, operations: Numbers) -> Residues:
        """The results of operations. Words whose overflows are counted are put into the tally."""
        of, run = self.of, self.of.run
        held = self._at(operations)
        out = np.empty((len(operations), of.machine.groups, of.width), dtype=np.int64)
        for slot, operation, chosen, iterations in self._of_slot(operations):
            total = held.total[chosen]
            halves, parts = (a if len(a) == 1 else a[chosen] for a in (held.halves, held.parts))
            own = Sum(total=total, halves=halves, parts=parts)
            post = symbol(operation, run.unit, "post")
            if post not in ("none", "extreme"):
                out[chosen] = own.compared(post)  # type: ignore[arg-type]
                continue
            wide = bool(operation.field("wide"))
            out[chosen] = own.word(of._shift(operation), of.mode, wide=wide)
            if of.mode != "sum":
                continue
            active = self.active[slot]
            over = np.broadcast_to(own.several(wide), total.shape)
            if active is not None:
                over = over & active[iterations][:, None, :]
            lasts = (iterations + self.begin) % run.inner == run.inner - 1
            emitted = lasts if operation.field("emit") else np.zeros(len(lasts), dtype=np.bool_)
            silent = over & ~emitted[:, None, None]
            if silent.any():
                cycle = run.cycle(int(operations[chosen][np.argwhere(silent)[0][0]]))
                raise ScheduleFault(f"'{of.name}' rounds a sum whose overflows nobody counts, at cycle {cycle}")
            learns = bool(operation.field("learns"))
            of.machine.rounded.add(np.moveaxis(out[chosen], 1, 0), np.moveaxis(over, 1, 0), learns=learns)
        return out

    def values(self, operations: Numbers, known: Numbers, words: Residues) -> Residues:
        """The function unit's values of operations, whose results are among the `words` of the operations `known`."""
        of = self.of
        out = np.empty((len(operations), of.machine.groups, of.width), dtype=np.int64)
        dividing = {f.code for f in functions().values() if f.name in ("divide", "quotient")}
        for slot, operation, chosen, iterations in self._of_slot(operations):
            code = int(operation.field("function"))
            word = words[np.searchsorted(known, operations[chosen])]
            divisor = None
            if code in dividing:
                divisor = np.broadcast_to(of._operand(slot, "b", iterations + self.begin, None), word.shape)
            out[chosen] = residues.applied(code, word, divisor)
            learns = bool(operation.field("function_learns"))
            of.machine.applied.add(np.moveaxis(out[chosen], 1, 0), learns=learns)
        return out

    def sums(self, operations: Numbers) -> Sum:
        """What the lanes' accumulators give together."""
        held, width = self._at(operations), self.of.width
        total = held.total.sum(axis=2, keepdims=True) % PRIME
        if not self.counted:
            many = np.full_like(total, 2)
            return Sum(total=total, halves=np.zeros_like(total), parts=many)
        halves, parts = (np.broadcast_to(a, (*a.shape[:2], width)) for a in (held.halves, held.parts))
        return Sum(
            total=total, halves=halves.sum(axis=2, keepdims=True) % PRIME, parts=parts.sum(axis=2, keepdims=True)
        )

    def left(self) -> Sum:
        """The accumulators at its end."""
        return self._at(np.array([self.first + self.count - 1], dtype=np.int64))


def _chosen(part: tuple[Active, Sources], which: Numbers) -> tuple[Active, Sources]:
    """Of the sums that a sequencer sends those of some of the root's operations, counted in their order."""
    hit, sources = part
    place = np.cumsum(hit) - 1
    return hit[which], sources[place[which][hit[which]]]
