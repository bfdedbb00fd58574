"""Tokens to statements, with the syntax error (if any) kept beside the statements before it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from tabla.lang.tablegen import grammar, syntax
from tabla.lang.tablegen.lexer import KEYWORDS
from tabla.lang.tablegen.positions import Positions
from tabla.source import TablaError

_WORDS = {
    "ID": "name",
    "TEXT": "string",
    "CODE_TEXT": "code fragment",
    "INTEGER": "number",
    "BINARY": "number",
    "VARIABLE": "variable",
    "OPERATOR": "operator",
    "PASTE": "paste operator",
    "TRAILING_PASTE": "paste operator",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """Finished top-level statements and what stopped the parser."""

    statements: list[syntax.Statement]
    fault: TablaError | None


class _TokenStream:
    """What PLY asks a lexer for, over a finished list; statements gather here as they are reduced."""

    def __init__(self, tokens: list[Any]) -> None:
        stream: Iterator[Any] = iter(tokens)
        self.token = partial(next, stream, None)
        self.statements: list[syntax.Statement] = []


def parse(tokens: list[Any], positions: Positions) -> Parsed:
    """Parse the tokens of a run."""
    stream = _TokenStream(tokens)
    fault: TablaError | None = None
    try:
        grammar.parser().parse(lexer=stream, tracking=False)
    except grammar.UnexpectedToken as stop:
        fault = _fault(stop.token, positions)
    return Parsed(statements=stream.statements, fault=fault)


def _fault(token: Any, positions: Positions) -> TablaError:
    if token is None:
        return positions.fault("the file ends in the middle of a statement", len(positions.starts) - 1)
    if token.type == "FAULT":
        fault: TablaError = token.value
        return fault
    index: int = token.lexpos
    span = positions.span(index)
    text = span.source.text[span.start : span.end]
    what = f"{_WORDS[token.type]} {text}" if token.type in _WORDS and len(text) < 40 else f"'{text[:40]}'"
    if token.type == ";" and index > 0:
        before = positions.span(index - 1)
        if before.source.text[before.start : before.end] == "}":
            return positions.fault("a body in braces does not end with ';'", index, hint="remove the semicolon")
    hint = f"'{text}' is a keyword of the language" if text in KEYWORDS else None
    return positions.fault(f"unexpected {what}", index, label="not possible here", hint=hint)
