"""A simulated board: its RTL, from the pins of the serial line on, behind a pseudo-terminal instead of the line."""

from __future__ import annotations

import os
import subprocess
import tty
from types import TracebackType
from typing import Self

from tabla.hw.board.core import BoardCore
from tabla.hw.emit import component_verilog, verilog
from tabla.hw.overlay.board import OverlayCore
from tabla.program.image import Image
from tabla.program.overlay import Overlay
from tabla.sim.engines.board_driver import DRIVER
from tabla.sim.engines.cxxrtl_run import build


class SimulatedBoard:
    """A board that runs from the start of a ``with`` block to its end; a host opens `path` as its serial line.

    A bit of the line lasts `divisor` cycles. A real board has more of them; fewer make the line faster and change
    nothing else. `memory` is the block RAM of the chip in bits. The PLL of the clock, pads and pins are not simulated.
    It needs the tools of engine ``cxxrtl``, and a missing one is a TablaError.
    """

    def __init__(
        self, image: Image | Overlay, module: str, *, divisor: int = 4, clock: int = 25_000_000, memory: int = 0
    ) -> None:
        overlay = isinstance(image, Overlay)
        kind = OverlayCore if overlay else BoardCore
        core = kind(image=image, accelerator=module, divisor=divisor, clock=clock, memory=memory)
        name, text = f"{module}_board", verilog(image, module, stoppable=overlay)
        self._simulator = build(text + component_verilog(core, name), name, DRIVER)
        self._divisor = divisor

    def __enter__(self) -> Self:
        master, self._slave = os.openpty()
        # This end stays open, so that hosts may come and go.
        tty.setraw(self._slave)
        self.path = os.ttyname(self._slave)
        self._process = subprocess.Popen(
            [str(self._simulator), str(self._divisor)], stdin=master, stdout=master, close_fds=True
        )
        os.close(master)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._slave)
