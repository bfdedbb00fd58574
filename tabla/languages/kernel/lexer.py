"""The words of a kernel's text: a PLY lexer whose token values are `Lexeme` (text and place). No name is reserved."""

from __future__ import annotations

import re
import sys

from tabla.base.faults import Faults
from tabla.base.lexemes import Token, skip_stray, tokens_of
from tabla.base.source import Source

tokens = (
    *("NAME", "REAL", "WHOLE", "COMPARISON", "ASSIGN", "LOWER", "PLUS", "MINUS", "TIMES", "DIVIDE", "MODULO"),
    *("LPAREN", "RPAREN", "LBRACKET", "RBRACKET", "COMMA", "COLON", "SEMICOLON"),
)

t_ignore = " \t\f\v"
t_COMPARISON = r"<=|>=|==|!=|<|>"
t_ASSIGN = r"="
t_LOWER = r"-="
t_PLUS = r"\+"
t_MINUS = r"-"
t_TIMES = r"\*"
t_DIVIDE = r"/"
t_MODULO = r"%"
t_LPAREN = r"\("
t_RPAREN = r"\)"
t_LBRACKET = r"\["
t_RBRACKET = r"\]"
t_COMMA = r","
t_COLON = r":"
t_SEMICOLON = r";"

_STRAY = re.compile(r"[^\s\w+\-*/%<>=!,.()\[\]:;]+")


def t_comment(t: Token) -> None:
    r"//[^\n]*"


def t_newline(t: Token) -> None:
    r"\n+"


def t_REAL(t: Token) -> Token:
    r"[0-9]+\.[0-9]+"
    return t


def t_WHOLE(t: Token) -> Token:
    r"[0-9]+"
    return t


def t_NAME(t: Token) -> Token:
    r"[^\W\d][\w.']*"
    return t


def t_error(t: Token) -> None:
    skip_stray(t, _STRAY, _cure)


def _cure(text: str) -> str:
    if text[:1] == ".":
        return "a number has a digit before its point: 0.5"
    if text[:1] == "^":
        return "write power(a, b)"
    return "a kernel has names, numbers and the signs that tabla gen --emit kernel prints"


def read_tokens(source: Source) -> list[Token]:
    """Return all tokens of a text. What is not a token is a `TablaError`."""
    faults = Faults()
    found = tokens_of(sys.modules[__name__], source, faults)[0]
    faults.raise_any()
    return found
