"""The words of a statement of a graph: a PLY lexer whose token values are `Lexeme` (text and place)."""

from __future__ import annotations

import re
import sys

from tabla.base.faults import Faults
from tabla.base.lexemes import Lexeme, Token, skip_stray, tokens_of
from tabla.base.source import Label, Source, Span, TablaError

KEYWORDS = {"for": "FOR", "in": "IN", "where": "WHERE"}

tokens = (
    *KEYWORDS.values(),
    "NAME",
    "NUMBER",
    "POWER",
    "ORDINAL",
    "COMPARISON",
    "ASSIGN",
    "PLUS",
    "MINUS",
    "TIMES",
    "DIVIDE",
    "LPAREN",
    "RPAREN",
    "LBRACKET",
    "RBRACKET",
    "COMMA",
)

t_ignore = " \t\f\v"
t_COMPARISON = r"<=|>=|==|!=|<|>"
t_ASSIGN = r"="
t_PLUS = r"\+"
t_MINUS = r"-"
t_TIMES = r"\*"
t_DIVIDE = r"/"
t_LPAREN = r"\("
t_RPAREN = r"\)"
t_LBRACKET = r"\["
t_RBRACKET = r"\]"
t_COMMA = r","

_STRAY = re.compile(r"[^\s\w+\-*/<>=!,.()\[\]^]+")


def t_ORDINAL(t: Token) -> Token:
    r"<[^\s<>=]+>"
    return t


def t_POWER(t: Token) -> Token:
    r"2\^-?[0-9]+"
    return t


def t_NUMBER(t: Token) -> Token:
    r"[0-9]+(?:\.[0-9]+)?"
    return t


def t_NAME(t: Token) -> Token:
    r"[^\W\d][\w.']*"
    t.type = KEYWORDS.get(t.value, "NAME")
    return t


def t_error(t: Token) -> None:
    skip_stray(t, _STRAY, lambda text: "a graph has names, numbers and the signs that tabla gen --emit graph prints")


def read_tokens(span: Span) -> list[Token]:
    """Return all tokens of a part of a text, with their places there. What is not a token is a `TablaError`."""
    alone, faults = Source.from_text(span.source.text[span.start : span.end], span.source.name), Faults()

    def moved(place: Span) -> Span:
        return Span(source=span.source, start=span.start + place.start, end=span.start + place.end)

    found = tokens_of(sys.modules[__name__], alone, faults)[0]
    try:
        faults.raise_any()
    except TablaError as fault:
        labels = [Label(moved(label.span), label.text) for label in fault.labels]
        raise TablaError(fault.message, *labels, hint=fault.hint) from None
    for token in found:
        token.value = Lexeme(text=token.value.text, span=moved(token.value.span))
    return found
