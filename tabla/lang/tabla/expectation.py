"""What the grammar would have accepted, in words for users."""

from __future__ import annotations

from tabla.lang.expectation import any_of
from tabla.lang.tabla.lexer import KEYWORDS

_SIGNS = {
    "ARROW": "'->'",
    "ASSIGN": "'='",
    "LBRACKET": "'['",
    "LPAREN": "'('",
    "COLON": "':'",
    "COMMA": "','",
    "RPAREN": "')'",
    "RBRACKET": "']'",
    "SEMICOLON": "';'",
}


def describe(kinds: frozenset[str]) -> str:
    """Return `kinds` as a phrase: "a value", "';' or an operator", ..."""
    if "$end" in kinds:
        return "a declaration or a statement"
    parts: list[str] = []
    if "TIMES" in kinds:
        parts.append("an operator")
        kinds -= {"LPAREN", "LBRACKET"}
    if "NUMBER" in kinds:
        parts.append("a value")
        kinds -= {"LPAREN"}
    elif "NAME" in kinds:
        parts.append("a name")
    parts += [f"'{word}'" for word, kind in KEYWORDS.items() if kind in kinds]
    parts += [sign for kind, sign in _SIGNS.items() if kind in kinds]
    return any_of(parts)
