"""A serial line of this computer, used through pyserial, which works on Linux, macOS and Windows."""

from __future__ import annotations

import contextlib
import errno
import os
from typing import Any

from tabla.base.source import TablaError, extra

_PART = 1024
"""The number of bytes that are written at once. Even a slow line takes them long before a board counts as gone."""

_HINTS = {
    errno.EACCES: "join the group that owns it (usually dialout or uucp), or ask its owner",
    errno.ENOENT: "is the board plugged in? python -m serial.tools.list_ports names all lines",
    errno.EBUSY: "another program holds it; close that one",
    errno.EAGAIN: "another program holds it; close that one",
}


def _pyserial() -> Any:
    """Return the module of pyserial, which the extra ``serial`` installs, because only boards need it."""
    try:
        import serial
    except ImportError:
        raise TablaError(
            "a serial line needs the package pyserial, which is not installed", hint=extra("serial")
        ) from None
    return serial


class SerialPort:
    """A serial line that is open for this process alone: eight bits, no parity, one stop bit, no flow control.

    `path` is the system's name of the line, such as ``/dev/ttyUSB0`` or ``COM3``. `baud` is in bits per second.

    Raises `TablaError` if the name is not that of a serial line, if the line does not have that speed, if the line is
    lost later, or if pyserial is not installed.
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
        """Return the error of a line that cannot be opened. Only the message of pyserial says which step failed."""
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
        """Send all bytes of `text`. If the line takes no byte for so many `seconds`, that is a `TablaError`."""
        try:
            # Setting the timeout configures the line again, so it is set only if it differs.
            if self._line.write_timeout != seconds:
                self._line.write_timeout = seconds
            for first in range(0, len(text), _PART):
                self._line.write(text[first : first + _PART])
        except self._late:
            raise TablaError(f"'{self.path}' takes no bytes", hint="unplug the board and plug it in again") from None
        except OSError as fault:
            raise self._lost(fault) from None

    def read(self, seconds: float) -> bytes:
        """Return the received bytes. If there are none, wait for the first byte, for so many `seconds` at most."""
        try:
            if self._line.timeout != seconds:
                self._line.timeout = seconds
            first: bytes = self._line.read(1)
            more: bytes = self._line.read(self._line.in_waiting) if first else b""
        except OSError as fault:
            raise self._lost(fault) from None
        return first + more

    def close(self) -> None:
        """Close the serial line; a line that is gone already is no fault."""
        with contextlib.suppress(OSError):  # the board may have been unplugged
            self._line.close()
