"""The cyclic redundancy check of images: that of Ethernet and of zlib, a byte a cycle."""

from typing import Any

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

_POLYNOMIAL = 0xEDB88320
_ONES = 0xFFFFFFFF


class Crc32(wiring.Component):
    """Takes words of 32 bits, the lowest byte first, and gives the CRC-32 of all of them.

    A word given with `take` in cycle *t* counts in `crc` from *t* + 5 on. `idle` says that another one may come.

    Members
    -------
    restart : In(1)
        Begin anew.
    take : In(1), word : In(32)
        Only while `idle`.
    idle : Out(1)
    crc : Out(32)
    """

    def __init__(self) -> None:
        super().__init__({"restart": In(1), "take": In(1), "word": In(32), "idle": Out(1), "crc": Out(32)})

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        state = Signal(32, init=_ONES)
        bytes_left = Signal(4)
        rest = Signal(32, reset_less=True)
        m.d.comb += [self.idle.eq(~bytes_left[0]), self.crc.eq(~state)]
        with m.If(bytes_left[0]):
            m.d.sync += [state.eq(after_byte(state, rest[:8])), rest.eq(rest[8:]), bytes_left.eq(bytes_left[1:])]
        with m.If(self.take):
            m.d.sync += [rest.eq(self.word), bytes_left.eq(0b1111)]
        with m.If(self.restart):
            m.d.sync += [state.eq(_ONES), bytes_left.eq(0)]
        return m


def after_byte(state: Any, byte: Any) -> Any:
    """Return the state of the check after a byte."""
    bits = [state[n] ^ byte[n] if n < len(byte) else state[n] for n in range(len(state))]
    for _ in range(len(byte)):
        leaving, *others = bits
        # Into its highest bit only the leaving bit goes.
        bits = [bit ^ leaving if _POLYNOMIAL >> n & 1 else bit for n, bit in enumerate(others)] + [leaving]
    return Cat(*bits)
