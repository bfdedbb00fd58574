"""The queue of the beats of whole units, whose last beat of the bus may still turn out to be faulty."""

from typing import Any

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from tabla.hw.block_queue import block_queue


class UnitBuffer(wiring.Component):
    """A queue of `depth` - 1 beats (`depth` is a power of two) in block RAM, and of two more behind it; a beat a cycle
    each way.

    A beat that was put is hidden from the reader. `commit` shows all beats up to the last one that was put with `ends`,
    and `rollback` forgets all beats that are still hidden. A beat that is put in the cycle of a `commit` does not count
    for it; a beat that is put in the cycle of a `rollback` is forgotten. A beat that is committed in cycle *t* is
    offered from *t* + ``LATENCY`` on. ``hw/board/buffer.py`` is a queue without `ends`, in which a commit shows
    everything.

    Members
    -------
    put : In(1), word : In(width), ends : In(1)
        Only while there is `room`.
    room : Out(1)
    commit : In(1), rollback : In(1)
    clear : In(1)
        Forget all beats.
    empty : Out(1)
        No committed beat is left.
    out_valid : Out(1), out_ready : In(1), out_data : Out(width)
    """

    LATENCY = 3

    def __init__(self, *, width: int, depth: int) -> None:
        if depth & (depth - 1):
            raise ValueError(f"{depth} beats are not a power of two")
        self.width, self.depth = width, depth
        super().__init__(
            {
                "put": In(1),
                "word": In(width),
                "ends": In(1),
                "room": Out(1),
                "commit": In(1),
                "rollback": In(1),
                "clear": In(1),
                "empty": Out(1),
                "out_valid": Out(1),
                "out_ready": In(1),
                "out_data": Out(width),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        places = range(2 * self.depth)
        written, ended, visible, read_at = (Signal(places, name=n) for n in ("written", "ended", "visible", "read_at"))
        after = Signal(places)
        m.d.comb += after.eq(written + 1)
        with m.If(self.put):
            m.d.sync += written.eq(after)
        with m.If(self.put & self.ends):
            m.d.sync += ended.eq(after)
        with m.If(self.commit):
            m.d.sync += visible.eq(ended)
        with m.If(self.rollback):
            m.d.sync += [place.eq(Mux(self.commit, ended, visible)) for place in (written, ended)]
        # `room` is a register. It counts on a beat that is put in the cycle before.
        held = Signal(places)
        m.d.comb += held.eq(written - read_at)
        m.d.sync += self.room.eq(~(held[-1] | held[:-1].all()))
        # The free place is written in every cycle, so no path leads from `put` to the block RAM.
        fetched = block_queue(m, self, written=written, visible=visible, read_at=read_at, write=self.room)
        m.d.comb += self.empty.eq((visible == read_at) & ~fetched & ~self.out_valid)
        with m.If(self.clear):
            m.d.sync += [place.eq(0) for place in (written, ended, visible, read_at, fetched, self.out_valid)]
        return m
