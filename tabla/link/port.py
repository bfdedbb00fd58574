"""A serial line of this computer, through termios: Linux and macOS have it in Python's own library."""

from __future__ import annotations

import contextlib
import errno
import os
import select
import termios
import time
import tty
from fcntl import ioctl

from tabla.source import TablaError

_SPEED_FIELDS = (4, 5)
_HINTS = {
    errno.EACCES: "join the group that owns it (usually dialout or uucp), or ask its owner",
    errno.ENOENT: "is the board plugged in? try ls /dev/tty*",
    errno.EBUSY: "another program holds it; close that one",
}


class SerialPort:
    """Opened raw, eight bits, no parity, one stop bit, no flow control, for this process alone.

    Faults of the line and of its name are a `TablaError`.
    """

    def __init__(self, path: str, baud: int) -> None:
        self.path = path
        speed = getattr(termios, f"B{baud}", None)
        if speed is None:
            raise TablaError(f"this system has no serial lines of {baud} baud", hint="1000000 and 115200 are common")
        try:
            self._file = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        except OSError as fault:
            raise TablaError(
                f"cannot open '{path}': {fault.strerror}", hint=_HINTS.get(fault.errno or 0, "check the name")
            ) from None
        try:
            self._configure(speed)
        except termios.error:
            os.close(self._file)
            raise TablaError(f"'{path}' is not a serial line", hint="name a device such as /dev/ttyUSB0") from None
        except OSError as fault:
            os.close(self._file)
            raise TablaError(f"cannot use '{path}': {fault.strerror}", hint=_HINTS.get(fault.errno or 0, "")) from None

    def _configure(self, speed: int) -> None:
        if not os.isatty(self._file):
            raise termios.error
        ioctl(self._file, termios.TIOCEXCL)
        tty.setraw(self._file)
        attributes = termios.tcgetattr(self._file)
        control = attributes[2] & ~(termios.PARENB | termios.CSTOPB | termios.CSIZE | termios.CRTSCTS)
        attributes[2] = control | termios.CS8 | termios.CLOCAL | termios.CREAD
        for field in _SPEED_FIELDS:
            attributes[field] = speed
        termios.tcsetattr(self._file, termios.TCSANOW, attributes)
        termios.tcflush(self._file, termios.TCIOFLUSH)

    def _lost(self, reason: str | None) -> TablaError:
        return TablaError(f"the line '{self.path}' is lost: {reason}", hint="is the board still plugged in?")

    def write(self, text: bytes, seconds: float) -> None:
        """All of it; a line that takes no byte for so long is a fault."""
        view = memoryview(text)
        while view:
            if not select.select([], [self._file], [], seconds)[1]:
                raise TablaError(f"'{self.path}' takes no bytes", hint="unplug the board and plug it in again")
            try:
                view = view[os.write(self._file, view) :]
            except BlockingIOError:
                continue
            except OSError as fault:
                raise self._lost(fault.strerror) from None

    def read(self, seconds: float) -> bytes:
        """What is there; waits for a first byte for so long, then gives nothing."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) >= 0:
            if select.select([self._file], [], [], left)[0]:
                try:
                    text = os.read(self._file, 1 << 16)
                except BlockingIOError:
                    continue
                except OSError as fault:
                    raise self._lost(fault.strerror) from None
                if not text:
                    raise self._lost("it was hung up")
                return text
        return b""

    def close(self) -> None:
        """Give it back."""
        with contextlib.suppress(OSError):  # the board may have gone
            ioctl(self._file, termios.TIOCNXCL)
        os.close(self._file)
