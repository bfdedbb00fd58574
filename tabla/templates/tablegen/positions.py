"""Places in the token stream of one run, kept as plain integers.

Every syntax node and every record remembers the *index* of a token, never a span: an index costs nothing to
store for the half a million tokens of a large target, and the neighbour of a token (where the reference tool
reports many faults) is the next integer. A span is made only when a message needs one.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tabla.base.source import Label, Source, Span, TablaError


@dataclass(frozen=True, slots=True, kw_only=True)
class IncludedSource:
    """One reading of one file; `included_at` is the token index of its file name in the includer."""

    source: Source
    included_at: int | None


@dataclass(slots=True)
class Positions:
    """Where each token of a run stands, as parallel lists indexed by the token."""

    sources: list[IncludedSource] = field(default_factory=list)
    source_of: list[int] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)

    def add(self, source: int, start: int, end: int) -> int:
        """Remember a token and return its index."""
        self.source_of.append(source)
        self.starts.append(start)
        self.ends.append(end)
        return len(self.starts) - 1

    def span(self, index: int) -> Span:
        """Return the span of the token at `index`. Past the last token it is the end of the input."""
        index = min(index, len(self.starts) - 1)
        source = self.sources[self.source_of[index]].source
        return Span(source=source, start=self.starts[index], end=self.ends[index])

    def include_notes(self, index: int) -> list[str]:
        """Return one line for each ``include`` that led to the token, innermost first."""
        notes: list[str] = []
        included_at = self.sources[self.source_of[min(index, len(self.starts) - 1)]].included_at
        while included_at is not None:
            span = self.span(included_at)
            notes.append(f"included from {span.source.name}:{span.line}")
            included_at = self.sources[self.source_of[included_at]].included_at
        return notes

    def place(self, index: int) -> str:
        """Return ``file:line:column`` of a token, for notes."""
        span = self.span(index)
        return f"{span.source.name}:{span.line}:{span.column}"

    def warning(self, message: str, label: Label, *, hint: str, notes: list[str] | None = None) -> str:
        """Return the text of a warning, which reads as a fault does but for its first word."""
        text = str(TablaError(message, label, hint=hint, notes=notes or ()))
        return f"warning: {text.removeprefix('error: ')}"

    def fault(
        self, message: str, index: int, *, label: str = "", hint: str | None = None, notes: list[str] | None = None
    ) -> TablaError:
        """Return the user's fault at a token, with the include stack as notes."""
        return TablaError(
            message, Label(self.span(index), label), hint=hint, notes=[*(notes or ()), *self.include_notes(index)]
        )
