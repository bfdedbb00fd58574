"""An overlay on a board at the end of a serial line: a word of an image in each request."""

from __future__ import annotations

from tabla.link.machine import SerialMachine, greeted, place_of
from tabla.link.port import SerialPort
from tabla.link.requests import Requests
from tabla.program.image import Image
from tabla.program.overlay import Overlay
from tabla.program.overlay_words import Status, program_words
from tabla.program.protocol import ProgramRequest, fingerprint
from tabla.runtime.folder import BuildFolder
from tabla.runtime.machines import LINE
from tabla.runtime.overlay_device import SharedMachine, refusal
from tabla.runtime.transport import DeviceFault, Transport
from tabla.source import TablaError


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
