"""Which token is missing before the one that the parser cannot use."""

from __future__ import annotations

from typing import Any

# A token that was forgotten is most often one of these.
_FORGOTTEN = (";", ")", "]", ">")


def missing_token(parser: Any, found: str) -> str | None:
    """Return the one token of `_FORGOTTEN` after which the parser, stopped before a token of type `found`, can go on.

    None means that no such token helps, or that more than one does. A semicolon is preferred to closing brackets.
    """
    helpful = []
    for kind in _FORGOTTEN:
        after = _shift(parser, list(parser.statestack), kind)
        if after is not None and _shift(parser, after, found) is not None:
            helpful.append(kind)
    return helpful[0] if helpful[:1] == [";"] or len(helpful) == 1 else None


def _shift(parser: Any, states: list[int], kind: str) -> list[int] | None:
    """The states of the parser after one more token, or None if the token does not fit. `states` is used up."""
    while True:
        action = parser.action[states[-1]].get(kind)
        if action is None or action == 0:
            return None
        if action > 0:
            return [*states, action]
        production = parser.productions[-action]
        if production.len:
            del states[-production.len :]
        states.append(parser.goto[states[-1]][production.name])
