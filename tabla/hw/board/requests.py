"""From the bytes of frames to requests, and from requests to beats in their queue."""

from typing import Any

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from tabla.program.protocol import ARGUMENT_BYTES, CHECK_BYTES, LinkShape, PredictRequest, Request


class RequestReader(wiring.Component):
    """Takes frames apart: a code, an argument, for BEATS as many beats as the argument says, and the check.

    Beats are put into the queue as they come. The end of a sound BEATS frame commits them; the end of any other frame
    rolls them back.

    Members
    -------
    frame_valid : In(1), frame_data : In(8), frame_ends : In(1), frame_sound : In(1)
        As ``FrameReceiver`` gives them.
    put : Out(1), word : Out(beat_width), room : In(1), commit : Out(1), rollback : Out(1)
        As ``BlockQueue`` takes them.
    replayable : In(1)
        High while a REPLAY can be carried out. While it is low, a REPLAY is not `known`.
    ends : Out(1)
        A frame ends in this cycle, and the other outputs belong to it.
    sound : Out(1)
        Its check holds and its length is right.
    known : Out(1)
        Besides, it is a request that there is, and its beats had room.
    code : Out(8), argument : Out(32)
    """

    def __init__(self, *, shape: LinkShape, beat_width: int, predicts: bool = False) -> None:
        self.shape, self.beat_width, self.predicts = shape, beat_width, predicts
        super().__init__(
            {
                "frame_valid": In(1),
                "frame_data": In(8),
                "frame_ends": In(1),
                "frame_sound": In(1),
                "put": Out(1),
                "word": Out(beat_width),
                "room": In(1),
                "replayable": In(1),
                "commit": Out(1),
                "rollback": Out(1),
                "ends": Out(1),
                "sound": Out(1),
                "known": Out(1),
                "code": Out(8),
                "argument": Out(8 * ARGUMENT_BYTES),
            }
        )

    def _last_code(self) -> int:
        """Return the greatest code of a request."""
        return max(Request)

    def _is_known(self) -> Any:
        """Return whether a request has the code of the frame, and can be carried out."""
        known, replays = self.code <= self._last_code(), self.code == Request.REPLAY
        if not self.predicts:
            return known & ((self.code != Request.REPLAY) | self.replayable)
        kept = self.code == PredictRequest.PREDICT_KEPT
        return (known | (self.code == PredictRequest.PREDICT) | kept) & (~(replays | kept) | self.replayable)

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        header, each = 1 + ARGUMENT_BYTES, self.shape.beat_bytes
        place = Signal(range(header + 1))
        tail = Signal(range(CHECK_BYTES + 2))
        refused = Signal()
        beat = Signal(8 * each)
        byte = Signal(range(each))
        complete = Signal()
        left = Signal(16)
        m.d.sync += complete.eq(0)
        with m.If(self.frame_valid):
            with m.If(place == 0):
                m.d.sync += [self.code.eq(self.frame_data), place.eq(1)]
            with m.Elif(place != header):
                m.d.sync += [self.argument.eq(Cat(self.argument, self.frame_data)[8:]), place.eq(place + 1)]
                with m.If((place == header - 1) & (self.code == Request.BEATS)):
                    # The first bytes of the argument, of which the last comes now.
                    m.d.sync += left.eq(self.argument[8:24])
            with m.Elif(left != 0):
                m.d.sync += [beat.eq(Cat(beat, self.frame_data)[8:]), byte.eq(byte + 1)]
                with m.If(byte == each - 1):
                    m.d.sync += [byte.eq(0), complete.eq(1), left.eq(left - 1)]
            with m.Elif(tail != CHECK_BYTES + 1):
                m.d.sync += tail.eq(tail + 1)
        with m.If(complete & ~self.room):
            m.d.sync += refused.eq(1)
        m.d.comb += [
            self.word.eq(beat[: self.beat_width]),
            self.put.eq(complete & self.room),
            self.ends.eq(self.frame_ends),
            self.sound.eq(self.frame_sound & (tail == CHECK_BYTES) & (left == 0)),
            self.known.eq(self.sound & ~refused & self._is_known()),
            self.commit.eq(self.ends & self.known & (self.code == Request.BEATS)),
            self.rollback.eq(self.ends & ~self.commit),
        ]
        with m.If(self.ends):
            m.d.sync += [place.eq(0), tail.eq(0), byte.eq(0), left.eq(0), refused.eq(0)]
        return m
