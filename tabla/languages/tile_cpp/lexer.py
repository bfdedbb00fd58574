"""The words of C++ that Tile functions have: a PLY lexer whose token values are `Lexeme` (text and place)."""

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
    skip_stray,
    span_of,
    tokens_of,
)
from tabla.base.source import Label, Source, Span, TablaError
from tabla.languages.tile_cpp.types import TYPES

KEYWORDS = {
    "vector": "VECTOR",
    "const": "CONST",
    "constexpr": "CONST",
    "return": "RETURN",
    "for": "FOR",
    "if": "IF",
    "else": "ELSE",
    "break": "BREAK",
    "continue": "CONTINUE",
    "true": "TRUE",
    "false": "FALSE",
    "using": "USING",
    "namespace": "NAMESPACE",
    "inline": "SPECIFIER",
    "static": "SPECIFIER",
    "static_cast": "STATIC_CAST",
    **dict.fromkeys(TYPES, "TYPE"),
}
UNREAD = frozenset(
    "asm case catch char class const_cast default delete do dynamic_cast enum explicit export extern friend "
    "goto mutable new noexcept nullptr operator private protected public register reinterpret_cast short sizeof struct "
    "switch template this throw try typedef typeid typename union virtual volatile while".split()
)
"""Keywords of C++ that begin what Tile functions do not have."""

tokens = (
    "NAME", "INTEGER", "FLOAT", "STRING", "TYPE", "UNREAD",
    *dict.fromkeys(kind for kind in KEYWORDS.values() if kind != "TYPE"),
    "PLUS_ASSIGN", "MINUS_ASSIGN", "TIMES_ASSIGN", "DIVIDE_ASSIGN", "REMAINDER_ASSIGN",
    "AND_ASSIGN", "OR_ASSIGN", "XOR_ASSIGN", "SHIFT_LEFT_ASSIGN", "SHIFT_RIGHT_ASSIGN", "INCREMENT", "DECREMENT",
    "SHIFT_LEFT", "SHIFT_RIGHT", "OR", "AND", "LESS_EQUAL", "GREATER_EQUAL", "EQUAL", "NOT_EQUAL", "LESS", "GREATER",
    "ASSIGN", "PLUS", "MINUS", "TIMES", "DIVIDE", "REMAINDER", "NOT", "TILDE", "BIT_AND", "BIT_OR", "BIT_XOR",
    "QUESTION", "COLON", "SEMICOLON", "COMMA", "DOT", "LPAREN", "RPAREN", "LBRACE", "RBRACE", "LBRACKET", "RBRACKET",
)  # fmt: skip

t_ignore = " \t\n\f\v"
t_ignore_COMMENT = r"//[^\n]*"
t_ignore_INCLUDE = r"\#[ \t]*(?:include|pragma)\b[^\n]*"
t_PLUS_ASSIGN = r"\+="
t_MINUS_ASSIGN = r"-="
t_TIMES_ASSIGN = r"\*="
t_DIVIDE_ASSIGN = r"/="
t_REMAINDER_ASSIGN = r"%="
t_AND_ASSIGN = r"&="
t_OR_ASSIGN = r"\|="
t_XOR_ASSIGN = r"\^="
t_SHIFT_LEFT_ASSIGN = r"<<="
t_SHIFT_RIGHT_ASSIGN = r">>="
t_INCREMENT = r"\+\+"
t_DECREMENT = r"--"
t_SHIFT_LEFT = r"<<"
t_SHIFT_RIGHT = r">>"
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
t_TILDE = r"~"
t_BIT_AND = r"&"
t_BIT_OR = r"\|"
t_BIT_XOR = r"\^"
t_QUESTION = r"\?"
t_COLON = r":"
t_SEMICOLON = r";"
t_COMMA = r","
t_DOT = r"\."
t_LPAREN = r"\("
t_RPAREN = r"\)"
t_LBRACE = r"\{"
t_RBRACE = r"\}"
t_LBRACKET = r"\["
t_RBRACKET = r"\]"

_STRAY = re.compile(r"[0-9][\w.']*|'[^'\n]*'|[^\s\w+\-*/%<>=!?:;,.(){}\[\]&|^~\"'\\#]+")
_SPACES = re.compile(r"^(?:(?:plaidml|edsl|std)::)+")


def t_ignore_BLOCK(t: Token) -> None:
    r"/\*(?:.|\n)*?\*/"


def t_OPEN_COMMENT(t: Token) -> None:
    r"/\*(?:.|\n)*"
    message = "this comment has no end"
    raise TablaError(message, Label(Span(source=t.lexer.source, start=t.lexpos, end=t.lexpos + 2)), hint="write */")


def t_ESCAPE(t: Token) -> None:
    r"\\"
    _refuse_backslash(t, t.lexpos)


def _refuse_backslash(t: Token, at: int) -> None:
    """Note the first backslash of a text as a fault, and leave the others out: who copied one has copied them all."""
    lexer = t.lexer
    if not getattr(lexer, "escaped", False):
        lexer.escaped = True
        count = lexer.lexdata.count("\\", at)
        which = "it" if count == 1 else f"all {count} of them"
        hint = f"remove {which}: formatted pages write them before '*', '-' and '_', and C++ does not"
        lexer.faults.add("a backslash before a sign", Span(source=lexer.source, start=at, end=at + 1), hint=hint)


def t_STRING(t: Token) -> Token:
    r'"[^"\n]*"'
    t.value = t.value[1:-1]
    return t


def t_FLOAT(t: Token) -> Token:
    r"""(?:[0-9](?:'?[0-9])*\.(?:[0-9](?:'?[0-9])*)?(?:[eE][+-]?[0-9]+)?|\.[0-9](?:'?[0-9])*(?:[eE][+-]?[0-9]+)?
    |[0-9](?:'?[0-9])*[eE][+-]?[0-9]+)[fFlL]?(?!\w)"""
    t.value = t.value.rstrip("fFlL").replace("'", "")
    if is_too_long(t.value):
        note_long(t, "1.0")
    return t


def t_INTEGER(t: Token) -> Token:
    r"(?:0[xX][0-9a-fA-F](?:'?[0-9a-fA-F])*|[0-9](?:'?[0-9])*)(?:[uU](?:ll|LL|[lL])?|(?:ll|LL|[lL])[uU]?)?(?!\w)"
    t.value = t.value.rstrip("uUlL").replace("'", "")
    if len(t.value) > MOST_DIGITS:
        note_long(t, "1")
    elif t.value[0] == "0" and t.value[1:2].isdigit() and t.value.strip("0"):
        hint = f"write {t.value.lstrip('0')}"
        t.lexer.faults.add(f"'{t.value}' begins with a 0, which makes it octal in C++", span_of(t), hint=hint)
        t.value = "1"
    return t


def t_NAME(t: Token) -> Token:
    r"[^\W\d](?:\w|\\_)*(?:::[^\W\d](?:\w|\\_)*)*"
    if "\\" in t.value:
        _refuse_backslash(t, t.lexpos + t.value.index("\\"))
        t.value = t.value.replace("\\", "")
    check_name(t, "a name has the letters a to z, digits and '_'")
    t.value = _SPACES.sub("", t.value)
    t.type = "UNREAD" if t.value in UNREAD else KEYWORDS.get(t.value, "NAME")
    return t


def t_error(t: Token) -> None:
    skip_stray(t, _STRAY, _cure)


def _cure(text: str) -> str:
    match text[0]:
        case "#":
            return "there is no preprocessor: write what the macro stands for"
        case "'" | '"':
            return 'a text is written "text", in one line'
        case digit if digit.isdigit():
            return "a number is written 12, 0x1F, 1.5 or 2e-3, and a name begins with a letter"
        case "@":
            return "write the contraction: C(i, j) += A(i, k) * B(k, j)"
        case _:
            return "remove it"


def read_tokens(source: Source, faults: Faults) -> tuple[list[Token], list[int]]:
    """Return all tokens of `source`, in order. What is not a token is noted in `faults` and skipped.

    The second list says where the skipped characters stood.
    """
    return tokens_of(sys.modules[__name__], source, faults)
