"""The host's end of a board: frames of a serial line on one side, an accelerator's ports on the other."""

from typing import Any

from amaranth.hdl import Module, ResetInserter, Signal
from amaranth.lib import wiring
from amaranth.lib.fifo import SyncFIFOBuffered
from amaranth.lib.wiring import In, Out

from tabla.hw.board.buffer import BlockQueue
from tabla.hw.board.frames import FrameReceiver, FrameSender
from tabla.hw.board.replies import Replier
from tabla.hw.board.requests import RequestReader
from tabla.hw.board.splitter import BeatSplitter
from tabla.hw.board.stopwatch import Stopwatch
from tabla.hw.board.uart import UartReceiver, UartTransmitter
from tabla.hw.reset import reset_cycles
from tabla.program.protocol import MAGIC, OUTPUT_WORDS, LinkShape, Request, fingerprint

COUNTERS = ("lane_overflows", "root_overflows", "domain_errors")
_REQUEST = ("ends", "sound", "known", "code", "argument")


class HostLink(wiring.Component):
    """Carries out the requests of ``docs/decisions/0012-board.md``, one at a time, and gives each one reply.

    Beats reach the accelerator only after the check of their frame has held. A sound RESET frame resets the accelerator
    and drops whatever is under way, a reply too.

    Members
    -------
    receive : In(1), transmit : Out(1)
        The line; `divisor` cycles a bit. `memory` is that of `LinkShape.of`.
    machine_reset : Out(1)
        Resets the accelerator; at power-up too.
    damaged : Out(1)
        Some frame did not pass its check since reset.
    Others : as the accelerator's, seen from the other end.
    """

    def __init__(self, *, image: Any, divisor: int, clock: int, memory: int = 0) -> None:
        self.divisor, self.predicts = divisor, image.parameters.predicts
        self.reset_cycles = reset_cycles(image)
        self.shape = self._shape(image, memory)
        self.width, self.port_words = image.parameters.width, image.parameters.port_words
        self.beat_width = image.parameters.stream_words * self.width
        self.constants = {
            "magic": MAGIC,
            **self._marks(image),
            "clock": clock,
            "buffer": self.shape.beats,
        }
        super().__init__(self._members())

    def _shape(self, image: Any, memory: int) -> LinkShape:
        return LinkShape.of(image, memory)

    def _marks(self, image: Any) -> dict[str, int]:
        """Return what the status tells of the program, where that never changes."""
        return {"program": fingerprint(image)}

    def _replier(self) -> Replier:
        return Replier(shape=self.shape, width=self.width, predicts=self.predicts)

    def _reader(self) -> RequestReader:
        return RequestReader(shape=self.shape, beat_width=self.beat_width, predicts=self.predicts)

    def _values(self) -> dict[str, Any]:
        """Return the words of the status that are not those of every board."""
        return {}

    def _members(self) -> dict[str, Any]:
        return {
            "receive": In(1, init=1),
            "transmit": Out(1, init=1),
            "machine_reset": Out(1, init=1),
            "damaged": Out(1),
            "command_valid": Out(1),
            "command_ready": In(1),
            "command_code": Out(2),
            **({"command_predict": Out(1)} if self.predicts else {}),
            "command_count": Out(32),
            "in_valid": Out(1),
            "in_ready": In(1),
            "in_data": Out(self.beat_width),
            "out_valid": In(1),
            "out_ready": Out(1),
            "out_data": In(self.port_words * self.width),
            "busy": In(1),
            "sample_start": In(1),
            "update": In(1),
            **{name: In(32) for name in COUNTERS},
        }

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        restart = Signal()
        clears = ResetInserter({"sync": restart})
        m.submodules.receiver = receiver = UartReceiver(divisor=self.divisor)
        m.submodules.transmitter = transmitter = UartTransmitter(divisor=self.divisor)
        m.submodules.frames_in = frames = FrameReceiver()
        m.submodules.requests = requests = self._reader()
        sender, replier, stopwatch = FrameSender(), self._replier(), Stopwatch()
        beats = BlockQueue(width=self.beat_width, depth=self.shape.beats)
        # One beat stands behind the block RAM, which then has a power of two of them.
        port = self.port_words
        words = SyncFIFOBuffered(width=port * self.width, depth=OUTPUT_WORDS // port + 1)
        # A block RAM answers late in its cycle, so the word or beat that is to leave waits in a register.
        one = port == 1
        leaving = SyncFIFOBuffered(width=self.width, depth=1) if one else BeatSplitter(width=self.width, beat=port)
        m.submodules.frames_out = clears(sender)
        m.submodules.replier = clears(replier)
        m.submodules.beats = clears(beats)
        m.submodules.words = clears(words)
        m.submodules.leaving = clears(leaving)
        m.submodules.stopwatch = clears(stopwatch)
        m.d.comb += [
            receiver.pin.eq(self.receive),
            frames.line_valid.eq(receiver.valid),
            frames.line_data.eq(receiver.data),
            requests.frame_valid.eq(frames.valid),
            requests.frame_data.eq(frames.data),
            requests.frame_ends.eq(frames.ends),
            requests.frame_sound.eq(frames.sound),
            requests.room.eq(beats.room),
            requests.replayable.eq(beats.kept & ~self.busy),
            beats.keep.eq(replier.keep),
            beats.replay.eq(replier.replay),
            beats.put.eq(requests.put),
            beats.word.eq(requests.word),
            beats.commit.eq(requests.commit),
            beats.rollback.eq(requests.rollback),
            restart.eq(requests.ends & requests.known & (requests.code == Request.RESET)),
            *(getattr(replier, name).eq(getattr(requests, name)) for name in _REQUEST),
            leaving.w_en.eq(words.r_rdy),
            leaving.w_data.eq(words.r_data),
            words.r_en.eq(leaving.w_rdy),
            replier.out_valid.eq(leaving.r_rdy),
            replier.out_data.eq(leaving.r_data),
            leaving.r_en.eq(replier.out_ready),
            sender.valid.eq(replier.valid),
            sender.data.eq(replier.data),
            sender.last.eq(replier.last),
            replier.ready.eq(sender.ready),
            transmitter.valid.eq(sender.line_valid),
            transmitter.data.eq(sender.line_data),
            sender.line_ready.eq(transmitter.ready),
            self.transmit.eq(transmitter.pin),
        ]
        self._machine(m, replier, stopwatch, beats, words)
        self._resets(m, restart, replier)
        with m.If(requests.ends & ~requests.sound):
            m.d.sync += self.damaged.eq(1)
        with m.If(restart):
            m.d.sync += self.damaged.eq(0)
        return m

    def _machine(self, m: Module, replier: Replier, stopwatch: Stopwatch, beats: BlockQueue, words: Any) -> None:
        """Connect the accelerator's ports, and the stopwatch that measures at them."""
        m.d.comb += [
            self.command_valid.eq(replier.command_valid),
            self.command_code.eq(replier.command_code),
            self.command_count.eq(replier.command_count),
            replier.command_ready.eq(self.command_ready),
            *([self.command_predict.eq(replier.command_predict)] if self.predicts else []),
            self.in_valid.eq(beats.out_valid),
            self.in_data.eq(beats.out_data),
            beats.out_ready.eq(self.in_ready),
            words.w_en.eq(self.out_valid),
            words.w_data.eq(self.out_data),
            self.out_ready.eq(words.w_rdy),
            stopwatch.restart.eq(self.command_valid & self.command_ready),
            stopwatch.beat.eq(self.in_valid & self.in_ready),
            stopwatch.token.eq(self.sample_start),
            stopwatch.update.eq(self.update),
            stopwatch.output.eq(self.out_valid & self.out_ready),
        ]
        values = self.constants | {"busy": self.busy} | {name: getattr(self, name) for name in COUNTERS}
        values |= {name: getattr(stopwatch, name) for name in ("tokens", "interval", "last_update", "last_output")}
        values |= self._values()
        m.d.comb += [getattr(replier, name).eq(values[name]) for name in replier.TOLD]

    def _resets(self, m: Module, restart: Any, replier: Replier) -> None:
        """Reset the accelerator for as long as all its registers need, and then let a RESET be answered."""
        left = Signal(range(self.reset_cycles + 1), init=self.reset_cycles)
        asked = Signal()
        m.d.sync += self.machine_reset.eq(left != 0)
        m.d.comb += replier.greet.eq(asked & (left == 0))
        with m.If(restart):
            m.d.sync += [left.eq(self.reset_cycles), asked.eq(1)]
        with m.Elif(left != 0):
            m.d.sync += left.eq(left - 1)
        with m.Else():
            m.d.sync += asked.eq(0)
