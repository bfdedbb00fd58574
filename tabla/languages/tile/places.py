"""Where in the user's Python something happens, and what the user's function calls things."""

from __future__ import annotations

import ast
import linecache
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dis import opmap
from functools import lru_cache
from itertools import islice
from types import CodeType, FrameType
from typing import Any, NoReturn, Protocol

from tabla.base.source import Label, Source, Span, TablaError

# Lists of tensors are short; the user may hold long lists of other things.
_MOST_ITEMS = 64
Loop = ast.For | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
Extent = tuple[int, int, int, int]
"""The first line, its column, the last line, its column. Lines count from 1, columns in bytes of UTF-8 from 0."""
_OURS = ("tabla.languages.tile", "tabla.tile")


_read: ContextVar[Span | None] = ContextVar("read", default=None)
"""The expression that is being evaluated of a text that is not Python; None where Python runs the user's function."""


class Nameable(Protocol):
    """Something that learns its name from the variable that holds it."""

    def learn_name(self, name: str) -> None:
        """Take a name, unless there is one already."""


def user_frame() -> FrameType | None:
    """Return the innermost frame that does not belong to this package."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").startswith(_OURS):
        frame = frame.f_back
    return frame


@contextmanager
def reading(span: Span) -> Iterator[None]:
    """Let `here` be a place of a text that is not Python, as long as the ``with`` block runs."""
    token = _read.set(span)
    try:
        yield
    finally:
        _read.reset(token)


def here() -> Span | None:
    """Return the place of the user's expression that is being evaluated, and learn on the way what its variables are
    called.
    """
    if (span := _read.get()) is not None:
        return span
    frame = user_frame()
    if frame is None:
        return None
    caller: FrameType | None = frame
    while caller is not None and not caller.f_globals.get("__name__", "").startswith("tabla."):
        for name, value in _named(caller.f_locals.items()):
            value.learn_name(name)
        caller = caller.f_back
    return place(frame.f_code, frame.f_lasti, frame.f_lineno)


def _named(variables: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, Nameable]]:
    """Variables that hold something with a name; the items of a list are numbered."""
    for name, value in list(variables):
        if isinstance(value, list | tuple) and len(value) <= _MOST_ITEMS:
            items = [(f"{name}{number}", item) for number, item in enumerate(value)]
        else:
            items = [(name, value)]
        yield from ((text, item) for text, item in items if hasattr(type(item), "learn_name"))


def place(code: CodeType, instruction: int, line: int) -> Span | None:
    """Return the characters of an instruction, or its line. The result is None where the text is not at hand."""
    source = source_of(code.co_filename)
    if source is None:
        return None
    first, last, start, end = next(islice(code.co_positions(), instruction // 2, None), (None,) * 4)
    if first is None or start is None or end is None or last is None:
        return line_span(source, line)
    if code.co_code[instruction] == opmap["GET_ITER"]:
        first, start, last, end = _loop(source.text, (first, start, last, end))
    return Span(source=source, start=_offset(source, first, start), end=_offset(source, last, end))


def _loop(text: str, instruction: Extent) -> Extent:
    """Return what to show where a loop asks for its iterator: a whole comprehension, or what a ``for`` statement runs
    over.

    Python 3.13 gives this instruction the extent of what is run over. Earlier versions give it the extent of the whole
    loop, in which the several ``for`` of a comprehension cannot be told apart.
    """
    for loop in _loops(text):
        if isinstance(loop, ast.For):
            if instruction == _extent(loop):
                return _extent(loop.iter)
        elif sys.version_info >= (3, 13) and instruction in (_extent(part.iter) for part in loop.generators):
            return _extent(loop)
    return instruction


@lru_cache(maxsize=4)
def _loops(text: str) -> list[Loop]:
    """The loops of a text; none where it is no Python, as in some cells of notebooks."""
    try:
        return [node for node in ast.walk(ast.parse(text)) if isinstance(node, Loop)]
    except SyntaxError:
        return []


def _extent(node: ast.expr | ast.stmt) -> Extent:
    """Lines and columns as in the positions of instructions; the parser leaves none open."""
    assert node.end_lineno is not None and node.end_col_offset is not None
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset


def line_span(source: Source, line: int) -> Span:
    """Return the text of a line, without its indentation."""
    text = source.line(line)
    begin = _line_start(source, line)
    return Span(source=source, start=begin + len(text) - len(text.lstrip()), end=begin + len(text.rstrip()))


@lru_cache(maxsize=64)
def _source(name: str, text: str) -> Source:
    return Source.from_text(text, name)


def source_of(file: str) -> Source | None:
    """Return the text of a file or of a notebook's cell."""
    lines = linecache.getlines(file)
    return _source(file, "".join(lines)) if lines else None


def _line_start(source: Source, line: int) -> int:
    start = 0
    for _ in range(line - 1):
        start = source.text.find("\n", start) + 1
    return start


def _offset(source: Source, line: int, column: int) -> int:
    """Python counts columns in bytes of UTF-8, we in characters."""
    return _line_start(source, line) + len(source.line(line).encode()[:column].decode(errors="ignore"))


def fault(message: str, hint: str | None = None, span: Span | None = None) -> TablaError:
    """Return a fault of the user's function, at `span` or at the expression that is being evaluated."""
    span = span or here()
    return TablaError(message, *([Label(span)] if span is not None else []), hint=hint)


def refuse(message: str, hint: str | None = None, span: Span | None = None) -> NoReturn:
    """Raise a fault of the user's function, at `span` or at the expression that is being evaluated."""
    raise fault(message, hint, span)
