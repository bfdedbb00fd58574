"""The terminal as a command sees it: results to standard output, all else to standard error, progress for people."""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass, field
from typing import TextIO

_CLEAR = "\r\x1b[K"


@dataclass(slots=True, kw_only=True)
class Console:
    """Where a command speaks. `quiet` silences progress and remarks, never results or errors."""

    out: TextIO
    err: TextIO
    quiet: bool = False
    _shown: bool = field(default=False, init=False)
    _last: float = field(default=float("-inf"), init=False)

    def result(self, text: str) -> None:
        """What the command is asked for."""
        self.clear()
        self.out.write(text if text.endswith("\n") else text + "\n")

    def verbatim(self, text: str) -> None:
        """Output that must not change by a byte."""
        self.clear()
        self.out.write(text)

    def remark(self, text: str) -> None:
        """What helps a reader, such as a warning or the name of a file written."""
        if not self.quiet:
            self.clear()
            self.err.write(text + "\n")

    def fault(self, text: str) -> None:
        """An error."""
        self.clear()
        self.err.write(text + "\n")

    def progress(self, text: str) -> None:
        """One line that the next one replaces, at most ten a second; nothing unless standard error is a terminal."""
        now = time.monotonic()
        if self.quiet or not self.err.isatty() or now - self._last < 0.1:
            return
        self._last, self._shown = now, True
        width = shutil.get_terminal_size().columns - 1
        self.err.write(_CLEAR + text[:width])
        self.err.flush()

    def clear(self) -> None:
        """Take the progress line away."""
        if self._shown:
            self.err.write(_CLEAR)
            self.err.flush()
            self._shown = False

    @property
    def unicode(self) -> bool:
        """Whether results may hold more than ASCII: the terminal's (or pipe's) encoding says so."""
        try:
            "●·─│".encode(self.out.encoding or "ascii")
        except (UnicodeEncodeError, LookupError):
            return False
        return True
