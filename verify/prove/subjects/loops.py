"""Loop nests: every iteration once, in order, back to back."""

from __future__ import annotations

from functools import partial, reduce
from operator import and_

from amaranth.hdl import Const, Mux, Signal

from tabla.hw.loops import Loops
from tabla.hw.strands import strand_shape
from tabla.program.layout import strand_layout
from tests.sim.hand_assembler import parameters
from verify.prove.bench import Bench, Opened
from verify.prove.planted import mutants
from verify.prove.subject import Speed, Subject


class Nest:
    """Loops beside a witness that counts each level from 0 on, like nested `for` statements."""

    def __init__(self, *, paced: bool, slots: int, levels: int = 3, count_bits: int = 8) -> None:
        self.levels, self.paced, self.slots = levels, paced, slots
        build = parameters(1, levels=levels, body=slots, count_bits=count_bits)
        self.b = b = Bench()
        self.loops = loops = Loops(
            shape=strand_shape(strand_layout("lane_issue", build), levels), levels=levels, paced=paced, slots=slots
        )
        self.opened = b.add(Opened(loops), "loops")
        b.drive(loops)
        b.assume("loads_when_done", loops.done, when=loops.load)
        b.assume("one_order_at_a_time", ~(loops.load & loops.restart))
        b.assume("body_fits", (loops.strand.slots >= -1) & (loops.strand.slots <= slots - 2), when=loops.load)
        b.assume("sums_over_levels", loops.strand.reduce <= levels, when=loops.load)
        self._count()

    def _count(self) -> None:
        """Step the witness."""
        b, loops, strand = self.b, self.loops, self.loops.strand
        self.active = Signal(name="nest_active")
        self.body = Signal.like(strand.body, name="nest_body")
        self.slot = Signal(8, name="nest_slot")
        self.length = Signal(8, name="nest_length", init=1)
        self.interval = Signal.like(strand.interval, name="nest_interval")
        self.reduce = Signal.like(strand.reduce, name="nest_reduce")
        self.counts = [Signal.like(strand.counts[0], name=f"nest_count_{n}") for n in range(self.levels)]
        self.counters = [Signal.like(strand.counts[0], name=f"nest_counter_{n}") for n in range(self.levels)]
        self.step = Signal(self.levels, name="nest_step")
        self.left = Signal.like(strand.interval, name="nest_left")
        ends = [c == most for c, most in zip(self.counters, self.counts, strict=True)]
        self.at_end = [reduce(and_, ends[:n], Const(1, 1)) for n in range(self.levels + 1)]
        zero = [c == 0 for c in self.counters]
        self.at_start = [reduce(and_, zero[:n], Const(1, 1)) for n in range(self.levels + 1)]
        self.goes = b.seen(self.active & (self.left == 0) & loops.allow, "nest_goes")
        last_slot = self.slot + 1 == self.length
        self.finished = last_slot & self.at_end[self.levels]
        with b.m.If(self.left != 0):
            b.m.d.sync += self.left.eq(self.left - 1)
        with b.m.If(self.goes):
            b.m.d.sync += [self.slot.eq(self.slot + 1), self.left.eq(self.interval if self.paced else 0)]
            with b.m.If(last_slot):
                b.m.d.sync += [self.slot.eq(0), self.active.eq(~self.at_end[self.levels]), self.step.eq(0)]
                for level, counter in enumerate(self.counters):
                    with b.m.If(self.at_end[level]):
                        b.m.d.sync += [counter.eq(Mux(ends[level], 0, counter + 1)), self.step[level].eq(~ends[level])]
        with b.m.If(loops.load):
            b.m.d.sync += [
                self.active.eq(1),
                self.body.eq(strand.body),
                self.slot.eq(0),
                self.length.eq(strand.slots + 2),
                self.interval.eq(strand.interval),
                self.reduce.eq(strand.reduce),
                self.left.eq(0),
                self.step.eq(0),
                *(counter.eq(0) for counter in self.counters),
                *(count.eq(strand.counts[level]) for level, count in enumerate(self.counts)),
            ]
        with b.m.If(loops.restart):
            b.m.d.sync += self.active.eq(0)

    def claim_outputs(self) -> None:
        """Claim what shows of each operation."""
        b, loops = self.b, self.loops
        b.claim("issue", loops.issue == self.goes)
        b.claim("done", loops.done == (~self.active | (self.goes & self.finished)))
        b.claim("operation", loops.operation == (self.body + self.slot)[: len(loops.operation)], when=self.goes)
        b.claim("fresh", loops.fresh == self.at_start[self.levels], when=self.goes)
        b.claim("step", loops.step == self.step, when=self.goes)
        for n in range(self.levels + 1):
            b.claim(f"open_{n}", loops.open[n] == self.at_start[n], when=self.goes)
            sums = self.goes & (self.reduce == n)
            b.claim(f"first_{n}", loops.first == self.at_start[n], when=sums)
            b.claim(f"last_{n}", loops.last == self.at_end[n], when=sums)

    def claim_registers(self) -> None:
        """Claim what the registers of the loops hold while a strand is under way."""
        b, opened = self.b, self.opened
        b.claim("active", opened["active"] == self.active)
        b.claim("length", (self.length >= 1) & (self.length <= self.slots), when=self.active)
        b.claim("slot", self.slot < self.length, when=self.active)
        b.claim("reductions_register", opened["reductions"] == self.reduce, when=self.active)
        for level in range(self.levels):
            remaining = opened[f"remaining_{level}"]
            b.claim(f"rests_{level}", remaining[-1], when=~self.active)
            left = self.counts[level] - self.counters[level] - 1
            b.claim(f"remaining_{level}", remaining == left, when=self.active)
            b.claim(f"counter_{level}", self.counters[level] <= self.counts[level], when=self.active)
            b.claim(f"at_start_{level}", opened["at_start"][level] == (self.counters[level] == 0), when=self.active)
            b.claim(f"count_{level}", opened[f"count_{level}"] == self.counts[level], when=self.active)
        b.claim("fresh_register", opened["fresh"] == self.at_start[self.levels], when=self.active)
        b.claim("step_register", opened["step"] == self.step, when=self.active)
        address = (self.body + self.slot)[: len(opened["operation"])]
        b.claim("operation_register", opened["operation"] == address, when=self.active)
        b.claim("body_register", opened["body"] == self.body, when=self.active)
        b.claim("interval_in_range", self.left <= self.interval, when=self.active)
        if self.paced:
            b.claim("interval_register", opened["interval"] == self.interval, when=self.active)
            b.claim("pause_register", opened["pause"] == self.left - 1, when=self.active)
        else:
            b.claim("no_pause", self.left == 0)
        if self.slots > 1:
            b.claim("slots_register", opened["slots"] == self.length - self.slot - 2, when=self.active)
            b.claim("length_register", opened["length"] == self.length - 2, when=self.active)


def nest(*, paced: bool, slots: int) -> Bench:
    """Loops with their witness."""
    proof = Nest(paced=paced, slots=slots)
    proof.claim_outputs()
    proof.claim_registers()
    return proof.b


MUTANTS = mutants(
    "loops.py",
    ("ended[level] & ~at_end[level])", "ended[level])"),
    ("m.d.sync += at_start[level].eq(at_end[level])", "m.d.sync += at_start[level].eq(0)"),
    ("Mux(self.issue, interval, pause) - 1", "Mux(self.issue, interval, pause)"),
    ("self.first.eq(started[n]), self.last.eq(ended[n])", "self.first.eq(started[n]), self.last.eq(ended[levels])"),
    ("again = Mux(ended[levels], self.strand.counts[level], counts[level])", "again = counts[level]"),
    ("*(counter[-1].eq(1) for counter in remaining)", "*(counter[-1].eq(counter[-1]) for counter in remaining)"),
    ("operation.eq(Mux(body_ends, body, operation + 1))", "operation.eq(operation + 1)"),
    ("fresh.eq(0), active.eq(~ended[levels])", "fresh.eq(0), active.eq(~ended[levels - 1])"),
)

PROPERTY = (
    "The operations of a strand are those of nested loops, each once and in order, `interval` cycles apart and without "
    "a bubble between bodies, levels and strands. `first`, `last`, `open`, `fresh` and `step` describe each of them."
)
SUBJECTS = tuple(
    Subject(
        group="loops",
        name=f"loops, {name}",
        property=PROPERTY,
        bounds=f"3 levels of 1 to 256 iterations, bodies of up to {slots} operations",
        build=partial(nest, paced=paced, slots=slots),
        depth=2,
        solver="yices",
        speed=Speed.TEST if slots == 4 else Speed.QUICK,
        mutants=MUTANTS if paced and slots == 4 else (),
        search=10,
    )
    for name, paced, slots in (("paced", True, 4), ("of one operation", False, 1), ("unpaced", False, 3))
)
