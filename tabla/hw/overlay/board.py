"""An overlay on a board: the link of every board, with two requests that bring images."""

from typing import Any

from amaranth.hdl import Const, Module, Signal
from amaranth.lib.wiring import In, Out

from tabla.hw.board.core import BoardCore
from tabla.hw.board.link import HostLink
from tabla.hw.board.replies import Replier
from tabla.hw.board.requests import RequestReader
from tabla.program.overlay import CONTAINER, HOST_NUMBERS, Overlay, number_port, timing_widths
from tabla.program.protocol import OVERLAY_STATUS, LinkShape, ProgramRequest


class ProgramReader(RequestReader):
    """A ``RequestReader`` that also knows the requests that bring an image."""

    def _last_code(self) -> int:
        return max(ProgramRequest)


class ProgramReplier(Replier):
    """A ``Replier`` that also carries out the requests that bring an image. WORD is answered when the loader has taken
    the word.

    Members beside those of a ``Replier``
    -------
    program_start : Out(1)
        An image begins.
    word_valid : Out(1), word_ready : In(1), word : Out(32)
        The words of an image.
    """

    TOLD = OVERLAY_STATUS

    def _members(self, width: int) -> dict[str, Any]:
        return super()._members(width) | {
            "program_start": Out(1),
            "word_valid": Out(1),
            "word_ready": In(1),
            "word": Out(CONTAINER),
        }

    def _more_requests(self, m: Module) -> None:
        with m.Elif(self.code == ProgramRequest.PROGRAM):
            m.d.comb += self.program_start.eq(1)
        with m.Elif(self.code == ProgramRequest.WORD):
            m.d.sync += self.word.eq(self.argument)
            m.next = "WORD"

    def _more_states(self, m: Module) -> None:
        with m.State("WORD"):
            m.d.comb += self.word_valid.eq(1)
            with m.If(self.word_ready):
                m.next = "REPLY"


class OverlayLink(HostLink):
    """A ``HostLink`` for an overlay: it brings images, and tells which program runs.

    Members beside those of a ``HostLink``
    -------
    program_start : Out(1), program_valid : Out(1), program_ready : In(1), program_data : Out(32),
    program_status : In(3), program_fingerprint : In(32)
        As the overlay's, seen from the other end.
    """

    def __init__(self, *, image: Overlay, divisor: int, clock: int, memory: int = 0) -> None:
        self.mark = image.fingerprint
        super().__init__(image=image, divisor=divisor, clock=clock, memory=memory)

    def _shape(self, image: Overlay, memory: int) -> LinkShape:
        return LinkShape.with_room(image.parameters, 0, memory)

    def _marks(self, image: Overlay) -> dict[str, int]:
        return {}

    def _members(self) -> dict[str, Any]:
        return super()._members() | {
            "program_start": Out(1),
            "program_valid": Out(1),
            "program_ready": In(1),
            "program_data": Out(CONTAINER),
            "program_status": In(3),
            "program_fingerprint": In(CONTAINER),
        }

    def _replier(self) -> Replier:
        self._programs = ProgramReplier(shape=self.shape, width=self.width)
        return self._programs

    def _reader(self) -> RequestReader:
        return ProgramReader(shape=self.shape, beat_width=self.beat_width)

    def _values(self) -> dict[str, Any]:
        return {
            "program": self.program_fingerprint,
            "overlay": Const(self.mark, CONTAINER),
            "outcome": self.program_status,
        }

    def elaborate(self, platform: Any) -> Module:
        m = super().elaborate(platform)
        m.d.comb += [
            self.program_start.eq(self._programs.program_start),
            self.program_valid.eq(self._programs.word_valid),
            self._programs.word_ready.eq(self.program_ready),
            self.program_data.eq(self._programs.word),
        ]
        return m


class OverlayCore(BoardCore):
    """The Verilog module `accelerator`, an overlay with `stop`, behind a serial line of `divisor` cycles a bit.

    Members
    -------
    As those of a ``BoardCore``.
    """

    def _link(self) -> HostLink:
        return OverlayLink(image=self.image, divisor=self.divisor, clock=self.clock, memory=self.memory)

    def _program_ports(self, link: Any) -> dict[str, Any]:
        widths = timing_widths(self.image)
        shown = {
            name: Signal(widths[name][0], name=number_port(name))
            for name in HOST_NUMBERS
            if name != "program.fingerprint"
        }
        return {
            "i_stop": 0,
            "i_program_start": link.program_start,
            "i_program_valid": link.program_valid,
            "o_program_ready": link.program_ready,
            "i_program_data": link.program_data,
            "o_program_status": link.program_status,
            "i_about_index": Signal(5, name="about_index"),
            "o_about_word": Signal(CONTAINER, name="about_word"),
            "o_programmed": Signal(name="programmed"),
            f"o_{number_port('program.fingerprint')}": link.program_fingerprint,
            **{f"o_{number_port(name)}": number for name, number in shown.items()},
        }
