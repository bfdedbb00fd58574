"""Hardware loop nests: which operation issues, and at which iteration of its nest."""

from functools import reduce
from operator import and_
from typing import Any

from amaranth.hdl import Const, Module, Mux, Signal, signed
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out


class Loops(wiring.Component):
    """Runs one strand after the other, with up to an operation a cycle. No cycle is lost between bodies, levels or
    strands.

    A `strand` given with `load` in cycle *t* issues its first operation in cycle *t* + ``LATENCY``, or when `allow` is
    next high. The other operations follow `interval` cycles apart. While an operation issues (`issue`), the other
    outputs describe it. Loops that are not `paced` take all intervals to be 1. `slots` is the number of operations of
    the longest body.

    Members
    -------
    restart : In(1)
        Forget the strand.
    load : In(1), strand : In(strand_shape(...))
    allow : In(1)
        Nothing issues while it is low.
    issue : Out(1)
    operation : Out(address)
        Address of the operation word.
    fresh : Out(1)
        First iteration of the strand: generators start from their bases.
    step : Out(levels), one-hot
        The level that stepped to arrive at this iteration (0 is the innermost); 0 while fresh.
    first, last : Out(1)
        All accumulating levels are at their beginning, at their end.
    open : Out(levels + 1)
        Bit n: the n innermost levels are at their beginning.
    done : Out(1)
        High when idle and in the cycle of a strand's last operation: a strand may be loaded.
    """

    LATENCY = 1

    def __init__(self, *, shape: data.StructLayout, levels: int, paced: bool = True, slots: int = 2) -> None:
        self.shape = shape
        self.levels = levels
        self.paced = paced
        self.slots = slots
        super().__init__(
            {
                "restart": In(1),
                "load": In(1),
                "strand": In(shape),
                "allow": In(1),
                "issue": Out(1),
                "operation": Out(shape["body"].shape),
                "fresh": Out(1),
                "step": Out(levels),
                "first": Out(1),
                "last": Out(1),
                "open": Out(levels + 1),
                "done": Out(1),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        shape, levels = self.shape, self.levels
        count_shape = shape["counts"].shape.elem_shape
        active = Signal()
        body = Signal(shape["body"].shape, reset_less=True)
        interval = Signal(shape["interval"].shape, reset_less=True)
        pause = Signal(signed(len(interval) + 1), reset_less=True)
        length = Signal(shape["slots"].shape, reset_less=True)
        slots = Signal(shape["slots"].shape, reset_less=True)
        reductions = Signal(shape["reduce"].shape, reset_less=True)
        counts = [Signal(count_shape, name=f"count_{level}", reset_less=True) for level in range(levels)]
        # At their end while no strand is under way.
        remaining = [
            Signal(signed(len(counts[0]) + 1), name=f"remaining_{level}", init=-1, reset_less=True)
            for level in range(levels)
        ]
        at_start = Signal(levels, reset_less=True)
        operation = Signal(shape["body"].shape, reset_less=True)
        fresh = Signal(reset_less=True)
        step = Signal(levels, reset_less=True)

        if not self.paced:
            pause = Const(-1, pause.shape())
        if self.slots == 1:
            slots = Const(-1, shape["slots"].shape)
        at_end = [counter[-1] for counter in remaining]
        # Entry n: the n innermost levels are all at their end (beginning).
        ended = [reduce(and_, at_end[:n], Const(1, 1)) for n in range(levels + 1)]
        started = [at_start[:n].all() for n in range(levels + 1)]
        body_ends = slots[-1]

        m.d.comb += [
            self.issue.eq(active & pause[-1] & self.allow),
            self.operation.eq(operation),
            self.fresh.eq(fresh),
            self.step.eq(step),
            self.done.eq(~active | (self.issue & body_ends & ended[levels])),
        ]
        m.d.comb += [self.open[n].eq(started[n]) for n in range(levels + 1)]
        with m.Switch(reductions):
            # The field is as wide as the program's deepest sum needs, which may be less than all levels.
            for n in range(min(levels + 1, 1 << len(reductions))):
                with m.Case(n):
                    m.d.comb += [self.first.eq(started[n]), self.last.eq(ended[n])]

        if self.paced:
            with m.If(self.issue | ~pause[-1]):
                m.d.sync += pause.eq(Mux(self.issue, interval, pause) - 1)
            with m.If(self.load):
                m.d.sync += pause.eq(-1)
        if self.slots > 1:
            with m.If(self.issue):
                m.d.sync += [
                    slots.eq(Mux(body_ends, length, slots - 1)),
                    operation.eq(Mux(body_ends, body, operation + 1)),
                ]
            with m.If(self.load):
                m.d.sync += slots.eq(self.strand.slots)
        with m.If(self.issue):
            with m.If(body_ends):
                m.d.sync += [fresh.eq(0), active.eq(~ended[levels])]
                for level in range(levels):
                    with m.If(ended[level]):
                        m.d.sync += at_start[level].eq(at_end[level])
                    m.d.sync += step[level].eq(ended[level] & ~at_end[level])
        for level in range(levels):
            # A choice of what is counted from fits into the carry chain, one behind the difference does not. When all
            # levels are at their end, so before the first strand, nothing but a new strand can follow.
            again = Mux(ended[levels], self.strand.counts[level], counts[level])
            with m.If(self.load | (self.issue & body_ends & ended[level] & ~ended[levels])):
                m.d.sync += remaining[level].eq(Mux(at_end[level], again, remaining[level]) - 1)

        with m.If(self.load):
            m.d.sync += [
                active.eq(1),
                body.eq(self.strand.body),
                interval.eq(self.strand.interval),
                length.eq(self.strand.slots),
                reductions.eq(self.strand.reduce),
                at_start.eq(-1),
                operation.eq(self.strand.body),
                fresh.eq(1),
                step.eq(0),
            ]
            m.d.sync += [counts[level].eq(self.strand.counts[level]) for level in range(levels)]
        with m.If(self.restart):
            m.d.sync += [active.eq(0), *(counter[-1].eq(1) for counter in remaining)]
        return m
