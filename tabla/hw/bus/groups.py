"""From beats of the bus to checked groups of words."""

from functools import reduce
from operator import or_
from typing import Any

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from tabla.hw.predicting import described
from tabla.program.bus import BusShape

_APART = """
Here `bad_range` has a bit for each container of the group.
"""


class GroupReader(wiring.Component):
    """Cuts beats of the bus into groups of containers, and looks at each container by itself.

    A group has as many containers as the narrower of the two kinds of beats, that of the bus and that of the array. One
    group a cycle goes through. A group that enters in cycle *t* is offered from *t* + ``LATENCY`` on, or *t* +
    ``LATENCY`` + 1 where a beat has several groups.

    Members
    -------
    beat_valid : In(1), beat_take : Out(1), data : In(bits), keep : In(bits / 8), last : In(1)
        Beats of the bus.
    flush : In(1)
        Forget all beats.
    clear : In(1)
        `words` become zeros. The other outputs stay.
    valid : Out(1), take : In(1)
        A group is offered, and leaves.
    words : Out(group * width)
        The words, without the sign bits that their containers repeat.
    full : Out(1), empty : Out(1)
        All containers are there; none is.
    counts : Out(1)
        All containers are there, or the group's beat has no TLAST.
    bad_keep : Out(1)
        Part of a container is there, or a container behind one that is not there, or nothing of the beat's first group,
        or not all containers of a beat without TLAST.
    bad_range : Out(1)
        A container that is there is no sign-extended word.
    final : Out(1)
        The group is the last of its beat.
    packet_ends : Out(1)
        TLAST of the group's beat.
    """

    LATENCY = 1

    def __init__(self, *, shape: BusShape) -> None:
        self.shape = shape
        # Which containers count is known later where a prediction ignores some.
        self.apart = bool(shape.ignored_runs)
        if self.apart:
            self.data_sheet = described(self, _APART)
        super().__init__(
            {
                "beat_valid": In(1),
                "beat_take": Out(1),
                "data": In(shape.bus_bits),
                "keep": In(shape.bus_bits // 8),
                "last": In(1),
                "flush": In(1),
                "clear": In(1),
                "valid": Out(1),
                "take": In(1),
                "words": Out(shape.group * shape.width),
                **dict.fromkeys(("full", "empty", "counts", "bad_keep"), Out(1)),
                "bad_range": Out(shape.group if self.apart else 1),
                **dict.fromkeys(("final", "packet_ends"), Out(1)),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        moves = Signal()
        m.d.comb += moves.eq(~self.valid | self.take)
        valid, data, keep, last, first, final = self._group(m, moves)
        present, whole, words, ranges = [], [], [], []
        container, width = self.shape.container, self.shape.width
        for k in range(self.shape.group):
            bits, bytes_kept = data.word_select(k, container), keep.word_select(k, container // 8)
            present.append(bytes_kept.any())
            whole.append(bytes_kept.all())
            words.append(bits[:width])
            above = bits[width - 1 :]
            ranges.append(bytes_kept.any() & above.any() & ~above.all())
        # A container is out of place if the one before it is not there.
        holes = [present[k] & ~present[k - 1] for k in range(1, len(present))]
        parts = [there & ~every for there, every in zip(present, whole, strict=True)]
        with m.If(moves):
            m.d.sync += self.valid.eq(valid)
        with m.If(moves & valid):
            m.d.sync += [
                self.words.eq(Cat(*words)),
                self.full.eq(keep.all()),
                self.empty.eq(~keep.any()),
                self.counts.eq(keep.all() | ~last),
                self.bad_keep.eq(reduce(or_, [*holes, *parts, ~last & ~keep.all(), first & ~keep.any()])),
                self.bad_range.eq(Cat(ranges) if self.apart else reduce(or_, ranges)),
                self.final.eq(final),
                self.packet_ends.eq(last),
            ]
        with m.If(self.clear):
            m.d.sync += self.words.eq(0)
        with m.If(self.flush):
            m.d.sync += self.valid.eq(0)
        return m

    def _group(self, m: Module, moves: Any) -> tuple[Any, Any, Any, Any, Any, Any]:
        """Return whether there is a next group, its bytes, which of them are kept, TLAST of its beat, and whether it is
        the first and the last group of the beat. The group is taken when it `moves`.
        """
        groups = self.shape.groups
        if groups == 1:
            m.d.comb += self.beat_take.eq(moves)
            return self.beat_valid, self.data, self.keep, self.last, 1, 1
        data, keep, last = Signal.like(self.data), Signal.like(self.keep), Signal()
        left = Signal(range(groups))
        filled, first = Signal(), Signal()
        m.d.comb += self.beat_take.eq(~filled | (moves & (left == 0)))
        bits = self.shape.group * self.shape.container
        with m.If(self.beat_take):
            m.d.sync += filled.eq(self.beat_valid)
        with m.If(self.beat_take & self.beat_valid):
            m.d.sync += [data.eq(self.data), keep.eq(self.keep), last.eq(self.last), left.eq(groups - 1), first.eq(1)]
        with m.Elif(moves):
            m.d.sync += [data.eq(data >> bits), keep.eq(keep >> (bits // 8)), left.eq(left - 1), first.eq(0)]
        with m.If(self.flush):
            m.d.sync += filled.eq(0)
        return filled, data[:bits], keep[: bits // 8], last, first, left == 0
