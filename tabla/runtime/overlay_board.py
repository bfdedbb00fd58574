"""An overlay as a host sees it: images in, and an accelerator for each."""

from __future__ import annotations

import io
import os
from pathlib import Path

from tabla.npz import unpacked
from tabla.program.image import Image
from tabla.program.overlay import Overlay
from tabla.program.overlay_file import NAME, overlay_verilog, read_overlay
from tabla.program.overlay_image import ImageFile, read_image
from tabla.program.overlay_words import Status, program_words
from tabla.runtime.accelerator import Accelerator
from tabla.runtime.folder import BuildFolder
from tabla.runtime.machines import ENGINES, SIMULATED, STEPS, MachineTransport
from tabla.runtime.transport import DeviceFault
from tabla.sim.engines.port_machine import PortMachine
from tabla.sim.machine import Machine
from tabla.source import TablaError, TablaValueError


class OverlayBoard:
    """A device with the overlay of a folder of ``tabla overlay``. `connect_overlay` makes one; it is a context manager.

    It has no program until `program` brings one.
    """

    def __init__(self, folder: str | os.PathLike[str], device: str, seconds: float = SIMULATED) -> None:
        if device not in ENGINES:
            raise TablaValueError(f"'{device}' has no overlays", hint=f"use one of {', '.join(ENGINES)}")
        self.overlay: Overlay = read_overlay(Path(folder))
        self._folder, self._device, self._seconds = Path(folder), device, seconds
        self._machine: Machine | None = None
        self._accelerator: Accelerator | None = None

    def program(self, image: str | os.PathLike[str]) -> Accelerator:
        """Bring an image of ``tabla load`` to the device, and return the accelerator that it makes of the device.

        Accelerators of images before it are closed. An image that is damaged or for another overlay is a `TablaError`,
        before anything is sent; then the program before goes on. A device that refuses an image is a `DeviceFault`.
        """
        path = Path(image)
        try:
            content = path.read_bytes()
        except OSError as fault:
            raise TablaError(f"cannot read '{path}': {fault.strerror or fault}", hint="check the path") from None
        held = read_image(content, str(path))
        folder = _folder_of(held, path)
        machine = self._programmed(held.image(self.overlay))
        if self._accelerator is not None:
            self._accelerator.close()
        transport = _Shared(folder, machine, STEPS[self._device], getattr(machine, "stop", None), self._seconds)
        self._accelerator = Accelerator(folder, transport)
        return self._accelerator

    def _programmed(self, image: Image) -> Machine:
        """Return the machine of the device with an image."""
        if self._device == "model":
            from tabla.sim.model.cycle_model import CycleModel

            self._machine = CycleModel(image)
            return self._machine
        machine = self._machine
        if not isinstance(machine, PortMachine):
            # It is ours from here on, so that `close` ends its process even if it refuses the image.
            self._machine = machine = _opened(self._device, self._folder, self.overlay, image)
        status, _ = machine.send(program_words(image, self.overlay))
        if status != Status.RUNS:
            raise DeviceFault(f"the device refuses the image: {status.name}", hint="end its command, and try again")
        machine.image = image
        return machine

    def close(self) -> None:
        """Give the device back, and close the accelerator on it. A second call does nothing."""
        if self._accelerator is not None:
            self._accelerator.close()
        if self._machine is not None:
            self._machine.close()
        self._machine = self._accelerator = None

    def __enter__(self) -> OverlayBoard:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Shared(MachineTransport):
    """The way of one program to a machine that stays open for the next one."""

    def close(self) -> None:
        """Leave the machine open."""


def connect_overlay(folder: str | os.PathLike[str], device: str) -> OverlayBoard:
    """Connect to a device with an overlay: ``model``, or the Verilog of the folder in ``cxxrtl``, ``verilator`` or
    ``icarus``.

    Raises `TablaError` for a folder that ``tabla overlay`` did not write, and for a device that there is not.
    """
    return OverlayBoard(folder, device)


def _folder_of(held: ImageFile, path: Path) -> BuildFolder:
    """Return what a host needs of a program, as it has it of a folder of ``tabla gen``."""
    try:
        layout = unpacked(io.BytesIO(held.layout), path)
    except TablaError:
        raise TablaError(f"the layout in '{path}' is damaged", hint="write it again with tabla load") from None
    return BuildFolder(path=path, manifest=held.manifest, layout=layout)


def _opened(device: str, folder: Path, overlay: Overlay, image: Image) -> PortMachine:
    """Open a simulator with the Verilog of an overlay."""
    text = overlay_verilog(folder)
    if device == "cxxrtl":
        from tabla.sim.engines.cxxrtl_run import CxxrtlMachine

        return CxxrtlMachine(image, text, NAME, overlay)
    from tabla.sim.engines.cocotb_run import CocotbMachine

    return CocotbMachine(image, text, NAME, device, overlay)
