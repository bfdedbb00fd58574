"""From the name of a device to an accelerator."""

from __future__ import annotations

import os
from numbers import Real

from tabla.base.source import TablaTypeError, TablaValueError
from tabla.host.runtime.accelerator import Accelerator
from tabla.host.runtime.folder import BuildFolder
from tabla.host.runtime.machines import ENGINES, SERIAL, open_machine
from tabla.host.runtime.mmio import MMIO, Board, board_of, open_board
from tabla.host.runtime.transport import Transport

LONGEST = 1e6
"""Seconds of the longest time-out. Timers and serial lines of all systems can wait for so long."""


def connect(build_folder: str | os.PathLike[str], device: str | Board, *, timeout: float | None = None) -> Accelerator:
    """Connect to a device that runs the program of a folder of ``tabla gen``.

    `device` is one of these:

    * ``model``: the cycle model, which needs no tool.
    * ``cxxrtl``, ``verilator`` or ``icarus``: the Verilog of the folder in a simulator.
    * ``serial:PATH`` or ``serial:PATH@BAUD``: a board with the bitstream of ``tabla build``.
    * ``mmio:registers=...,dma=...,buffer=...``: the wrapper of ``gen --bus axi`` with Xilinx AXI DMA, in the memory map
      of this computer. `tabla.host.runtime.mmio.board_of` has all parts.
    * a `Board`, for registers and buffers that are open already, such as those of PYNQ.

    `timeout` is the number of seconds without progress after which a device counts as gone: 120 by default for a
    simulator, 1.2 for a serial line and 1 for ``mmio:``. It is at most `LONGEST`, because every wait ends. Use the
    result as a context manager.

    Raises `TablaError` for a folder that is not whole, a device that is not there or does not answer, and one that
    holds another program.
    """
    if not isinstance(build_folder, (str, os.PathLike)):
        raise TablaTypeError(
            f"an object of type {type(build_folder).__name__} names no folder",
            hint="name the folder that tabla gen has written",
        )
    seconds = None if timeout is None else checked_seconds(timeout)
    folder = BuildFolder.open(build_folder)
    return Accelerator(folder, _transport(folder, device, seconds))


def checked_seconds(timeout: float) -> float:
    """Return a time-out. Raises `TablaError` for one that is no number of seconds, or too long."""
    hint = f"give more than 0 seconds, and at most {LONGEST:.0f}"
    if isinstance(timeout, bool) or not isinstance(timeout, Real):
        raise TablaTypeError(f"a timeout is a number of seconds, not {timeout!r}", hint=hint)
    if not 0 < timeout <= LONGEST:
        raise TablaValueError(f"a timeout of {timeout} s is not supported", hint=hint)
    return float(timeout)


def _transport(folder: BuildFolder, device: str | Board, timeout: float | None) -> Transport:
    if isinstance(device, Board):
        return open_board(folder, device, timeout)
    if not isinstance(device, str):
        raise TablaTypeError(
            f"an object of type {type(device).__name__} is no device",
            hint=f"use a Board, or one of {', '.join(ENGINES)}, {SERIAL}PATH, {MMIO}registers=...",
        )
    if device.startswith(MMIO):
        return open_board(folder, board_of(device, folder.bus["registers"]), timeout)
    if device in ENGINES or device.startswith(SERIAL):
        return open_machine(folder, device, timeout)
    raise TablaValueError(
        f"unknown device '{device}'", hint=f"use one of {', '.join(ENGINES)}, {SERIAL}PATH, {MMIO}registers=..."
    )
