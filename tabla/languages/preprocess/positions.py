"""The text that the front end reads, and the way back from its places to those of the file."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tabla.base.source import Label, Source, Span, TablaError
from tabla.languages.preprocess.values import Definition


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """The characters [start, end) of the file became [new_start, new_end) of the text. `meaning` is what a use stands
    for.
    """

    start: int
    end: int
    new_start: int
    new_end: int
    meaning: Definition | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Preprocessed:
    """A text after the preprocessor.

    `source` is the text with every use replaced and without definitions; where there are none it is `original` itself.
    `definitions` are those of the command line and of the text, in order. `used` are the names of the command line that
    the text mentions.
    """

    source: Source
    original: Source
    definitions: tuple[Definition, ...] = ()
    used: frozenset[str] = frozenset()
    edits: tuple[Edit, ...] = field(default=(), repr=False)

    def locate(self, span: Span) -> Span:
        """Return the place in the file of a place in `source`. A place in what a use became is the whole use."""
        if span.source is not self.source or not self.edits:
            return span
        start, end = self._back(span.start, at_end=False), self._back(span.end, at_end=span.end > span.start)
        return Span(source=self.original, start=start, end=max(start, end))

    def restore(self, fault: TablaError) -> TablaError:
        """Return the same fault with its places in the file, and with what the uses at these places stand for."""
        labels = [Label(self.locate(label.span), label.text) for label in fault.labels]
        notes = [*fault.notes, *self._meanings(fault.labels)]
        more = [self.restore(other) for other in fault.more]
        return TablaError(fault.message, *labels, hint=fault.hint, notes=notes, more=more)

    @contextmanager
    def pointing_back(self) -> Iterator[None]:
        """Let faults that are raised inside the block point at the file."""
        try:
            yield
        except TablaError as fault:
            raise self.restore(fault) from fault.__cause__

    def values(self) -> str:
        """Return the definitions as ``--values`` prints them, one per line."""
        return "".join(f"{definition}\n" for definition in self.definitions)

    def _back(self, offset: int, *, at_end: bool) -> int:
        at = self._before(offset - at_end)
        if at < 0:
            return offset
        edit = self.edits[at]
        if offset - at_end < edit.new_end:
            return edit.end if at_end else edit.start
        return edit.end + (offset - edit.new_end)

    def _before(self, offset: int) -> int:
        """The last edit that begins at or before a character of `source`."""
        return bisect_right(self.edits, offset, key=lambda edit: edit.new_start) - 1

    def _meanings(self, labels: tuple[Label, ...]) -> Iterator[str]:
        told: set[str] = set()
        for span in (label.span for label in labels if label.span.source is self.source):
            at = self._before(span.start)
            while 0 <= at < len(self.edits) and self.edits[at].new_start < max(span.end, span.start + 1):
                meaning, inside = self.edits[at].meaning, self.edits[at].new_end > span.start
                at += 1
                if meaning is None or not inside or meaning.name in told:
                    continue
                told.add(meaning.name)
                place = f"{meaning.span.source.name}:{meaning.span.line}:{meaning.span.column}"
                yield f"'${meaning.name}' stands for '{meaning.value.text}', defined at {place}"
