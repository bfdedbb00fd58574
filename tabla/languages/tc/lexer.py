"""The words of Tensor Comprehensions: a PLY lexer whose token values are `Lexeme` (text and place)."""

from __future__ import annotations

import re
import sys

from tabla.base.faults import Faults
from tabla.base.lexemes import (
    MOST_DIGITS,
    Token,
    check_name,
    is_too_long,
    note_long,
    shortened,
    skip_stray,
    span_of,
    tokens_of,
)
from tabla.base.source import Source
from tabla.languages.tc.scalars import SCALARS

KEYWORDS = {
    "def": "DEF",
    "where": "WHERE",
    "in": "IN",
    "exists": "EXISTS",
    "min": "MIN",
    "max": "MAX",
    **dict.fromkeys(SCALARS, "TYPE"),
}

# Where reading goes on after a fault: before a statement, before a function.
RECOVERY = ("NEXT_STATEMENT", "NEXT_FUNCTION")

tokens = (
    "NAME", "INTEGER", "FLOAT", "TYPE", "DEF", "WHERE", "IN", "EXISTS", "MIN", "MAX",
    "ARROW", "EQUIVALENT", "REDUCE", "ASSIGN",
    "OR", "AND", "LESS_EQUAL", "GREATER_EQUAL", "EQUAL", "NOT_EQUAL", "LESS", "GREATER",
    "PLUS", "MINUS", "TIMES", "DIVIDE", "REMAINDER", "NOT", "QUESTION", "COLON", "COMMA", "DOT",
    "LPAREN", "RPAREN", "LBRACE", "RBRACE",
    *RECOVERY,
)  # fmt: skip

t_ignore = " \t\n\f\v"
t_ignore_COMMENT = r"\#[^\n]*"
t_ARROW = r"->"
t_EQUIVALENT = r"<=>"
t_OR = r"\|\|"
t_AND = r"&&"
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
t_REMAINDER = r"%"
t_NOT = r"!"
t_QUESTION = r"\?"
t_COLON = r":"
t_COMMA = r","
t_DOT = r"\."
t_LPAREN = r"\("
t_RPAREN = r"\)"
t_LBRACE = r"\{"
t_RBRACE = r"\}"

_STRAY = re.compile(r"[^\s\w+\-*/%<>=!?:,.(){}#&|]+")


def t_REDUCE(t: Token) -> Token:
    r"(?:\+|\*|\bmin|\bmax)=(?!=)!?"
    return t


def t_FLOAT(t: Token) -> Token:
    r"(?:[0-9]+\.[0-9]*(?:[eE][+-]?[0-9]+)?|(?<![\w)])\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+)[fFlL]?(?!\w)"
    t.value = t.value.rstrip("fFlL")
    if is_too_long(t.value):
        note_long(t, "1.0")
    return t


def t_INTEGER(t: Token) -> Token:
    r"(?:0[xX][0-9a-fA-F]+|[0-9]+)(?:[lL]|ll|LL)?(?!\w)"
    # A word is as wide as the format says, so a long number is the number.
    t.value = t.value.rstrip("lL")
    if len(t.value) > MOST_DIGITS:
        note_long(t, "1")
    elif t.value[0] == "0" and t.value[1:2].isdigit() and t.value.strip("0"):
        t.lexer.faults.add(f"'{t.value}' begins with a 0, which makes it octal in C", span_of(t), hint=_octal(t.value))
        t.value = "1"
    return t


def _octal(text: str) -> str:
    """Return what to write instead of a number with a leading 0, which some read as octal and others as decimal."""
    plain = text.lstrip("0")
    if set(plain) & set("89"):
        return f"write {plain}"
    return f"write {int(plain, 8)} for what it is in C, or {plain}"


def t_UNSIGNED(t: Token) -> Token:
    r"(?:0[xX][0-9a-fA-F]+|[0-9]+)(?:[uU](?:[lL]|ll|LL)?|(?:[lL]|ll|LL)[uU])(?!\w)"
    message = f"'{shortened(t.value)}' is unsigned, and constants here have a sign"
    t.lexer.faults.add(message, span_of(t), hint=f"write {shortened(t.value.rstrip('uUlL'))}")
    t.type, t.value = "INTEGER", "1"
    return t


def t_NAME(t: Token) -> Token:
    r"\w+"
    check_name(t, "a name has the letters a to z, digits and '_'")
    t.type = KEYWORDS.get(t.value, "NAME")
    return t


def t_error(t: Token) -> None:
    skip_stray(t, _STRAY, _cure)


def _cure(text: str) -> str:
    match text[0]:
        case ";":
            return "statements follow one another without a sign between them; remove it"
        case "[" | "]":
            return "subscripts stand in parentheses: A(i, j)"
        case "&" | "|":
            return "'and' is written &&, 'or' is written ||"
        case "$":
            return "a preprocessor name: define it with -D NAME=VALUE, or '$name = value' before it"
        case "^":
            return "write a power as pow(x, y) or as a product"
        case '"' | "'":
            return "there are only numbers"
        case _:
            return "remove it"


def read_tokens(source: Source, faults: Faults) -> tuple[list[Token], list[int]]:
    """Return all tokens of `source`, in order. What is not a token is noted in `faults` and skipped.

    The second list says where the skipped characters stood.
    """
    return tokens_of(sys.modules[__name__], source, faults)
