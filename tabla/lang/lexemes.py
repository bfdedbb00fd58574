"""Tokens whose values are `Lexeme`, text and place, and how a notation's PLY lexer is run over a source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from tabla.lang.faults import Faults
from tabla.source import Source, Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Lexeme:
    """The characters of one token and where they stand."""

    text: str
    span: Span


class Token(Protocol):
    """What PLY hands to its rules; after `tokens_of` the value is a `Lexeme`."""

    type: str
    value: Any
    lexpos: int
    lexer: Any


def tokens_of(rules: Any, source: Source, faults: Faults) -> tuple[list[Token], list[int]]:
    """All tokens of `source`, in order, by the PLY lexer `rules`; what is not a token is noted in `faults` and skipped.

    The second list says where the skipped characters stood.
    """
    lexer = rules.clone()
    lexer.source, lexer.faults, lexer.strays = source, faults, []
    lexer.input(source.text)
    found: list[Token] = []
    while (token := lexer.token()) is not None:
        # The lexer's own position is the end, also where a fault replaced the text.
        span = Span(source=source, start=token.lexpos, end=lexer.lexpos)
        token.value = Lexeme(text=token.value, span=span)
        found.append(token)
    return found, lexer.strays


def shortened(text: str) -> str:
    """`text` as a message shows it: a long one is cut."""
    return text if len(text) <= 24 else f"{text[:20]}..."
