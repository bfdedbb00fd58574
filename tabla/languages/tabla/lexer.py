"""The words of TABLA: a PLY lexer whose token values are `Lexeme` (text and place)."""

from __future__ import annotations

import re
import sys

from tabla.base.faults import Faults
from tabla.base.lexemes import Token, check_name, is_too_long, shortened, skip_stray, span_of, tokens_of
from tabla.base.source import Source

KEYWORDS = {
    "model_input": "MODEL_INPUT",
    "model_output": "MODEL_OUTPUT",
    "model": "MODEL",
    "gradient": "GRADIENT",
    "iterator": "ITERATOR",
}

ORDERS = {"in order": "IN_ORDER", "in reverse order": "IN_REVERSE_ORDER"}
"""Words that make a loop of an iterator. No two names follow each other elsewhere, so each of these words alone is free
for variables."""

tokens = (
    *KEYWORDS.values(),
    *ORDERS.values(),
    "NAME",
    "NUMBER",
    "ARROW",
    "LESS_EQUAL",
    "GREATER_EQUAL",
    "EQUAL",
    "NOT_EQUAL",
    "LESS",
    "GREATER",
    "ASSIGN",
    "PLUS",
    "MINUS",
    "TIMES",
    "DIVIDE",
    "LPAREN",
    "RPAREN",
    "LBRACKET",
    "RBRACKET",
    "SEMICOLON",
    "COLON",
    "COMMA",
)

t_ignore = " \t\n\f\v"
t_ARROW = r"->"
t_LESS_EQUAL = r"<="
t_GREATER_EQUAL = r">="
t_EQUAL = r"=="
t_NOT_EQUAL = r"!="
t_LESS = r"<"
t_GREATER = r">"
t_ASSIGN = r"="
t_PLUS = r"\+"
t_MINUS = r"-"
t_TIMES = r"\*"
t_DIVIDE = r"/"
t_LPAREN = r"\("
t_RPAREN = r"\)"
t_LBRACKET = r"\["
t_RBRACKET = r"\]"
t_SEMICOLON = r";"
t_COLON = r":"
t_COMMA = r","

_RUNS_ON = re.compile(r"\w*")
_STRAY = re.compile(r"[^\s\w+\-*/<>=!;:,.()\[\]']+")
_LOOKALIKES = {
    "−": "-", "–": "-", "—": "-", "×": "*", "·": "*", "⋅": "*", "÷": "/", "≤": "<=", "≥": ">=", "≠": "!=",
    "’": "'", "‘": "'", "′": "'", "→": "->", "（": "(", "）": ")", "；": ";", "\u00a0": " ", "\u3000": " ",
}  # fmt: skip


def t_COMMENT(t: Token) -> None:
    r"//[^\n]*|/\*[^*]*\*+(?:[^/*][^*]*\*+)*/"


def t_UNCLOSED(t: Token) -> None:
    r"/\*"
    lexer = t.lexer
    lexer.faults.add("this comment is never closed", span_of(t), "opened here", hint="close it with */")
    lexer.skip(len(lexer.lexdata) - lexer.lexpos)


def t_IN_ORDER(t: Token) -> Token:
    r"in\s+(?:reverse\s+)?order\b"
    t.value = " ".join(t.value.split())
    t.type = ORDERS[t.value]
    return t


def t_NAME(t: Token) -> Token:
    r"[^\W\d]\w*'?"
    check_name(t, "a name has the letters a to z, digits and '_', and may end in one prime")
    t.type = KEYWORDS.get(t.value, "NAME")
    return t


def t_NUMBER(t: Token) -> Token:
    r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
    lexer, text = t.lexer, t.value
    run = _RUNS_ON.match(lexer.lexdata, lexer.lexpos)
    tail = run.group() if run else ""
    span = span_of(t, len(text) + len(tail))
    if tail:
        lexer.faults.add(
            f"'{shortened(text + tail)}' is neither a number nor a name",
            span,
            hint="a product is written with '*', and a name begins with a letter",
        )
        lexer.skip(len(tail))
        lexer.strays.append(span.start)
        t.value = "1"
    elif is_too_long(text):
        lexer.faults.add(f"the number '{shortened(text)}' is too long", span, hint="no format can hold it")
        t.value = "1"
    return t


def t_error(t: Token) -> None:
    skip_stray(t, _STRAY, _cure)


def _cure(text: str) -> str | None:
    match text[0]:
        case "!":
            return "'not equal' is written '!='"
        case "'":
            return "a prime stands at the end of a name, once"
        case "#" | "%":
            return "a comment starts with //"
        case "^":
            return "write a power as a product: x * x"
        case "?":
            return "there is no choice '?:'; multiply by a comparison: (x < 3) * y"
        case "{" | "}":
            return "there are no blocks; an iterator on the left side makes the loop: a[i] = ...;"
        case '"':
            return "there are only numbers"
        case "&" | "|":
            return "join comparisons by arithmetic: (a < b) * (c < d) is 'and', max(a < b, c < d) is 'or'"
        case "$":
            return "a preprocessor name: define it with -D NAME=VALUE"
        case first if first in _LOOKALIKES:
            return f"write it as plain '{_LOOKALIKES[first]}'"
        case _:
            return "remove it"


def read_tokens(source: Source, faults: Faults) -> tuple[list[Token], list[int]]:
    """Return all tokens of `source`, in order. What is not a token is noted in `faults` and skipped.

    The second list says where the skipped characters stood.
    """
    return tokens_of(sys.modules[__name__], source, faults)
