"""Which token is missing before the one that the parser cannot use."""

from __future__ import annotations

from typing import Any

from tabla.lang.tablegen import grammar

# A token that was forgotten is most often one of these.
_FORGOTTEN = (";", ")", "]", ">")


def missing_token(states: list[int], found: str) -> str | None:
    """Return the one token of `_FORGOTTEN` after which a parser that stopped before a token of type `found` can go on.

    None means that no such token helps, or that more than one does. A semicolon is preferred to closing brackets.
    """
    tables, helpful = grammar.parser(), []
    for kind in _FORGOTTEN:
        after = _shift(tables, list(states), kind)
        if after is not None and _shift(tables, after, found) is not None:
            helpful.append(kind)
    return helpful[0] if helpful[:1] == [";"] or len(helpful) == 1 else None


def _shift(tables: Any, states: list[int], kind: str) -> list[int] | None:
    """The states of the parser after one more token, or None if the token does not fit. `states` is used up."""
    while True:
        action = tables.action[states[-1]].get(kind)
        if action is None or action == 0:
            return None
        if action > 0:
            return [*states, action]
        production = tables.productions[-action]
        if production.len:
            del states[-production.len :]
        states.append(tables.goto[states[-1]][production.name])
