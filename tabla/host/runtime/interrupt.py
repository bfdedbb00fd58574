"""Waiting for the interrupt of a device instead of asking it again and again."""

from __future__ import annotations

import os
import select
import stat
from pathlib import Path
from typing import Protocol

_UNMASK, _MASK = (number.to_bytes(4, "little") for number in (1, 0))


class Interrupt(Protocol):
    """The interrupt of an accelerator, whose line stays high until its cause has been cleared."""

    def arm(self) -> None:
        """Forget interrupts that have come, and let the next one through. The line is low."""

    def wait(self, seconds: float) -> bool:
        """Wait for the interrupt, for so many seconds at most, and return whether it has come."""

    def close(self) -> None:
        """Let no interrupt through any more."""


class UioInterrupt:
    """The interrupt of a UIO device, which the kernel masks whenever it has come.

    `file` is the number of the open device, which `close` closes. A read of 4 bytes gives the number of interrupts and
    waits for one; a write of 4 bytes masks the line (0) or unmasks it (1).
    """

    def __init__(self, file: int) -> None:
        self._file = file

    @staticmethod
    def of(path: str | Path) -> UioInterrupt | None:
        """Return the interrupt of a device such as ``/dev/uio0``; None if it has none, or the kernel cannot mask it."""
        try:
            if not stat.S_ISCHR(os.stat(path).st_mode):
                return None
            file = os.open(path, os.O_RDWR)
        except OSError:
            return None
        try:
            os.write(file, _MASK)
        except OSError:
            os.close(file)
            return None
        return UioInterrupt(file)

    def arm(self) -> None:
        """Forget interrupts that have come, and let the next one through."""
        self.wait(0)
        os.write(self._file, _UNMASK)

    def wait(self, seconds: float) -> bool:
        """Wait for the interrupt, for so many seconds at most, and return whether it has come.

        Raises OSError for a device that has gone.
        """
        if not select.select([self._file], [], [], seconds)[0]:
            return False
        if len(os.read(self._file, 4)) != 4:
            raise OSError("the interrupt of the device cannot be read")
        return True

    def close(self) -> None:
        """Mask the interrupt, and close the device."""
        try:
            os.write(self._file, _MASK)
        except OSError:  # the device has gone, and so has its interrupt
            pass
        finally:
            os.close(self._file)
