"""The terminal of a command: results go to standard output, everything else to standard error."""

from __future__ import annotations

import shutil
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import TextIO

from tabla.base.layout import folded, laid_out
from tabla.commands.bars import Bars
from tabla.commands.colour import painted

_CLEAR = "\r\x1b[K"


@dataclass(slots=True, kw_only=True)
class Console:
    """The two outputs of a command. `quiet` drops progress and remarks, but never results or errors.

    `ends_by_interrupt` says that Ctrl-C is the way to end the command, and no error.
    """

    out: TextIO
    err: TextIO
    quiet: bool = False
    ends_by_interrupt: bool = False
    _shown: bool = field(default=False, init=False)
    _last: float = field(default=float("-inf"), init=False)
    _bars: Bars | None = field(default=None, init=False)

    def result(self, text: str) -> None:
        """Print text that the user asked for, with a line end."""
        self.clear()
        self.out.write(text if text.endswith("\n") else text + "\n")

    def flush(self) -> None:
        """Let whoever reads standard output have what was printed so far."""
        self.out.flush()

    def report(self, text: str) -> None:
        """Print lines for people. On a terminal, those that are wider than it are folded between words."""
        self.result(painted(folded(text, self.width), self.out))

    def table(self, rows: Sequence[Sequence[str]], *, texts: Collection[int] = ()) -> None:
        """Print a table whose first row is its head, so that it fits the terminal. The columns `texts` hold texts."""
        self.result("\n".join(laid_out(rows, self.width, texts=texts)))

    def aside_table(self, rows: Sequence[Sequence[str]]) -> None:
        """Print a table that the user asked for to standard error, in quiet mode as well."""
        self.clear()
        width = shutil.get_terminal_size().columns if self.err.isatty() else None
        self.err.write("".join(f"{line}\n" for line in laid_out(rows, width)))

    @property
    def width(self) -> int | None:
        """The columns of the terminal that standard output is; None for a pipe or a file, where no line is folded."""
        return shutil.get_terminal_size().columns if self.out.isatty() else None

    def verbatim(self, text: str) -> None:
        """Print text that the user asked for, without adding a line end."""
        self.clear()
        self.out.write(text)

    def remark(self, text: str) -> None:
        """Print a line that helps the reader, such as a warning or the name of a file that was written."""
        if not self.quiet:
            self.clear()
            self.err.write(painted(text, self.err) + "\n")

    def fault(self, text: str) -> None:
        """Print the message of an error, in quiet mode as well."""
        self.clear()
        self.err.write(painted(text, self.err) + "\n")

    def progress(self, text: str) -> None:
        """Show a line of progress, which the next one replaces.

        At most ten lines a second are shown, and none unless standard error is a terminal.
        """
        now = time.monotonic()
        if self.quiet or not self.err.isatty() or now - self._last < 0.1:
            return
        self.clear()
        self._last, self._shown = now, True
        width = shutil.get_terminal_size().columns - 1
        self.err.write(_CLEAR + text[:width])
        self.err.flush()

    def work(self, stage: str, done: int, total: int | None, unit: str) -> None:
        """Show how far a stage of the work is, as a bar, see :mod:`tabla.base.progress`. Only a terminal shows it."""
        if self.quiet or not self.err.isatty():
            return
        if self._shown:
            self.clear()
        self._bars = self._bars or Bars(self.err)
        self._bars(stage, done, total, unit)

    def clear(self) -> None:
        """Remove the line of progress, and the bar."""
        if self._bars is not None:
            self._bars.close()
        if self._shown:
            self.err.write(_CLEAR)
            self.err.flush()
            self._shown = False

    @property
    def unicode(self) -> bool:
        """Whether the encoding of standard output has the characters of the loss curve."""
        try:
            "●▲○·─│└".encode(self.out.encoding or "ascii")
        except (UnicodeEncodeError, LookupError):
            return False
        return True
