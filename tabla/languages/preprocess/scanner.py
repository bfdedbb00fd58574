"""A place in a text that moves forward. All parts of the preprocessor read with it."""

from __future__ import annotations

import re

from tabla.base.source import Label, Source, Span, TablaError
from tabla.languages.preprocess.comments import Comments

_SPACE = re.compile(r"\s+")
_FOUND = re.compile(r"\$?\w+|.", re.DOTALL)
_NAME = re.compile(r"\$(?:[A-Za-z][A-Za-z0-9_]*|[0-9]+)")
_NAME_LIKE = re.compile(r"\$\w*")


class Scanner:
    """Reads `source` from `position`. White space and comments are skipped."""

    def __init__(self, source: Source, comments: Comments, position: int = 0) -> None:
        self.source, self.comments, self.position = source, comments, position
        self.text = source.text

    def skip(self) -> None:
        """Pass white space and comments."""
        while space := _SPACE.match(self.text, self.position) or self.comments.pattern.match(self.text, self.position):
            self.position = space.end()

    def take(self, pattern: re.Pattern[str]) -> Span | None:
        """Pass what `pattern` matches here, after white space, and return it; else stay. A pattern never matches
        nothing.
        """
        start = self.position
        self.skip()
        if found := pattern.match(self.text, self.position):
            self.position = found.end()
            return self.span(found.start())
        self.position = start
        return None

    def name(self) -> Span | None:
        """Pass ``$name``. A ``$`` that begins no name is a fault. Stay at anything else."""
        start = self.position
        self.skip()
        if not self.text.startswith("$", self.position):
            self.position = start
            return None
        if found := _NAME.match(self.text, self.position):
            self.position = found.end()
            return self.span(found.start())
        like = _NAME_LIKE.match(self.text, self.position)
        end = like.end() if like else self.position + 1
        raise TablaError(
            f"'{self.text[self.position : end]}' is not a compile-time variable",
            Label(Span(source=self.source, start=self.position, end=end)),
            hint="after '$' comes a letter and then letters, digits or '_', or digits alone: $n, $chunk_size, $0",
        )

    def expect(self, pattern: re.Pattern[str], expected: str, hint: str, *opened: Label) -> Span:
        """Pass what `pattern` matches. Anything else is a fault."""
        span = self.take(pattern)
        if span is None:
            raise self.unexpected(expected, hint, *opened)
        return span

    def unexpected(self, expected: str, hint: str, *opened: Label) -> TablaError:
        """Return the fault that `expected` does not stand here."""
        self.skip()
        found = _FOUND.match(self.text, self.position)
        if found is None:
            return TablaError(f"expected {expected}, not the end of the text", Label(self.span()), *opened, hint=hint)
        span = Span(source=self.source, start=found.start(), end=found.end())
        return TablaError(f"expected {expected}, not '{found.group()}'", Label(span), *opened, hint=hint)

    def span(self, start: int | None = None) -> Span:
        """Return the span from `start`, or from here when it is left out, to here."""
        return Span(source=self.source, start=self.position if start is None else start, end=self.position)


def written(span: Span) -> str:
    """Return the characters of a span."""
    return span.source.text[span.start : span.end]
