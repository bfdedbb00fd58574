"""Source texts, places in source texts, and errors that point at places.

Every room of the package may import this module, and it imports no other module of the package. A fault of the *user*
is a :class:`TablaError`: it prints as ``error: ...`` with file, line, column, the line itself, a caret and a cure. Any
other exception is a fault of *this tool* and keeps its traceback.
"""

from __future__ import annotations

import os
import re
import stat
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

_BOM = "\ufeff"
_WIDEST = 400
"""The most characters of a line that a message quotes, those around the place."""
_CONTROLS = (*range(9), *range(11, 32), *range(127, 160), 0x061C, *range(0x200E, 0x2010), *range(0x202A, 0x202F),
             *range(0x2066, 0x206A))  # fmt: skip
"""The characters that a terminal obeys, or that turn the order of the others round. Tabs and new lines stay."""
_ESCAPED = {code: f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" for code in _CONTROLS}
_REPLACED = dict.fromkeys(_CONTROLS, "\ufffd")
_LONGEST = 2000
"""The most characters of a message in front of its places."""
_OTHER_LINE_END = re.compile(r"\r\n?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A text with a name. Every line of `text` ends with ``\\n``, and a byte-order mark has been removed.

    `line_ends` has the offsets of those line ends that the file writes as CRLF or CR, each with what it writes.
    """

    name: str
    text: str = field(repr=False)
    line_ends: tuple[tuple[int, str], ...] = field(default=(), repr=False, compare=False)

    @staticmethod
    def from_text(text: str, name: str = "<text>") -> Source:
        """Make a source of a text: CRLF and CR become ``\\n``, and a byte-order mark is removed.

        So a position means the same character on every system.
        """
        text = text.removeprefix(_BOM)
        if "\r" not in text:
            return Source(name=name, text=text)
        ends: list[tuple[int, str]] = []
        shift = 0
        for found in _OTHER_LINE_END.finditer(text):
            ends.append((found.start() - shift, found.group()))
            shift += len(found.group()) - 1
        return Source(name=name, text=_OTHER_LINE_END.sub("\n", text), line_ends=tuple(ends))

    @staticmethod
    def from_path(path: str | Path) -> Source:
        """Read a UTF-8 file. A file that cannot be read, or is not UTF-8, is a `TablaError`."""
        refuse_pipe(path)
        try:
            data = Path(path).read_bytes()
        except OSError as fault:
            raise TablaError(f"cannot read '{path}': {fault.strerror or fault}", hint="check the path") from None
        return Source.from_bytes(data, str(path))

    @staticmethod
    def from_bytes(data: bytes, name: str) -> Source:
        """Make a source of the bytes of a file. Bytes that are not UTF-8 are a `TablaError`."""
        try:
            return Source.from_text(data.decode("utf-8"), name)
        except UnicodeDecodeError as fault:
            line = data.count(b"\n", 0, fault.start) + 1
            raise TablaError(
                f"'{name}' is not UTF-8 text: {fault.reason} at byte {fault.start}, in line {line}",
                hint="save it as UTF-8",
            ) from None

    def as_written(self, start: int, end: int) -> str:
        """Return the characters [start, end) with the line ends that the file has."""
        if not self.line_ends:
            return self.text[start:end]
        pieces: list[str] = []
        for offset, line_end in self.line_ends[bisect_left(self.line_ends, (start, "")) :]:
            if offset >= end:
                break
            pieces += [self.text[start:offset], line_end]
            start = offset + 1
        return "".join([*pieces, self.text[start:end]])

    def line_column(self, offset: int) -> tuple[int, int]:
        """Return the line and the column of a character offset, both counted from 1. A tab is one column."""
        offset = max(0, min(offset, len(self.text)))
        line = self.text.count("\n", 0, offset) + 1
        return line, offset - (self.text.rfind("\n", 0, offset) + 1) + 1

    def line(self, number: int) -> str:
        """Return line `number`, counted from 1, without its line end. A line that does not exist is empty."""
        lines = self.text.split("\n")
        return lines[number - 1] if 1 <= number <= len(lines) else ""


def refuse_pipe(path: str | Path) -> None:
    """Raise `TablaError` for a named pipe, because a command that reads one waits for a writer, perhaps for ever.

    The pipes of a shell, such as ``/dev/stdin`` and those of ``<(command)``, have their writers and are read.
    """
    try:
        pipe = stat.S_ISFIFO(os.stat(path).st_mode)
        own = Path(path).resolve().parts[1:2] not in (("dev",), ("proc",))
    except (OSError, ValueError):
        return  # whoever opens the file reports it
    if pipe and own:
        raise TablaError(f"'{path}' is a pipe, not a file", hint="write its content to a file first")


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """The characters [start, end) of a source, counted from 0."""

    source: Source
    start: int
    end: int

    @property
    def line(self) -> int:
        """The line of the first character, counted from 1."""
        return self.source.line_column(self.start)[0]

    @property
    def column(self) -> int:
        """The column of the first character, counted from 1."""
        return self.source.line_column(self.start)[1]

    def to(self, other: Span) -> Span:
        """Return the smallest span that covers this span and `other`, which must be of the same source."""
        return Span(source=self.source, start=min(self.start, other.start), end=max(self.end, other.end))


@dataclass(frozen=True, slots=True)
class Label:
    """A span with the text that stands beside its caret in an error message."""

    span: Span
    text: str = ""

    def render(self) -> str:
        """Return three lines of text: the place, the source line and the caret under it, as rustc draws them."""
        source, (line, column) = self.span.source, self.span.source.line_column(self.span.start)
        text, shown = source.line(line), column
        if len(text) > _WIDEST:
            # A line of megabytes, which is no program, would bury the message.
            first = max(0, column - 1 - _WIDEST // 2)
            text, shown = text[first : first + _WIDEST], column - first
        number = str(line)
        # Tabs stay tabs under the line so that the caret stands where the terminal puts the character.
        lead = "".join("\t" if c == "\t" else " " for c in text[: shown - 1])
        width = max(1, min(self.span.end - self.span.start, len(text) - shown + 1))
        caret = f"{' ' * len(number)} | {lead}{'^' * width} {self.text}".rstrip()
        return f" --> {source.name}:{line}:{column}\n{number} | {text}\n{caret}"


class TablaError(Exception):
    """A fault of the user's program, data or command line.

    `labels` are the places of the fault, the main one first. `hint` says how to cure it. `notes` are further lines of
    explanation. `more` holds further faults that were found in the same run; the command line prints all of them.
    """

    def __init__(
        self,
        message: str,
        *labels: Label,
        hint: str | None = None,
        notes: Iterable[str] = (),
        more: Iterable[TablaError] = (),
    ) -> None:
        super().__init__(message)
        self.message = message
        self.labels = labels
        self.hint = hint
        self.notes = tuple(notes)
        self.more = tuple(more)

    @property
    def file(self) -> str | None:
        """The name of the file at fault, or None if no place is known."""
        return self.labels[0].span.source.name if self.labels else None

    @property
    def line(self) -> int | None:
        """The line of the fault, counted from 1, or None if no place is known."""
        return self.labels[0].span.line if self.labels else None

    @property
    def column(self) -> int | None:
        """The column of the fault, counted from 1, or None if no place is known."""
        return self.labels[0].span.column if self.labels else None

    def __str__(self) -> str:
        message = self.message if len(self.message) <= _LONGEST else f"{self.message[:_LONGEST]}..."
        lines = [f"error: {message.translate(_ESCAPED)}"]
        # The caret stands below the character that it means, so each character stays one.
        lines += [label.render().translate(_REPLACED) for label in self.labels]
        lines += [f"note: {note.translate(_ESCAPED)}" for note in self.notes]
        if self.hint:
            lines.append(f"hint: {self.hint.translate(_ESCAPED)}")
        return "\n".join(["\n".join(lines), *(str(fault) for fault in self.more)])


def extra(name: str) -> str:
    """Return the cure for a package that is missing: the command that installs the extra `name` of setup.cfg.

    The command works in a clone. The package index knows another project as ``tabla``, so no cure installs that name.
    """
    return f"pip install '.[{name}]' in a clone of tabla"


class TablaValueError(TablaError, ValueError):
    """A parameter of a Python function, or an option of the command line, with a value that it cannot have."""


class LostError(TablaError):
    """A device or a worker has gone, or has not answered in its time. Another one could do its work."""


class TablaTypeError(TablaError, TypeError):
    """A parameter of a Python function whose value is of a type that the function does not take."""
