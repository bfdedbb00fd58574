"""Characters to tokens: the PLY lexer of TableGen (the programmer's reference, section 1.2, "Lexical analysis").

The rules live in one class so that a run can hang its preprocessor state on the lexer that PLY hands to each
rule. Positions are offsets; `tabla.templates.tablegen.scanner` turns them into token indices.
"""

from __future__ import annotations

import re
import sys
from functools import cache
from typing import Any

from ply import lex  # type: ignore[import-untyped]

from tabla.base.lexemes import require_docstrings
from tabla.templates.tablegen import preprocessor
from tabla.templates.tablegen.preprocessor import LexicalFault

KEYWORDS = {
    word: word.upper()
    for word in (
        "assert bit bits class code dag def defm defset deftype defvar dump else field foreach "
        "if in include int let list multiclass string then"
    ).split()
} | {"true": "TRUE", "false": "FALSE"}

BANG_OPERATORS = frozenset(
    "add and cast con cond dag div empty eq exists filter find foldl foreach ge getdagarg getdagname getdagop getop "
    "gt head if interleave isa le listconcat listremove listsplat logtwo lt mul ne not or range repr setdagarg "
    "setdagname setdagop setop shl size sra srl strconcat sub subst substr tail tolower toupper xor".split()
)

literals = ":;,<>[]{}()=?.-+"

tokens = (
    *sorted(set(KEYWORDS.values()) - {"INCLUDE"}),
    *("INCLUDE", "ID", "INTEGER", "BINARY", "TEXT", "CODE_TEXT", "VARIABLE", "OPERATOR", "COND", "ELLIPSIS"),
    *("PASTE", "TRAILING_PASTE", "FAULT"),
)

# PLY skips these one by one before it tries the rules.
t_ignore = " \t\n"

_INT64_MAX = (1 << 63) - 1
_INT64_DIGITS = 19
_ESCAPES = {"\\": "\\", "'": "'", '"': '"', "t": "\t", "n": "\n"}
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)


def t_line_comment(token: Any) -> None:
    r"//[^\n]*"


def t_block_comment(token: Any) -> None:
    r"/\*"
    token.lexer.lexpos = preprocessor.skip_block_comment(token.lexer.lexdata, token.lexpos)


def t_CODE_TEXT(token: Any) -> Any:
    r"\[\{"
    text, start = token.lexer.lexdata, token.lexpos
    position = text.find("}", start + 2)
    # The reference tool looks at the text two characters at a time after a brace, so "}}]" does not end a fragment.
    while 0 <= position and not text.startswith("]", position + 1):
        position = text.find("}", position + 2)
    if position < 0:
        raise LexicalFault("unterminated code fragment", start, hint="close it with }]")
    # A fragment keeps the line ends of the file, as by the reference tool.
    token.value = token.lexer.source.as_written(start + 2, position)
    token.lexer.lexpos = position + 2
    return token


def t_TEXT(token: Any) -> Any:
    r'"(?:[^"\\\n]|\\[^\n])*+"'
    body = token.value[1:-1]
    token.value = _ESCAPE.sub(_unescape(token.lexpos + 1), body) if "\\" in body else body
    return token


def _unescape(start: int) -> Any:
    def replace(match: re.Match[str]) -> str:
        try:
            return _ESCAPES[match.group(1)]
        except KeyError:
            raise LexicalFault(
                "invalid escape in string literal", start + match.start() + 1, hint=r"the escapes are \\ \' \" \t \n"
            ) from None

    return replace


def t_unterminated_text(token: Any) -> None:
    r'"'
    data, start = token.lexer.lexdata, token.lexpos
    at_end = data.find("\n", start) < 0
    raise LexicalFault(f"end of {'file' if at_end else 'line'} in string literal", start, hint='close it with "')


def t_number(token: Any) -> Any:
    r"0x[0-9a-fA-F]+|0b[01]+|[0-9]+(?=x[0-9a-fA-F]|b[01])|[-+]?[0-9]+(?![0-9a-zA-Z_])|[-+][0-9]+"
    text = token.value
    if text.startswith("0b"):
        token.type, token.value = "BINARY", (min(int(text[2:], 2), _INT64_MAX), len(text) - 2)
        return token
    token.type = "INTEGER"
    if text.startswith("0x"):
        value = int(text, 16)
        if value >= 1 << 64:
            raise LexicalFault("hexadecimal number out of range", token.lexpos, hint="64 bits hold 16 digits")
        # All 64 bits may be written; the top one is then the sign.
        token.value = value - (1 << 64) if value > _INT64_MAX else value
    else:
        token.value = _decimal(text)
    return token


def _decimal(text: str) -> int:
    """The number, or the nearest one of 64 bits, as the reference tool has it. Python refuses to read 4,301 digits."""
    digits = text.lstrip("+-").lstrip("0")
    value = int(digits or "0") if len(digits) <= _INT64_DIGITS else 1 << 64
    return max(-value, -_INT64_MAX - 1) if text.startswith("-") else min(value, _INT64_MAX)


def t_ID(token: Any) -> Any:
    r"[0-9]*[a-zA-Z_][0-9a-zA-Z_]*"
    token.type = KEYWORDS.get(token.value, "ID")
    return token


def t_VARIABLE(token: Any) -> Any:
    r"\$[a-zA-Z_][0-9a-zA-Z_]*"
    token.value = token.value[1:]
    return token


def t_OPERATOR(token: Any) -> Any:
    r"![a-zA-Z]+"
    token.value = token.value[1:]
    if token.value == "cond":
        token.type = "COND"
    elif token.value not in BANG_OPERATORS:
        raise LexicalFault(f"unknown operator '!{token.value}'", token.lexpos)
    return token


def t_PASTE(token: Any) -> Any:
    r"\#"
    lexer = token.lexer
    if preprocessor.is_directive(lexer.lexdata, token.lexpos, lexer.file_state.last_end):
        lexer.lexpos = preprocessor.run_directive(lexer.lexdata, token.lexpos, lexer.file_state)
        return None
    return token


def t_ELLIPSIS(token: Any) -> Any:
    r"\.\.\.?"
    if token.value == "..":
        raise LexicalFault("invalid '..' punctuation", token.lexpos, hint="a range is written with '...'")
    return token


def t_error(token: Any) -> None:
    character = token.value[0]
    if character == "$":
        raise LexicalFault("invalid variable name", token.lexpos)
    if character == "!":
        raise LexicalFault('invalid "!operator"', token.lexpos)
    raise LexicalFault(f"unexpected character {character!r}", token.lexpos)


@cache
def prototype() -> Any:
    """Return the lexer that every file clones. It is made on first use, because building it costs start-up time."""
    require_docstrings()
    return lex.lex(module=sys.modules[__name__], errorlog=lex.NullLogger())
