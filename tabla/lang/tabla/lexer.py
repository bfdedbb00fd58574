"""The words of TABLA: a PLY lexer whose token values are `Lexeme` (text and place)."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import ply.lex as ply_lex  # type: ignore[import-untyped]

from tabla.lang.faults import Faults
from tabla.lang.lexemes import Token, shortened, tokens_of
from tabla.source import Source, Span

KEYWORDS = {
    "model_input": "MODEL_INPUT",
    "model_output": "MODEL_OUTPUT",
    "model": "MODEL",
    "gradient": "GRADIENT",
    "iterator": "ITERATOR",
}

tokens = (
    *KEYWORDS.values(),
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

# Numbers past this many digits hold in no format; Python itself refuses int() of 4300 digits.
_DIGITS = 400
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
    span = Span(source=lexer.source, start=t.lexpos, end=t.lexpos + 2)
    lexer.faults.add("this comment is never closed", span, "opened here", hint="close it with */")
    lexer.skip(len(lexer.lexdata) - lexer.lexpos)


def t_NAME(t: Token) -> Token:
    r"[^\W\d]\w*'?"
    if not t.value.isascii():
        span = Span(source=t.lexer.source, start=t.lexpos, end=t.lexpos + len(t.value))
        t.lexer.faults.add(
            f"'{shortened(t.value)}' is not a name",
            span,
            hint="a name has the letters a to z, digits and '_', and may end in one prime",
        )
    t.type = KEYWORDS.get(t.value, "NAME")
    return t


def t_NUMBER(t: Token) -> Token:
    r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
    lexer, text = t.lexer, t.value
    run = _RUNS_ON.match(lexer.lexdata, lexer.lexpos)
    tail = run.group() if run else ""
    span = Span(source=lexer.source, start=t.lexpos, end=t.lexpos + len(text) + len(tail))
    if tail:
        lexer.faults.add(
            f"'{shortened(text + tail)}' is neither a number nor a name",
            span,
            hint="a product is written with '*', and a name begins with a letter",
        )
        lexer.skip(len(tail))
        lexer.strays.append(span.start)
        t.value = "1"
    elif len(text) > _DIGITS or _exponent(text) > _DIGITS:
        lexer.faults.add(f"the number '{shortened(text)}' is too long", span, hint="no format can hold it")
        t.value = "1"
    return t


def t_error(t: Token) -> None:
    lexer = t.lexer
    run = _STRAY.match(lexer.lexdata, lexer.lexpos)
    text = run.group() if run else lexer.lexdata[lexer.lexpos]
    span = Span(source=lexer.source, start=lexer.lexpos, end=lexer.lexpos + len(text))
    kind = "character" if len(text) == 1 else "characters"
    lexer.strays.append(span.start)
    lexer.faults.add(f"stray {kind} {_quoted(text)}", span, hint=_cure(text))
    lexer.skip(len(text))


def _exponent(text: str) -> int:
    _, _, digits = text.lower().partition("e")
    # The length is looked at before int() does, which refuses thousands of digits.
    return 0 if not digits else _DIGITS + 1 if len(digits) > 6 else abs(int(digits))


def _quoted(text: str) -> str:
    shown = shortened(text)
    mark = '"' if "'" in shown else "'"
    return f"{mark}{shown}{mark}" if shown.isprintable() else " ".join(f"U+{ord(c):04X}" for c in shown)


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


@cache
def _lexer() -> Any:
    # The module is handed over as a dictionary of rules so that PLY does not look at its caller.
    import tabla.lang.tabla.lexer as rules

    return ply_lex.lex(module=rules, reflags=int(re.VERBOSE), errorlog=ply_lex.NullLogger())


def read_tokens(source: Source, faults: Faults) -> tuple[list[Token], list[int]]:
    """All tokens of `source`, in order; what is not a token is noted in `faults` and skipped.

    The second list says where the skipped characters stood.
    """
    return tokens_of(_lexer(), source, faults)
