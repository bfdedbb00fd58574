"""A serial line of this computer, through pyserial, which knows the lines of Linux, macOS and Windows."""

from __future__ import annotations

import contextlib
import errno
import os
from typing import Any

from tabla.source import TablaError

_PART = 1024
"""Bytes that are written at once: even a slow line takes so many long before a board counts as gone."""

_HINTS = {
    errno.EACCES: "join the group that owns it (usually dialout or uucp), or ask its owner",
    errno.ENOENT: "is the board plugged in? python -m serial.tools.list_ports names all lines",
    errno.EBUSY: "another program holds it; close that one",
    errno.EAGAIN: "another program holds it; close that one",
}


def _pyserial() -> Any:
    """Return the library's module, which comes with an extra: only who has a board needs it."""
    try:
        import serial
    except ImportError:
        raise TablaError(
            "a serial line needs the package pyserial, which is not installed", hint="pip install tabla[serial]"
        ) from None
    return serial


class SerialPort:
    """A serial line, open for one program of this kind: eight bits, no parity, one stop bit, no flow control.

    `path` is the system's name of the line, such as ``/dev/ttyUSB0`` or ``COM3``. `baud` is in bits a second. A name
    that is no serial line, a speed that it does not have, a line that is lost later, and a missing pyserial are each a
    `TablaError`.
    """

    def __init__(self, path: str, baud: int) -> None:
        self.path = path
        serial = _pyserial()
        self._late: type[OSError] = serial.SerialTimeoutException
        try:
            self._line = serial.Serial(path, baud, timeout=0, write_timeout=0, exclusive=True)
        except (ValueError, OverflowError):
            raise TablaError(
                f"this system has no serial lines of {baud} baud", hint="1000000 and 115200 are common"
            ) from None
        except OSError as fault:
            raise self._refused(fault, baud) from None

    def _refused(self, fault: OSError, baud: int) -> TablaError:
        """Return why the line cannot be opened. pyserial names the step that failed in its message alone."""
        if "configure port" in str(fault):
            return TablaError(
                f"'{self.path}' is not a serial line of {baud} baud",
                hint="name a device such as /dev/ttyUSB0 or COM3; 1000000 and 115200 baud are common",
            )
        reason = os.strerror(fault.errno) if fault.errno else str(fault)
        return TablaError(f"cannot open '{self.path}': {reason}", hint=_HINTS.get(fault.errno or 0, "check the name"))

    def _lost(self, fault: OSError) -> TablaError:
        return TablaError(f"the line '{self.path}' is lost: {fault}", hint="is the board still plugged in?")

    def write(self, text: bytes, seconds: float) -> None:
        """Write all of `text`. A line that takes nothing for so many seconds is a fault."""
        try:
            # A new timeout configures the line anew, so only a different one is set.
            if self._line.write_timeout != seconds:
                self._line.write_timeout = seconds
            for first in range(0, len(text), _PART):
                self._line.write(text[first : first + _PART])
        except self._late:
            raise TablaError(f"'{self.path}' takes no bytes", hint="unplug the board and plug it in again") from None
        except OSError as fault:
            raise self._lost(fault) from None

    def read(self, seconds: float) -> bytes:
        """Return the bytes that are there. If there are none, wait for a first one for so many seconds at most."""
        try:
            if self._line.timeout != seconds:
                self._line.timeout = seconds
            first: bytes = self._line.read(1)
            more: bytes = self._line.read(self._line.in_waiting) if first else b""
        except OSError as fault:
            raise self._lost(fault) from None
        return first + more

    def close(self) -> None:
        """Give the line back."""
        with contextlib.suppress(OSError):  # the board may have gone
            self._line.close()
