"""Frames as in RFC 1662: flags around them, bytes escaped, CRC-32 at their end."""

from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from tabla.program.link import CHECK_BYTES, ESCAPE, FLAG, FLIP, POLYNOMIAL, RESIDUE


class Crc32(wiring.Component):
    """A bit a cycle: a byte given in cycle *t* is in `value` from *t* + ``LATENCY`` on.

    Members
    -------
    clear : In(1), valid : In(1), data : In(8)
    value : Out(32)
    """

    LATENCY = 9

    def __init__(self) -> None:
        super().__init__({"clear": In(1), "valid": In(1), "data": In(8), "value": Out(32, init=-1)})

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        byte = Signal(8)
        left = Signal(range(9))
        feedback = self.value[0] ^ byte[0]
        with m.If(left != 0):
            m.d.sync += [
                left.eq(left - 1),
                byte.eq(byte >> 1),
                self.value.eq((self.value >> 1) ^ (Const(POLYNOMIAL, 32) & feedback.replicate(32))),
            ]
        with m.If(self.valid):
            m.d.sync += [byte.eq(self.data), left.eq(8)]
        with m.If(self.clear):
            m.d.sync += [self.value.eq(-1), left.eq(0)]
        return m


class FrameReceiver(wiring.Component):
    """Bytes of the line in, bytes of frames out, the check among them. Bytes come ``Crc32.LATENCY`` cycles apart, at
    least.

    Members
    -------
    line_valid : In(1), line_data : In(8)
    valid : Out(1), data : Out(8)
        A byte of a frame.
    ends : Out(1), sound : Out(1)
        A frame with at least one byte has ended; its check holds.
    """

    def __init__(self) -> None:
        super().__init__(
            {
                "line_valid": In(1),
                "line_data": In(8),
                "valid": Out(1),
                "data": Out(8),
                "ends": Out(1),
                "sound": Out(1),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        m.submodules.crc = crc = Crc32()
        escaped = Signal()
        some = Signal()
        m.d.comb += [
            crc.valid.eq(self.valid),
            crc.data.eq(self.data),
            crc.clear.eq(self.ends),
        ]
        m.d.sync += [self.valid.eq(0), self.ends.eq(0)]
        with m.If(self.line_valid):
            with m.If(self.line_data == FLAG):
                # An escape before the flag is the sender's way to give a frame up.
                m.d.sync += [
                    self.ends.eq(some),
                    self.sound.eq((crc.value == RESIDUE) & ~escaped),
                    some.eq(0),
                    escaped.eq(0),
                ]
            with m.Elif(self.line_data == ESCAPE):
                m.d.sync += [escaped.eq(1), some.eq(1)]
            with m.Else():
                m.d.sync += [
                    self.valid.eq(1),
                    self.data.eq(self.line_data ^ Mux(escaped, FLIP, 0)),
                    some.eq(1),
                    escaped.eq(0),
                ]
        return m


class FrameSender(wiring.Component):
    """Bytes of frames in, bytes of the line out; adds flags, escapes and the check. The line takes a byte every
    ``Crc32.LATENCY`` + 1 cycles, at most.

    A reset forgets the frame under way: the flag of the next one ends it for the receiver, and its check will not hold.

    Members
    -------
    valid : In(1), ready : Out(1), data : In(8), last : In(1)
        The bytes between flag and check.
    line_valid : Out(1), line_ready : In(1), line_data : Out(8)
    """

    def __init__(self) -> None:
        super().__init__(
            {
                "valid": In(1),
                "ready": Out(1),
                "data": In(8),
                "last": In(1),
                "line_valid": Out(1),
                "line_ready": In(1),
                "line_data": Out(8),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        m.submodules.crc = crc = Crc32()
        check = Signal(8 * CHECK_BYTES)
        left = Signal(range(CHECK_BYTES + 1))
        escaped = Signal()
        byte = Signal(8)
        offered = Signal()
        goes = Signal()
        reserved = (byte == FLAG) | (byte == ESCAPE)
        m.d.comb += [
            goes.eq(offered & self.line_ready & (~reserved | escaped)),
            crc.data.eq(self.data),
        ]

        def send() -> None:
            m.d.comb += [
                offered.eq(1),
                self.line_valid.eq(1),
                self.line_data.eq(Mux(escaped, byte ^ FLIP, Mux(reserved, ESCAPE, byte))),
            ]
            with m.If(self.line_ready):
                m.d.sync += escaped.eq(reserved & ~escaped)

        with m.FSM():
            with m.State("REST"):
                m.d.comb += [self.line_valid.eq(self.valid), self.line_data.eq(FLAG), crc.clear.eq(1)]
                m.d.sync += escaped.eq(0)
                with m.If(self.valid & self.line_ready):
                    m.next = "BODY"
            with m.State("BODY"):
                m.d.comb += byte.eq(self.data)
                with m.If(self.valid):
                    send()
                m.d.comb += [self.ready.eq(goes), crc.valid.eq(goes)]
                with m.If(goes & self.last):
                    m.next = "SUM"
            with m.State("SUM"):
                # The line is busy with the last byte until the check is complete.
                m.d.sync += [left.eq(CHECK_BYTES), check.eq(~crc.value)]
                with m.If(self.line_ready):
                    m.next = "CHECK"
            with m.State("CHECK"):
                m.d.comb += byte.eq(check[:8])
                send()
                with m.If(goes):
                    m.d.sync += [check.eq(Cat(check[8:], Const(0, 8))), left.eq(left - 1)]
                    with m.If(left == 1):
                        m.next = "CLOSE"
            with m.State("CLOSE"):
                m.d.comb += [self.line_valid.eq(1), self.line_data.eq(FLAG)]
                with m.If(self.line_ready):
                    m.next = "REST"
        return m
