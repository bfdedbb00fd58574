"""An overlay on this computer's bus: images go in through its registers."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tabla.base.source import TablaError
from tabla.build.files.registers import register_entries
from tabla.host.runtime.axi import check_interface
from tabla.host.runtime.control import Control
from tabla.host.runtime.folder import KINDS, BuildFolder
from tabla.host.runtime.interrupt import Interrupt
from tabla.host.runtime.mmio import SECONDS, Board, board_of, open_board
from tabla.host.runtime.overlay_device import refusal
from tabla.host.runtime.transport import DeviceFault, Transport
from tabla.program.image import Image
from tabla.program.overlay import Overlay, OverlayBus
from tabla.program.overlay_registers import PROGRAM, overlay_registers
from tabla.program.overlay_words import Status, program_words
from tabla.program.protocol import fingerprint

_PAUSE = 0.0002


class BusOverlay:
    """An overlay behind the registers of its wrapper, and an AXI DMA. `board` is a `Board`, or ``mmio:...``.

    Raises `DeviceFault` for a device that does not answer, and `TablaError` for one that is no overlay, or another one.
    Nothing is written before that is known.
    """

    def __init__(self, overlay: Overlay, bus: OverlayBus, board: Board | str, seconds: float | None) -> None:
        self._overlay, self._bus = overlay, bus
        self._limit, self._seconds = seconds, SECONDS if seconds is None else seconds
        self._table: Sequence[Mapping[str, Any]] = register_entries({}, overlay_registers(overlay))
        self._board = board if isinstance(board, Board) else board_of(board, self._table)
        self._control = Control(self._board.registers, self._table)
        try:
            self._greet()
        except BaseException:
            self.close()
            raise

    def _greet(self) -> None:
        control = self._control
        check_interface(control)
        if control.read("VERSION") < control.expected("VERSION"):
            raise TablaError(
                "the device is no overlay: it has one program that is built in",
                hint="connect to it with connect and its folder, or load the bitstream of the overlay",
            )
        mark = control.read("OVERLAY_FINGERPRINT")
        if mark != self._overlay.fingerprint:
            raise TablaError(
                f"the device is the overlay {mark:08x}, and that of the folder is {self._overlay.fingerprint:08x}",
                hint="name the folder that the bitstream was built from, or load the bitstream of this folder",
            )

    def bring(self, image: Image) -> None:
        """Give the words of an image to the registers."""
        control = self._control
        # A reset keeps the device busy for some cycles.
        if not self._has("BUSY", False, self._seconds / 4):
            raise DeviceFault(
                f"the device is busy before an image; {control.said()}", hint="end the command of the other host"
            )
        control.write("STATUS", control.mask("STATUS", "DONE"))
        control.write("COMMAND", PROGRAM)
        try:
            for word in program_words(image, self._overlay):
                control.write("PROGRAM_DATA", word)
            if not self._has("DONE", True, self._seconds):
                raise DeviceFault(
                    f"the device has not taken the image within {self._seconds:g} s; {control.said()}",
                    hint="check that all words of a register arrive, and in order",
                )
        except BaseException:
            # The loader waits for words that never come, and no command can be given.
            control.write("CONTROL", control.mask("CONTROL", "ABORT"))
            raise
        status = control.read("PROGRAM_STATUS") & control.mask("PROGRAM_STATUS", "CODE")
        if status != Status.RUNS:
            raise refusal(status)

    def connected(self, image: Image, folder: BuildFolder) -> Transport:
        """Return the way to the program that runs."""
        interrupt = self._board.interrupt
        board = replace(self._board, interrupt=None if interrupt is None else _Kept(interrupt))
        return open_board(self._described(image, folder), board, self._limit)

    def _has(self, bit: str, value: bool, seconds: float) -> bool:
        """Wait until a bit of STATUS has a value, for so many seconds at most, and return whether it has."""
        control, end = self._control, time.monotonic() + seconds
        while bool(control.read("STATUS") & control.mask("STATUS", bit)) != value:
            if time.monotonic() > end:
                return False
            time.sleep(_PAUSE)
        return True

    def _described(self, image: Image, folder: BuildFolder) -> BuildFolder:
        """Return what a host needs of a program, with the bus that the program has on this overlay."""
        container = next(bits for bits in (8, 16, 32) if bits >= image.parameters.width)
        bus = {
            "width": self._bus.bits,
            "container": container,
            "fingerprint": fingerprint(image),
            "bytes": {kind: len(folder.template(kind)) * container // 8 for kind in KINDS},
            "registers": self._table,
        }
        return replace(folder, manifest={**folder.manifest, "bus": bus})

    def close(self) -> None:
        """Let no interrupt through any more."""
        if self._board.interrupt is not None:
            self._board.interrupt.close()


class _Kept:
    """The interrupt of a device that stays open for the next program."""

    def __init__(self, interrupt: Interrupt) -> None:
        self._interrupt = interrupt

    def arm(self) -> None:
        """Forget interrupts that have come, and let the next one through."""
        self._interrupt.arm()

    def wait(self, seconds: float) -> bool:
        """Wait for the interrupt, and return whether it has come."""
        return self._interrupt.wait(seconds)

    def close(self) -> None:
        """Leave the interrupt open."""
