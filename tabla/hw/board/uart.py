"""The serial line: eight data bits, no parity, one stop bit, lowest bit first; the line rests high."""

from typing import Any

from amaranth.hdl import Cat, Const, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

BITS = 10
"""Start bit, eight data bits, stop bit."""


class UartReceiver(wiring.Component):
    """Takes bytes from the line. A bit is sampled once, in its middle. A byte without a stop bit is dropped.

    Members
    -------
    pin : In(1)
        Not synchronous to the clock.
    data : Out(8), valid : Out(1)
        A byte has come; for one cycle, in the middle of its stop bit.
    """

    def __init__(self, *, divisor: int) -> None:
        if divisor < 2:
            raise ValueError(f"{divisor} cycles are too few to sample a bit")
        self.divisor = divisor
        super().__init__({"pin": In(1, init=1), "data": Out(8), "valid": Out(1)})

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        first = Signal(init=1)
        line = Signal(init=1)
        m.d.sync += [first.eq(self.pin), line.eq(first), self.valid.eq(0)]
        timer = Signal(range(self.divisor))
        left = Signal(range(BITS + 1))
        with m.If(left == 0):
            m.d.sync += timer.eq(self.divisor // 2 - 1)
            with m.If(~line):
                m.d.sync += left.eq(BITS)
        with m.Elif(timer != 0):
            m.d.sync += timer.eq(timer - 1)
        with m.Else():
            m.d.sync += [timer.eq(self.divisor - 1), left.eq(left - 1)]
            with m.If(left == BITS):
                with m.If(line):  # too short for a start bit
                    m.d.sync += left.eq(0)
            with m.Elif(left == 1):
                m.d.sync += self.valid.eq(line)
            with m.Else():
                m.d.sync += self.data.eq(Cat(self.data[1:], line))
        return m


class UartTransmitter(wiring.Component):
    """Sends bytes onto the line, without a pause between them.

    Members
    -------
    valid : In(1), ready : Out(1), data : In(8)
    pin : Out(1)
    """

    def __init__(self, *, divisor: int) -> None:
        self.divisor = divisor
        super().__init__({"valid": In(1), "ready": Out(1), "data": In(8), "pin": Out(1, init=1)})

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        timer = Signal(range(self.divisor))
        left = Signal(range(BITS + 1))
        shift = Signal(BITS - 1, init=-1)
        m.d.comb += [self.ready.eq((left == 0) | ((left == 1) & (timer == 0))), self.pin.eq(shift[0])]
        with m.If(self.valid & self.ready):
            m.d.sync += [shift.eq(Cat(Const(0, 1), self.data)), left.eq(BITS), timer.eq(self.divisor - 1)]
        with m.Elif(timer != 0):
            m.d.sync += timer.eq(timer - 1)
        with m.Elif(left != 0):
            m.d.sync += [timer.eq(self.divisor - 1), left.eq(left - 1), shift.eq(Cat(shift[1:], Const(1, 1)))]
        return m
