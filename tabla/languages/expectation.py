"""The tokens that an LALR parser of PLY, stopped at a fault, would have accepted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def acceptable(parser: Any, tokens: Iterable[str]) -> frozenset[str]:
    """Return those of the token types `tokens`, and of ``$end``, that the parser, stopped at a fault, could have
    shifted next.

    Each type is tried on a copy of the state stack, because the merged look-aheads of LALR tables promise more than the
    stack can keep.
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


def any_of(parts: list[str]) -> str:
    """Return ``a``, ``a or b``, ``a, b or c``, as many parts as there are."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} or {parts[-1]}"
