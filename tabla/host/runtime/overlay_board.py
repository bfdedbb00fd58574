"""An overlay as a host sees it: images in, and an accelerator for each.

An overlay on a board at the end of a serial line takes a word of an image in each request.
"""

from __future__ import annotations

import io
import os
from pathlib import Path

from tabla.base.npz import unpacked
from tabla.base.source import TablaError, TablaTypeError, TablaValueError
from tabla.host.link.machine import SerialMachine, greeted, place_of
from tabla.host.link.port import SerialPort
from tabla.host.link.requests import Requests
from tabla.host.runtime.accelerator import Accelerator
from tabla.host.runtime.connecting import checked_seconds
from tabla.host.runtime.folder import BuildFolder
from tabla.host.runtime.machines import ENGINES, LINE, SERIAL, SIMULATED
from tabla.host.runtime.mmio import MMIO, Board
from tabla.host.runtime.overlay_bus import BusOverlay
from tabla.host.runtime.overlay_device import OverlayDevice, SharedMachine, SimulatedOverlay, refusal
from tabla.host.runtime.transport import DeviceFault, Transport
from tabla.program.image import Image
from tabla.program.overlay import Overlay
from tabla.program.overlay_file import read_overlay
from tabla.program.overlay_image import ImageFile, read_image
from tabla.program.overlay_words import Status, program_words
from tabla.program.protocol import ProgramRequest, fingerprint


class SerialOverlay:
    """An overlay on a board with the bitstream of ``tabla build``. `device` is ``serial:PATH`` or ``serial:PATH@BAUD``.

    Raises `TablaError` for a board that does not answer, that is no overlay, or that is another one.
    """

    def __init__(self, overlay: Overlay, device: str, seconds: float | None) -> None:
        self._overlay, self._device = overlay, device
        self._silence = LINE if seconds is None else seconds
        path, baud = place_of(device)
        self._requests = Requests(SerialPort(path, baud), self._silence)
        try:
            self._greet(path)
        except BaseException:
            self._requests.close()
            raise

    def _greet(self, path: str) -> None:
        status = greeted(self._requests, path)
        if status.overlay is None:
            raise TablaError(
                f"the board at '{path}' is no overlay: it has one program that is built in",
                hint="connect to it with connect and its folder, or load the bitstream of the overlay",
            )
        if status.overlay != self._overlay.fingerprint:
            raise TablaError(
                f"the board at '{path}' is the overlay {status.overlay:08x}, and that of the folder is"
                f" {self._overlay.fingerprint:08x}",
                hint="name the folder that the bitstream was built from, or load the bitstream of this folder",
            )

    def bring(self, image: Image) -> None:
        """Give the words of an image to the board, one by one."""
        ask = self._requests.ask
        try:
            whole = [ask(ProgramRequest.PROGRAM)]
            whole += [ask(ProgramRequest.WORD, word) for word in program_words(image, self._overlay)]
            found = self._requests.status()
        except TablaError as fault:
            raise DeviceFault(fault.message, hint=fault.hint) from None
        if None in whole or found.outcome is None:
            raise DeviceFault("the board takes no images", hint="load its bitstream again")
        if found.outcome != Status.RUNS or found.program != fingerprint(image):
            raise refusal(found.outcome)

    def connected(self, image: Image, folder: BuildFolder) -> Transport:
        """Return the way to the board, whose line stays open for the next program."""
        board = SerialMachine(image, self._device, self._silence, self._requests)
        return SharedMachine(folder, board, board.most, None, 0)

    def close(self) -> None:
        """Close the line."""
        self._requests.close()


class OverlayBoard:
    """A device with the overlay of a folder of ``tabla overlay``. `connect_overlay` makes one; it is a context manager.

    It has no program until `program` brings one.
    """

    def __init__(self, overlay: Overlay, device: OverlayDevice) -> None:
        self.overlay, self._device = overlay, device
        self._accelerator: Accelerator | None = None
        self._closed = False

    def program(self, image: str | os.PathLike[str]) -> Accelerator:
        """Bring an image of ``tabla load`` to the device, and return the accelerator that it makes of the device.

        Accelerators of images before it are closed. An image that is damaged or for another overlay is a `TablaError`,
        before anything is sent; then the program before goes on. A device that refuses an image is a `DeviceFault`.
        """
        if self._closed:
            raise TablaError("the overlay is closed", hint="call connect_overlay again")
        path = Path(image)
        try:
            content = path.read_bytes()
        except OSError as fault:
            raise TablaError(f"cannot read '{path}': {fault.strerror or fault}", hint="check the path") from None
        held = read_image(content, str(path))
        folder, words = _folder_of(held, path), held.image(self.overlay)
        self._device.bring(words)
        if self._accelerator is not None:
            self._accelerator.close()
        self._accelerator = Accelerator(folder, self._device.connected(words, folder))
        return self._accelerator

    def close(self) -> None:
        """Give the device back, and close the accelerator on it. A second call does nothing."""
        if self._closed:
            return
        self._closed = True
        try:
            if self._accelerator is not None:
                self._accelerator.close()
        finally:
            self._device.close()

    def __enter__(self) -> OverlayBoard:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def connect_overlay(
    folder: str | os.PathLike[str], device: str | Board, *, timeout: float | None = None
) -> OverlayBoard:
    """Connect to a device with an overlay.

    `device` is one of these:

    * ``model``: the cycle model, which needs no tool.
    * ``cxxrtl``, ``verilator`` or ``icarus``: the Verilog of the folder in a simulator.
    * ``serial:PATH`` or ``serial:PATH@BAUD``: a board with the bitstream that ``tabla build`` makes of the folder.
    * ``mmio:registers=...,dma=...,buffer=...``: the wrapper of ``tabla overlay --bus axi`` with Xilinx AXI DMA, in the
      memory map of this computer, as `tabla.runtime.connect` takes it.
    * a `Board`, for registers and buffers that are open already.

    `timeout` is as for `tabla.runtime.connect`. Raises `TablaError` for a folder that ``tabla overlay`` did not
    write, for a device that there is not, and for one that is another overlay.
    """
    seconds = None if timeout is None else checked_seconds(timeout)
    overlay = read_overlay(Path(folder))
    hint = f"use a Board, or one of {', '.join(ENGINES)}, {SERIAL}PATH, {MMIO}registers=..."
    match device:
        case Board():
            pass
        case str() if device.startswith(MMIO):
            pass
        case str() if device.startswith(SERIAL):
            return OverlayBoard(overlay, SerialOverlay(overlay, device, seconds))
        case str() if device in ENGINES:
            limit = SIMULATED if seconds is None else seconds
            return OverlayBoard(overlay, SimulatedOverlay(Path(folder), overlay, device, limit))
        case str():
            raise TablaValueError(f"'{device}' has no overlays", hint=hint)
        case _:
            raise TablaTypeError(f"an object of type {type(device).__name__} is no device", hint=hint)
    if overlay.bus is None:
        raise TablaError(f"the overlay in '{folder}' has no wrapper for a bus", hint="write it with --bus axi")
    return OverlayBoard(overlay, BusOverlay(overlay, overlay.bus, device, seconds))


def _folder_of(held: ImageFile, path: Path) -> BuildFolder:
    """Return what a host needs of a program, as it has it of a folder of ``tabla gen``."""
    try:
        layout = unpacked(io.BytesIO(held.layout), path)
    except TablaError:
        raise TablaError(f"the layout in '{path}' is damaged", hint="write it again with tabla load") from None
    return BuildFolder.of_image(path, held.manifest, layout)
