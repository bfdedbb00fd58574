"""What the queues of our own in block RAM have in common: the RAM, and the words that wait behind it."""

from typing import Any

from amaranth.hdl import Cat, Module, Signal, Value
from amaranth.lib import memory

from tabla.hw.memory import ANY_WORDS

# Block RAMs of ECP5 and Gowin hold 16,384 bits, and 18,432 where their words have 9 bits or more.
_BLOCK, _WIDEST = 16384, 18


def block_queue(m: Module, queue: Any, *, written: Signal, visible: Signal, read_at: Signal, write: Value) -> Signal:
    """Make the block RAM of a queue, and connect its ports `word`, `out_valid`, `out_ready`, `out_data`.

    The queue itself moves the places `written` and `visible`. A word that is put goes to `written`, which is also the
    place of each `write`, and the words from `read_at` up to `visible` may leave. Two words wait behind the RAM, one in
    its output and one in `out_data`, so a word leaves in every cycle in which `out_ready` is 1. The latency from
    `visible` to `out_valid` is 2 cycles. Places count modulo twice the depth. Return the signal that says that a word
    waits in the RAM's output.
    """
    fetched = Signal()
    first = Signal()
    second = Signal()
    # Without a reset this is a register that a block RAM has behind its output.
    shown = Signal(queue.width, reset_less=True)
    m.d.comb += [
        second.eq(~queue.out_valid | queue.out_ready),
        first.eq(~fetched | second),
    ]
    word = _block_memory(m, queue, write=write, write_at=written, read=first, read_at=read_at)
    with m.If(first):
        m.d.sync += fetched.eq(visible != read_at)
        with m.If(visible != read_at):
            m.d.sync += read_at.eq(read_at + 1)
    with m.If(second):
        m.d.sync += [queue.out_valid.eq(fetched), shown.eq(word)]
    m.d.comb += queue.out_data.eq(shown)
    return fetched


def slice_bits(depth: int) -> int:
    """Return how many bits of each word one block RAM of `depth` words holds, at least 1 and at most 18."""
    return _WIDEST if depth <= _BLOCK // 16 else 9 if depth <= _BLOCK // 8 else max(1, _BLOCK // depth)


def _block_memory(m: Module, queue: Any, *, write: Value, write_at: Signal, read: Signal, read_at: Signal) -> Value:
    """Make the RAM of a queue, and return the word that it read last.

    Each block RAM holds some bits of every word. Yosys would give each block RAM of a deep queue all bits of some words
    instead, which needs a multiplexer behind the block RAMs and a decoder in front of them: with sixteen block RAMs
    these cost 300 LUT4 and a tenth of the clock rate. A block RAM of an ECP5 has a register behind its output only for
    words of at most 18 bits.
    """
    bits = slice_bits(queue.depth)
    parts = []
    for low in range(0, queue.width, bits):
        high = min(low + bits, queue.width)
        # No word that leaves is read in the cycle in which it is written: no logic around the block RAM is needed.
        part = memory.Memory(shape=high - low, depth=queue.depth, init=[], attrs={"no_rw_check": 1, ANY_WORDS: 1})
        m.submodules["words" if bits >= queue.width else f"words_{low}"] = part
        writer, reader = part.write_port(), part.read_port(domain="sync")
        m.d.comb += [
            writer.en.eq(write),
            writer.addr.eq(write_at),
            writer.data.eq(queue.word[low:high]),
            reader.en.eq(read),
            reader.addr.eq(read_at),
        ]
        parts.append(reader.data)
    return Cat(*parts)
