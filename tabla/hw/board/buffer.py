"""The queue of the host's beats. The end of a frame may show that its beats are damaged; sound beats can repeat."""

from typing import Any

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from tabla.hw.block_queue import block_queue


class BlockQueue(wiring.Component):
    """A queue of `depth` words (a power of two) in block RAM, and of two more behind it; a word a cycle each way.

    A word that was put is hidden from the reader until `commit`, and forgotten by `rollback`. Both count for the words
    put before their cycle. A word that is committed in cycle *t* is offered from *t* + ``LATENCY`` on. The queue is our
    own because Amaranth's queues cannot roll back.

    What has left the queue stays in its RAM until other words take its place. `keep` marks the place of the next word
    that is put, and `replay` gives all committed words since then once more.

    Members
    -------
    put : In(1), word : In(width)
        Only while there is `room`.
    room : Out(1)
    commit : In(1), rollback : In(1)
    keep : In(1)
        Only while every word is committed.
    kept : Out(1)
        The queue is empty, and holds all words since the last `keep`.
    replay : In(1)
        Only while they are `kept`, and not in the cycle of a `put` or a `keep`. The words are offered from ``LATENCY``
        cycles later on.
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
                "keep": In(1),
                "kept": Out(1),
                "replay": In(1),
                "out_valid": Out(1),
                "out_ready": In(1),
                "out_data": Out(width),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        written, visible, read_at = (Signal(range(2 * self.depth), name=n) for n in ("written", "visible", "read_at"))
        with m.If(self.put):
            m.d.sync += written.eq(written + 1)
        with m.If(self.commit):
            m.d.sync += visible.eq(written)
        with m.If(self.rollback):
            m.d.sync += written.eq(visible)
        m.d.comb += self.room.eq((written ^ read_at) != self.depth)
        fetched = block_queue(m, self, written=written, visible=visible, read_at=read_at, write=self.put)
        mark = Signal(range(2 * self.depth))
        whole = Signal()
        m.d.comb += self.kept.eq(whole & (visible == read_at) & ~fetched & ~self.out_valid)
        with m.If(self.put & ((written ^ mark) == self.depth)):
            m.d.sync += whole.eq(0)  # this word takes the place of the one at the mark
        with m.If(self.keep):
            m.d.sync += [mark.eq(visible), whole.eq(1)]
        with m.If(self.replay):
            m.d.sync += read_at.eq(mark)
        return m
