"""Frames as in RFC 1662: flags around them, escaped bytes in them, a CRC-32 at their end."""

from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.crc.catalog import CRC32_ISO_HDLC
from amaranth.lib.wiring import In, Out

from tabla.program.protocol import CHECK_BYTES, ESCAPE, FLAG, FLIP


class Crc32(wiring.Component):
    """The check of a frame: CRC-32 as in Ethernet and in Python's ``zlib``, computed a bit a cycle.

    A byte given in cycle *t* counts in the outputs from *t* + ``LATENCY`` on; the next byte comes then, or later.
    Amaranth's processor of the catalogue does the arithmetic. It takes one bit at a time because a serial line leaves
    it the time, and because the logic of a byte at a time would be a tenth of the whole link.

    Members
    -------
    clear : In(1)
        A new frame begins with the next byte.
    valid : In(1), data : In(8)
    value : Out(32)
        The check of the bytes since `clear`, as it follows them in the frame, lowest byte first.
    sound : Out(1)
        The last four bytes were the check of those before them.
    """

    LATENCY = 9

    def __init__(self) -> None:
        super().__init__({"clear": In(1), "valid": In(1), "data": In(8), "value": Out(32), "sound": Out(1)})

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        m.submodules.processor = processor = CRC32_ISO_HDLC(data_width=1).create()
        byte = Signal(8)
        left = Signal(range(9))
        m.d.comb += [
            processor.start.eq(self.clear),
            processor.valid.eq((left != 0) & ~self.clear),
            processor.data.eq(byte[0]),
            self.value.eq(processor.crc),
            self.sound.eq(processor.match_detected),
        ]
        with m.If(left != 0):
            m.d.sync += [left.eq(left - 1), byte.eq(byte >> 1)]
        with m.If(self.valid):
            m.d.sync += [byte.eq(self.data), left.eq(8)]
        with m.If(self.clear):
            m.d.sync += left.eq(0)
        return m


class FrameReceiver(wiring.Component):
    """Takes the bytes of the line and gives the bytes of frames, the check among them.

    A byte of the line in cycle *t* shows in `data`, or the end of its frame in `ends`, in cycle *t* + 1. The bytes of
    the line come at least ``Crc32.LATENCY`` + 1 cycles apart: a flag looks at the check of the byte before it.

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
                    self.sound.eq(crc.sound & ~escaped),
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
    """Takes the bytes of frames and gives the bytes of the line, with flags, escapes and the check.

    The line takes a byte every ``Crc32.LATENCY`` + 1 cycles, at most. A reset forgets the frame under way. For the
    receiver the flag of the next frame ends it, and its check will not hold.

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
                m.d.sync += [left.eq(CHECK_BYTES), check.eq(crc.value)]
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
