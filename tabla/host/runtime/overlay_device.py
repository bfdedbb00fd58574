"""The devices that have an overlay: the cycle model and simulators of its Verilog."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from tabla.host.engines.port_machine import PortMachine
from tabla.host.runtime.folder import BuildFolder
from tabla.host.runtime.machines import STEPS, MachineTransport
from tabla.host.runtime.transport import DeviceFault, Transport
from tabla.program.image import Image
from tabla.program.overlay import Overlay
from tabla.program.overlay_file import NAME, overlay_verilog
from tabla.program.overlay_words import Status, program_words
from tabla.sim.machine import Machine

REASONS = {
    Status.FORM: "it is no image of a form that the device knows",
    Status.FOREIGN: "it is for another overlay",
    Status.BUSY: "a command was under way",
    Status.DAMAGED: "it was damaged on its way",
    Status.TAKES: "words of it are missing",
    Status.EMPTY: "the device was reset meanwhile",
    Status.RUNS: "it runs another program",
}


class OverlayDevice(Protocol):
    """A device with an overlay. It is given images that are whole and for this overlay."""

    def bring(self, image: Image) -> None:
        """Bring an image to the device.

        Raises `DeviceFault` if the device refuses the image, or does not answer. The program before goes on then.
        """

    def connected(self, image: Image, folder: BuildFolder) -> Transport:
        """Return the way to the program that was brought; `folder` is what a host needs of it.

        The way to the program before has been closed.
        """

    def close(self) -> None:
        """Give the device back."""


def refusal(status: int) -> DeviceFault:
    """Return the error of an image that a device has refused."""
    reason = REASONS.get(Status(status), "") if status in set(Status) else f"its status is {status}"
    return DeviceFault(f"the device refuses the image: {reason}", hint="end its command, and try again")


class SimulatedOverlay:
    """An overlay of a folder in an engine of `ENGINES`."""

    def __init__(self, folder: Path, overlay: Overlay, engine: str, seconds: float) -> None:
        self._folder, self._overlay, self._engine, self._seconds = folder, overlay, engine, seconds
        self._machine: Machine | None = None

    def bring(self, image: Image) -> None:
        """Bring an image to the machine, which is opened with the first one."""
        if self._engine == "model":
            from tabla.sim.model.cycle_model import CycleModel

            self._machine = CycleModel(image)
            return
        machine = self._machine
        if not isinstance(machine, PortMachine):
            # It is ours from here on, so that `close` ends its process even if it refuses the image.
            self._machine = machine = opened(self._engine, self._folder, self._overlay, image)
        status, _ = machine.send(program_words(image, self._overlay))
        if status != Status.RUNS:
            raise refusal(status)
        machine.image = image

    def connected(self, image: Image, folder: BuildFolder) -> Transport:
        """Return the way to the machine, which stays open for the next program."""
        machine = self._machine
        assert machine is not None
        return SharedMachine(folder, machine, STEPS[self._engine], getattr(machine, "stop", None), self._seconds)

    def close(self) -> None:
        """End the machine."""
        if self._machine is not None:
            self._machine.close()
        self._machine = None


class SharedMachine(MachineTransport):
    """The way of one program to a machine that stays open for the next one."""

    def close(self) -> None:
        """Leave the machine open."""


def opened(engine: str, folder: Path, overlay: Overlay, image: Image) -> PortMachine:
    """Open a simulator with the Verilog of an overlay. `image` is the first that it will get."""
    text = overlay_verilog(folder)
    if engine == "cxxrtl":
        from tabla.host.engines.cxxrtl_run import CxxrtlMachine

        return CxxrtlMachine(image, text, NAME, overlay)
    from tabla.host.engines.cocotb_run import CocotbMachine

    return CocotbMachine(image, text, NAME, engine, overlay)
