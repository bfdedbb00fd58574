"""The queue of the beats that the host sends, whose frame may still turn out to be damaged."""

from typing import Any

from amaranth.hdl import Module, Signal
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In, Out


class BlockQueue(wiring.Component):
    """A queue of `depth` words (a power of two) in block RAM, and of two more behind it; a word a cycle each way.

    A word that was put is hidden from the reader until `commit`, and forgotten by `rollback`. Both count for the words
    put before their cycle. A word that is committed in cycle *t* is offered from *t* + ``LATENCY`` on. The queue is our
    own because Amaranth's queues cannot roll back.

    Members
    -------
    put : In(1), word : In(width)
        Only while there is `room`.
    room : Out(1)
    commit : In(1), rollback : In(1)
    out_valid : Out(1), out_ready : In(1), out_data : Out(width)
    """

    LATENCY = 3

    def __init__(self, *, width: int, depth: int) -> None:
        if depth & (depth - 1):
            raise ValueError(f"{depth} words are not a power of two")
        self.width, self.depth = width, depth
        super().__init__(
            {
                "put": In(1),
                "word": In(width),
                "room": Out(1),
                "commit": In(1),
                "rollback": In(1),
                "out_valid": Out(1),
                "out_ready": In(1),
                "out_data": Out(width),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        # A word is never read in the cycle in which it is written: no logic around the block RAM is needed for that.
        m.submodules.words = words = memory.Memory(
            shape=self.width, depth=self.depth, init=[], attrs={"no_rw_check": 1}
        )
        write, read = words.write_port(), words.read_port(domain="sync")
        places = range(2 * self.depth)
        written = Signal(places)
        read_at = Signal(places)
        visible = Signal(places)
        fetched = Signal()
        first = Signal()
        second = Signal()
        m.d.comb += [
            self.room.eq((written ^ read_at) != self.depth),
            write.en.eq(self.put),
            write.addr.eq(written),
            write.data.eq(self.word),
            second.eq(~self.out_valid | self.out_ready),
            first.eq(~fetched | second),
            read.en.eq(first),
            read.addr.eq(read_at),
        ]
        with m.If(self.put):
            m.d.sync += written.eq(written + 1)
        with m.If(self.commit):
            m.d.sync += visible.eq(written)
        with m.If(self.rollback):
            m.d.sync += written.eq(visible)
        with m.If(first):
            m.d.sync += fetched.eq(visible != read_at)
            with m.If(visible != read_at):
                m.d.sync += read_at.eq(read_at + 1)
        with m.If(second):
            m.d.sync += [self.out_valid.eq(fetched), self.out_data.eq(read.data)]
        return m
