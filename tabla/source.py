"""Source texts, places in them, and faults that point at those places.

Every room may import this module; it imports nothing of ours. A fault of the *user* is a
:class:`TablaError` (it prints as ``error: ...`` with file, line, column, the line, a caret and a cure);
any other exception is a fault of *ours* and keeps its traceback.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

_BOM = "\ufeff"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A text with a name. Line ends are ``\\n`` in `text`, whatever the file had (CRLF, CR); a BOM is dropped."""

    name: str
    text: str = field(repr=False)

    @staticmethod
    def from_text(text: str, name: str = "<text>") -> Source:
        """Normalise line ends and the byte-order mark, so that positions do not shift."""
        return Source(name=name, text=text.removeprefix(_BOM).replace("\r\n", "\n").replace("\r", "\n"))

    @staticmethod
    def from_path(path: str | Path) -> Source:
        """Read a UTF-8 file. A file that cannot be read is the user's fault: `TablaError`."""
        try:
            data = Path(path).read_bytes()
        except OSError as fault:
            raise TablaError(f"cannot read '{path}': {fault.strerror or fault}", hint="check the path") from None
        try:
            return Source.from_text(data.decode("utf-8"), str(path))
        except UnicodeDecodeError as fault:
            raise TablaError(f"'{path}' is not UTF-8 text: {fault.reason} at byte {fault.start}") from None

    def line_column(self, offset: int) -> tuple[int, int]:
        """1-based line and 1-based column (in characters; a tab is one) of a character offset."""
        offset = max(0, min(offset, len(self.text)))
        line = self.text.count("\n", 0, offset) + 1
        return line, offset - (self.text.rfind("\n", 0, offset) + 1) + 1

    def line(self, number: int) -> str:
        """The text of 1-based line `number`, without its end; empty past the last line."""
        lines = self.text.split("\n")
        return lines[number - 1] if 1 <= number <= len(lines) else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Characters [start, end) of a source."""

    source: Source
    start: int
    end: int

    @property
    def line(self) -> int:
        """1-based line of the first character."""
        return self.source.line_column(self.start)[0]

    @property
    def column(self) -> int:
        """1-based column of the first character."""
        return self.source.line_column(self.start)[1]

    def to(self, other: Span) -> Span:
        """From the start of this span to the end of `other` (same source)."""
        return Span(source=self.source, start=min(self.start, other.start), end=max(self.end, other.end))


@dataclass(frozen=True, slots=True)
class Label:
    """A span and what to say beside its caret."""

    span: Span
    text: str = ""

    def render(self) -> str:
        """The place, the line and the caret, as rustc draws them."""
        source, (line, column) = self.span.source, self.span.source.line_column(self.span.start)
        text = source.line(line)
        number = str(line)
        # Tabs stay tabs under the line so that the caret stands where the terminal puts the character.
        lead = "".join("\t" if c == "\t" else " " for c in text[: column - 1])
        width = max(1, min(self.span.end - self.span.start, len(text) - column + 1))
        caret = f"{' ' * len(number)} | {lead}{'^' * width} {self.text}".rstrip()
        return f" --> {source.name}:{line}:{column}\n{number} | {text}\n{caret}"


class TablaError(Exception):
    """A fault of the user's program, data or command line.

    `labels` are places, the first being the main one; `hint` is the cure; `notes` are further lines; `more`
    holds further faults found in the same run (the command prints them all).
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
        """Name of the file at fault, if a place is known."""
        return self.labels[0].span.source.name if self.labels else None

    @property
    def line(self) -> int | None:
        """1-based line of the fault, if a place is known."""
        return self.labels[0].span.line if self.labels else None

    @property
    def column(self) -> int | None:
        """1-based column of the fault, if a place is known."""
        return self.labels[0].span.column if self.labels else None

    def __str__(self) -> str:
        lines = [f"error: {self.message}"]
        lines += [label.render() for label in self.labels]
        lines += [f"note: {note}" for note in self.notes]
        if self.hint:
            lines.append(f"hint: {self.hint}")
        return "\n".join(["\n".join(lines), *(str(fault) for fault in self.more)])
