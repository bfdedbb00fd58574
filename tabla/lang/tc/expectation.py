"""What the grammar would have accepted at a fault, in words for users, and how to mend the fault."""

from __future__ import annotations

from collections.abc import Sequence

from tabla.lang.expectation import any_of
from tabla.lang.lexemes import Token

_SIGNS = {
    "DEF": "'def'", "IN": "'in'", "ARROW": "'->'", "TYPE": "a type", "COLON": "':'", "COMMA": "','", "LPAREN": "'('",
    "RPAREN": "')'", "LBRACE": "'{'", "RBRACE": "'}'",
}  # fmt: skip


def describe(kinds: frozenset[str]) -> str:
    """Return `kinds` as a phrase: "a value", "')' or an operator", ..."""
    if "$end" in kinds:
        return "'def'"
    parts: list[str] = []
    if "TIMES" in kinds:
        parts.append("an operator")
        kinds -= {"LPAREN", "NAME", "QUESTION", "DOT"}
        if "RBRACE" in kinds:
            # A statement may end here: naming what may follow would bury the point.
            return "an operator, a statement or '}'"
    if "FLOAT" in kinds:
        parts.append("a value")
        kinds -= {"LPAREN", "TYPE"}
    elif "NAME" in kinds and "RBRACE" in kinds:
        parts.append("a statement")
    elif "NAME" in kinds:
        parts.append("a name")
    if "INTEGER" in kinds and "FLOAT" not in kinds:
        parts.append("an integer")
    if "REDUCE" in kinds:
        parts.append("'=' or a reduction (+= *= min= max=, with ! or without)")
    elif "ASSIGN" in kinds:
        parts.append("'='")
    parts += [sign for kind, sign in _SIGNS.items() if kind in kinds]
    return any_of(parts)


def cure(before: Sequence[Token], found: Token | None, after: Token | None, kinds: frozenset[str]) -> str:
    """Return how to mend a text where `found` stands in place of `kinds`, between the tokens `before` and `after`."""
    if any(token.type == "EQUIVALENT" for token in before[-2:]) and not kinds & {"WHERE", "FLOAT"}:
        return "an annotation is written B(i) = A(i) <=> name(A)"
    last = before[-1] if before else None
    kind = found.type if found is not None else None
    follows = after.type if after is not None else None
    if "$end" in kinds:
        return "a program is a list of functions: def name(float(N) A) -> (B) { B(i) = A(i) }"
    if "REDUCE" in kinds and kind in ("MINUS", "DIVIDE", "REMAINDER") and follows == "ASSIGN":
        return "the reductions are +=, *=, min= and max=; subtract by adding the negative: += -..."
    if "REDUCE" in kinds and kind in ("MIN", "MAX"):
        return "write min= and max= without a space"
    if "NAME" in kinds and kind in ("TYPE", "DEF", "WHERE", "IN", "EXISTS", "MIN", "MAX") and found is not None:
        if kind == "DEF":
            return "close the function before it with '}'"
        return f"'{found.value.text}' is a keyword and cannot be a name"
    if "REDUCE" in kinds:
        return "a statement is written B(i) = A(i); put an operator before a value that goes on"
    if kind in ("INTEGER", "FLOAT") and kinds <= {"NAME", "RPAREN", "COMMA"}:
        return "an index on the left side is a name: B(i) = A(i) where i in 0:1"
    if last is not None and last.type == "COMMA" and kind == "RPAREN":
        return "remove the comma before it"
    if "COMMA" in kinds and "RPAREN" in kinds and kind in ("PLUS", "MINUS", "TIMES", "DIVIDE", "FLOAT"):
        if "TIMES" not in kinds:
            return "a dimension is a name or an integer, an index on the left side is a name; no expressions"
    if kind == "FLOAT":
        return "a dimension is a name or an integer"
    if "TYPE" in kinds and "FLOAT" not in kinds and kind == "NAME":
        return "every argument has a type: float(N) A"
    if "COLON" in kinds and "TIMES" in kinds:
        return "a range is written i in 0:N, a choice condition ? one : other"
    if "IN" in kinds:
        return "a where clause is 'i in 0:N', 'x = value' or 'exists T(i)'"
    if "FLOAT" in kinds:
        text = last.value.text if last is not None else ""
        return f"something is missing after '{text}'" if text else "put a value here"
    if "RPAREN" in kinds:
        return "close it with ')'"
    if "RBRACE" in kinds:
        return "a statement is written B(i) = A(i), the function ends with '}'"
    return "a function is written def name(float(N) A) -> (B) { B(i) = A(i) }"
