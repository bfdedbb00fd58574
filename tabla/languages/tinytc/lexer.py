"""The words of the tensor language: a PLY lexer whose token values are `Lexeme` (text and place)."""

from __future__ import annotations

import re
import sys

from tabla.base.faults import Faults
from tabla.base.lexemes import Token, skip_stray, tokens_of
from tabla.base.source import Source

tokens = (
    "LOCAL", "GLOBAL", "NUMBER", "STRING", "NAME", "ARROW",
    "LPAREN", "RPAREN", "LBRACE", "RBRACE", "LBRACKET", "RBRACKET", "LESS", "GREATER",
    "COMMA", "COLON", "ASSIGN", "DOT", "QUESTION",
)  # fmt: skip

t_ignore = " \t\n\f\v"
t_ignore_COMMENT = r";[^\n]*"
t_LOCAL = r"%(?:[A-Za-z]\w*|[0-9]+)"
t_GLOBAL = r"@(?:[A-Za-z]\w*|[0-9]+)"
t_NUMBER = (
    r"[+-]?(?:0[xX][0-9a-fA-F.]+(?:[pP][+-]?[0-9]+)?|[0-9]*\.[0-9]+(?:[eE][+-]?[0-9]+)?"
    r"|[0-9]+\.?(?:[eE][+-]?[0-9]+)?|(?:inf|nan)\b)"
)
t_STRING = r'"[^"\n]*"'
t_NAME = r"[A-Za-z_]\w*"
t_ARROW = r"->"
t_LPAREN = r"\("
t_RPAREN = r"\)"
t_LBRACE = r"\{"
t_RBRACE = r"\}"
t_LBRACKET = r"\["
t_RBRACKET = r"\]"
t_LESS = r"<"
t_GREATER = r">"
t_COMMA = r","
t_COLON = r":"
t_ASSIGN = r"="
t_DOT = r"\."
t_QUESTION = r"\?"

_STRAY = re.compile(r"[^\s\w%@+\-\"(){}\[\]<>,:=.?;]+")


def t_error(t: Token) -> None:
    skip_stray(t, _STRAY, _cure)


def _cure(text: str) -> str:
    match text[0]:
        case "#" | "/":
            return "a comment begins with ';'"
        case "$":
            return "a preprocessor name: define it with -D NAME=VALUE, or '$name = value' before it"
        case "%" | "@":
            return "a local name is %name, a function @name"
        case _:
            return "remove it"


def read_tokens(source: Source, faults: Faults) -> list[Token]:
    """Return all tokens of `source`, in order. What is not a token is noted in `faults` and skipped."""
    return tokens_of(sys.modules[__name__], source, faults)[0]
