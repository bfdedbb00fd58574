"""What the queues of our own in block RAM have in common: the RAM, and the words that wait behind it."""

from typing import Any

from amaranth.hdl import Module, Signal
from amaranth.lib import memory


def block_queue(m: Module, queue: Any, *, written: Signal, visible: Signal, read_at: Signal) -> Signal:
    """Make the block RAM of a queue, and connect its ports `put`, `word`, `room`, `out_valid`, `out_ready`, `out_data`.

    The queue itself moves the places `written` and `visible`. A word that is put goes to `written`, and the words from
    `read_at` up to `visible` may leave. Two words wait behind the RAM, one in its output and one in `out_data`, so a
    word leaves in every cycle in which `out_ready` is 1. The latency from `visible` to `out_valid` is 2 cycles. Places
    count modulo twice the depth. Return the signal that says that a word waits in the RAM's output.
    """
    # A word is never read in the cycle in which it is written: no logic around the block RAM is needed for that.
    m.submodules.words = words = memory.Memory(shape=queue.width, depth=queue.depth, init=[], attrs={"no_rw_check": 1})
    write, read = words.write_port(), words.read_port(domain="sync")
    fetched = Signal()
    first = Signal()
    second = Signal()
    m.d.comb += [
        queue.room.eq((written ^ read_at) != queue.depth),
        write.en.eq(queue.put),
        write.addr.eq(written),
        write.data.eq(queue.word),
        second.eq(~queue.out_valid | queue.out_ready),
        first.eq(~fetched | second),
        read.en.eq(first),
        read.addr.eq(read_at),
    ]
    with m.If(first):
        m.d.sync += fetched.eq(visible != read_at)
        with m.If(visible != read_at):
            m.d.sync += read_at.eq(read_at + 1)
    with m.If(second):
        m.d.sync += [queue.out_valid.eq(fetched), queue.out_data.eq(read.data)]
    return fetched
