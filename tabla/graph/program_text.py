"""What the user wrote, for what the compiler has made of it: the text and the line of statements of the graph.

Names such as ``h.t1`` are the compiler's own. A report shows the passage of the program in their place. A statement of
the program may have become several statements of the graph, and each of these knows the part that it came from.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from tabla.base.source import Source, Span
from tabla.graph.graph import Graph, Statement
from tabla.graph.text import statement_text

Locate = Callable[[Span], Span]
"""Leads from a place in the text that a front end has read to that in the file."""

_NAMED, _NUMBER = re.compile(r"\bs\d+ \S+(?: \+ s\d+ \S+)*"), re.compile(r"\bs(\d+) ")
_ASSIGNED = re.compile(r"\s*[-+*/<>]?=(?!=)")
_COMMENTS = {
    ".t": re.compile(r"//[^\n]*|/\*(?:.|\n)*?\*/"),
    ".tc": re.compile(r"#[^\n]*"),
    ".cpp": re.compile(r"//[^\n]*|/\*(?:.|\n)*?\*/"),
    ".py": re.compile(r"#[^\n]*"),
}
"""The comments of each notation, by the end of a file's name. A listing of ONNX has the names of nodes behind ``#``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A piece of a program: its text in one line, the line where it begins, and the name of its file.

    What the compiler has added on its own, such as a move of words, stands nowhere: it has no line and no file.
    """

    text: str
    line: int | None = None
    file: str = ""

    def place(self, *, named: bool) -> str:
        """Return the line as text, with the file if it is to be `named`; nothing for what stands nowhere."""
        if self.line is None:
            return ""
        return f"{PurePath(self.file).name}:{self.line}" if named else str(self.line)


def as_it_is(span: Span) -> Span:
    """Return the place itself: that of a text without a preprocessor."""
    return span


def passage(statements: Sequence[Statement], locate: Locate = as_it_is) -> Passage:
    """Return the passage that statements of the graph come from. Those without a place are told by their formulas."""
    spans = [_whole(locate(statement.span)) for statement in statements if statement.span is not None]
    kept = [span for n, span in enumerate(spans) if not any(_covers(other, span, m < n) for m, other in _but(spans, n))]
    if not kept:
        return Passage(text="; ".join(statement_text(statement).split("   for ")[0] for statement in statements))
    text = "; ".join(dict.fromkeys(map(_in_one_line, kept)))
    return Passage(text=text, line=kept[0].line, file=kept[0].source.name)


def named(graph: Graph, tensor: str, locate: Locate = as_it_is) -> str:
    """Return a tensor as the user knows it: by its name, or, if the compiler has made it, by what it holds."""
    maker = next((statement for statement in graph.statements if statement.target == tensor), None)
    if "." not in tensor or maker is None or maker.span is None:
        return tensor
    return passage([maker], locate).text


def told(text: str, graph: Graph, locate: Locate = as_it_is) -> str:
    """Return a text of a schedule with passages in the place of its names of statements, such as ``s0 h.t1 + s1 h``."""

    def passage_of(found: re.Match[str]) -> str:
        numbers = [int(number) for number in _NUMBER.findall(found[0])]
        if max(numbers) >= len(graph.statements):
            return found[0]
        return passage([graph.statements[number] for number in numbers], locate).text

    return _NAMED.sub(passage_of, text)


def _but(spans: Sequence[Span], number: int) -> Iterator[tuple[int, Span]]:
    return ((other, span) for other, span in enumerate(spans) if other != number)


def _covers(outer: Span, inner: Span, first: bool) -> bool:
    """Return whether a place is inside another one. Of two that are the same, the `first` one is the outer."""
    if outer.source is not inner.source or not outer.start <= inner.start <= inner.end <= outer.end:
        return False
    return first or (outer.start, outer.end) != (inner.start, inner.end)


def _whole(span: Span) -> Span:
    """Return the whole statement for a place that is only its left side; for a node of ONNX, its line with its name."""
    source, end = span.source, span.end
    if source.name.endswith(".onnx"):
        return Span(source=source, start=span.start, end=_line_end(source, end))
    before = source.text[source.text.rfind("\n", 0, span.start) + 1 : span.start]
    if before.strip() or not _ASSIGNED.match(source.text, end):
        return span
    end = _line_end(source, end)
    while end < len(source.text) and _open(source.text[span.start : end]):
        end = _line_end(source, end + 1)
    return Span(source=source, start=span.start, end=end)


def _line_end(source: Source, start: int) -> int:
    end = source.text.find("\n", start)
    return len(source.text) if end < 0 else end


def _open(text: str) -> bool:
    """Return whether a bracket of the text is still to be closed."""
    return sum(map(text.count, "([{")) > sum(map(text.count, ")]}"))


def _in_one_line(span: Span) -> str:
    """Return the text of a place without its comments, with one blank for all that separates its words."""
    text = span.source.text[span.start : span.end]
    if span.source.name.endswith(".onnx"):
        node, _, name = text.partition("  # ")
        return f"{name}: {node}" if name else node
    comments = _COMMENTS.get(PurePath(span.source.name).suffix)
    return " ".join((text if comments is None else comments.sub(" ", text)).split()).removesuffix(";")
