"""The whole design of a board: crystal, PLL, reset, link, accelerator, lights."""

from typing import Any

from amaranth.hdl import Cat, Const, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from tabla.hw.board.clock import Ecp5Pll, clock_domains
from tabla.hw.board.core import LIGHTS, BoardCore
from tabla.hw.overlay.board import OverlayCore
from tabla.program.image import Image
from tabla.program.overlay import Overlay
from tabla.templates.pll import PllSettings
from tabla.templates.targets import Board


def board_ports(board: Board) -> dict[str, tuple[str, ...]]:
    """Return the ports of ``BoardTop`` with the pins of their bits, lowest first."""
    ports = {
        "clock": (board.clock_pin,),
        "receive": (board.host_receive,),
        "transmit": (board.host_transmit,),
        "lights": board.leds,
        "button": (board.reset_pin,) if board.reset_pin else (),
        "high": board.high,
    }
    return {name: pins for name, pins in ports.items() if pins}


class BoardTop(wiring.Component):
    """The Verilog module `accelerator` on a board. `settings` are the PLL's; without them the design runs from the
    crystal.

    `divisor` is the length of a bit of the serial line in cycles. `memory` is that of `BoardCore`.

    Members
    -------
    Those that ``board_ports`` lists: clock, receive : In(1); transmit : Out(1); lights : Out(n), button : In(1),
    high : Out(n) if the board has such pins, at the levels that it wants.
    """

    def __init__(
        self,
        *,
        image: Image | Overlay,
        accelerator: str,
        board: Board,
        settings: PllSettings | None,
        divisor: int,
        memory: int = 0,
    ) -> None:
        self.board, self.settings = board, settings
        core = OverlayCore if isinstance(image, Overlay) else BoardCore
        self.core = core(image=image, accelerator=accelerator, divisor=divisor, clock=self.hertz, memory=memory)
        outputs = {"transmit", "lights", "high"}
        super().__init__(
            {
                name: (Out if name in outputs else In)(len(pins), init=int(name in ("receive", "transmit")))
                for name, pins in board_ports(board).items()
            }
        )

    @property
    def hertz(self) -> int:
        """The rate of the design's clock in Hz."""
        return self.settings.hertz if self.settings else self.board.clock_hertz

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        board = self.board
        pressed = (self.button ^ board.reset_low) if board.reset_pin else Const(0)
        if self.settings:
            m.submodules.pll = pll = Ecp5Pll(self.settings)
            m.d.comb += pll.source.eq(self.clock)
            clock_domains(m, pll.clock, pll.locked, pressed)
        else:
            clock_domains(m, self.clock, Const(1), pressed)
        m.submodules.core = core = self.core
        m.d.comb += [core.receive.eq(self.receive), self.transmit.eq(core.transmit)]
        if board.leds:
            shown = Signal(len(board.leds))
            m.d.comb += [
                shown.eq(Cat(core.lights[place] for place in range(min(len(LIGHTS), len(board.leds))))),
                self.lights.eq(~shown if board.leds_low else shown),
            ]
        if board.high:
            m.d.comb += self.high.eq(-1)
        return m
