"""Carries out requests: the accelerator's commands, and one reply for each frame."""

from functools import reduce
from operator import or_
from typing import Any

from amaranth.hdl import Array, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from tabla.hw.predicting import described
from tabla.program.protocol import ARGUMENT_BYTES, DONE, STATUS, LinkShape, PredictRequest, Refusal, Request

_PREDICTING = """
command_predict : Out(1)
    Beside `command_valid`: the run predicts.
"""


class Replier(wiring.Component):
    """Answers one request after another. A frame that ends while an answer is under way is lost.

    A reset drops the answer under way.

    Members
    -------
    ends, sound, known : In(1), code : In(8), argument : In(32)
        As ``RequestReader`` gives them.
    greet : In(1)
        Answer a RESET now, unless something is being answered.
    command_valid : Out(1), command_ready : In(1), command_code : Out(2), command_count : Out(32)
    keep : Out(1), replay : Out(1)
        A KEEP or a REPLAY is carried out, in the cycle in which its frame ends.
    out_valid : In(1), out_ready : Out(1), out_data : In(width)
        Words of the output queue.
    valid : Out(1), ready : In(1), data : Out(8), last : Out(1)
        The reply's bytes, as ``FrameSender`` takes them.
    One In(32) for each name in ``STATUS``.
        A STATUS is answered when `busy` is 0, or after as many cycles as its argument says.
    """

    TOLD: tuple[str, ...] = STATUS
    """The words of a reply to STATUS."""

    def __init__(self, *, shape: LinkShape, width: int, predicts: bool = False) -> None:
        self.shape, self.predicts = shape, predicts
        if predicts:
            self.data_sheet = described(self, _PREDICTING)
        super().__init__(self._members(width))

    def _members(self, width: int) -> dict[str, Any]:
        return {
            "ends": In(1),
            "sound": In(1),
            "known": In(1),
            "code": In(8),
            "argument": In(8 * ARGUMENT_BYTES),
            "greet": In(1),
            "command_valid": Out(1),
            "command_ready": In(1),
            "command_code": Out(2),
            **({"command_predict": Out(1)} if self.predicts else {}),
            "command_count": Out(32),
            "keep": Out(1),
            "replay": Out(1),
            "out_valid": In(1),
            "out_ready": Out(1),
            "out_data": In(width),
            "valid": Out(1),
            "ready": In(1),
            "data": Out(8),
            "last": Out(1),
            **dict.fromkeys(self.TOLD, In(32)),
        }

    def _replays(self, code: Any) -> Any:
        """Return whether a request takes the beats that are kept."""
        replays = code == Request.REPLAY
        return replays | (code == PredictRequest.PREDICT_KEPT) if self.predicts else replays

    def _predicts(self, code: Any) -> Any:
        """Return whether a request predicts."""
        return reduce(or_, (code == each for each in PredictRequest))

    def _runs(self, code: Any) -> Any:
        """Return whether a request is another one than RUN, and the accelerator's command is a run."""
        return self._replays(code) | self._predicts(code) if self.predicts else self._replays(code)

    def _more_requests(self, m: Module) -> None:
        """Carry out requests that not every board takes, in further branches of a condition."""

    def _more_states(self, m: Module) -> None:
        """Add the states of such requests."""

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        reply = Signal(8)
        code = Signal(8)
        left = Signal(32)
        byte = Signal(2)
        index = Signal(range(len(self.TOLD)))
        tells = Signal()
        reads = Signal()
        shown = Signal(32)
        status = Array(getattr(self, name) for name in self.TOLD)
        m.d.comb += [
            tells.eq((code == Request.STATUS) | (code == Request.RESET)),
            reads.eq((code == Request.READ) & (left != 0)),
            shown.eq(Mux(reads, self.out_data, status[index])),
            self.command_code.eq(Mux(self._runs(code), Request.RUN, code)),
            self.command_count.eq(left),
        ]
        if self.predicts:
            m.d.comb += self.command_predict.eq(self._predicts(code))
        # A register in front of the sender, filled when it is empty: bytes leave much more slowly than that.
        offered = Signal()
        taken = Signal()
        chosen = Signal(8)
        final = Signal()
        m.d.comb += taken.eq(offered & ~self.valid)
        with m.If(self.ready):
            m.d.sync += self.valid.eq(0)
        with m.If(taken):
            m.d.sync += [self.valid.eq(1), self.data.eq(chosen), self.last.eq(final)]
        with m.FSM():
            with m.State("LISTEN"):
                m.d.sync += [byte.eq(0), index.eq(0), left.eq(self.argument), code.eq(self.code)]
                m.d.sync += reply.eq(self.code | DONE)
                with m.If(self.greet):
                    m.d.sync += [code.eq(Request.RESET), reply.eq(Request.RESET | DONE)]
                    m.next = "REPLY"
                with m.Elif(self.ends):
                    m.next = "REPLY"
                    with m.If(~self.known):
                        m.d.sync += [code.eq(-1), reply.eq(Mux(self.sound, Refusal.REFUSED, Refusal.DAMAGED))]
                    with m.Elif((self.code <= Request.DUMP) | self._runs(self.code)):
                        m.d.comb += self.replay.eq(self._replays(self.code))
                        m.next = "COMMAND"
                    with m.Elif(self.code == Request.STATUS):
                        m.next = "WAIT"
                    with m.Elif(self.code == Request.KEEP):
                        m.d.comb += self.keep.eq(1)
                    self._more_requests(m)
            with m.State("WAIT"):
                m.d.sync += left.eq(left - 1)
                with m.If(~self.busy.any() | (left == 0)):
                    m.next = "REPLY"
            with m.State("COMMAND"):
                m.d.comb += self.command_valid.eq(1)
                with m.If(self.command_ready):
                    m.next = "REPLY"
            with m.State("REPLY"):
                m.d.comb += [offered.eq(1), chosen.eq(reply), final.eq(~tells & ~reads)]
                with m.If(taken):
                    m.next = "LISTEN"
                    with m.If(tells):
                        m.next = "STATUS"
                    with m.If(reads):
                        m.next = "WORDS"
            with m.State("STATUS"):
                m.d.comb += [
                    offered.eq(1),
                    chosen.eq(shown.word_select(byte, 8)),
                    final.eq((byte == 3) & (index == len(self.TOLD) - 1)),
                ]
                with m.If(taken):
                    m.d.sync += [byte.eq(byte + 1), index.eq(index + (byte == 3))]
                    with m.If(final):
                        m.next = "LISTEN"
            with m.State("WORDS"):
                ends = byte == self.shape.word_bytes - 1
                m.d.comb += [
                    offered.eq(self.out_valid),
                    chosen.eq(shown.word_select(byte, 8)),
                    final.eq(ends & (left == 1)),
                    self.out_ready.eq(taken & ends),
                ]
                with m.If(taken):
                    m.d.sync += [byte.eq(Mux(ends, 0, byte + 1)), left.eq(left - ends)]
                    with m.If(final):
                        m.next = "LISTEN"
            self._more_states(m)
        return m
