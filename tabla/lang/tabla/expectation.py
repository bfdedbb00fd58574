"""What the grammar would have accepted, in a user's words."""

from __future__ import annotations

from typing import Any

from tabla.lang.tabla.lexer import KEYWORDS, tokens

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


def acceptable(parser: Any) -> frozenset[str]:
    """The token types that the parser, stopped at a fault, could have shifted next.

    Each type is tried on a copy of the state stack: the merged look-aheads of LALR tables promise more than
    the stack can keep.
    """
    return frozenset(kind for kind in (*tokens, "$end") if _shifts(parser, kind))


def _shifts(parser: Any, kind: str) -> bool:
    stack: list[int] = list(parser.statestack)
    while True:
        action: int | None = parser.defaulted_states.get(stack[-1], parser.action[stack[-1]].get(kind))
        if action is None:
            return False
        if action >= 0:
            return True
        rule = parser.productions[-action]
        if rule.len:
            del stack[-rule.len :]
        stack.append(parser.goto[stack[-1]][rule.name])


def describe(kinds: frozenset[str]) -> str:
    """`kinds` as a phrase: "a value", "';' or an operator", ..."""
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
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} or {parts[-1]}"
