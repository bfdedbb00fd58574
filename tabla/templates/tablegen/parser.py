"""Tokens to statements. A syntax error is kept beside the statements before it.

A message names the token that is missing before the one that the parser cannot use.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tabla.base.source import Label, TablaError
from tabla.templates.tablegen import driver, grammar, syntax
from tabla.templates.tablegen.lexer import KEYWORDS
from tabla.templates.tablegen.positions import Positions
from tabla.templates.tablegen.recovery import partial_statement

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


_WORDS = {
    "ID": "name",
    "TEXT": "string",
    "CODE_TEXT": "code fragment",
    "INTEGER": "number",
    "BINARY": "number",
    "VARIABLE": "variable",
    "OPERATOR": "operator",
    "PASTE": "paste operator",
    "TRAILING_PASTE": "paste operator",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """Finished top-level statements, what stopped the parser, and what it had of the statement that it was in."""

    statements: list[syntax.Statement]
    fault: TablaError | None
    partial: syntax.Statement | None


class _Statements:
    """Where the grammar puts the statements as they are reduced."""

    def __init__(self) -> None:
        self.statements: list[syntax.Statement] = []


def parse(tokens: list[Any], positions: Positions) -> Parsed:
    """Parse the tokens of a run."""
    stream, stack = _Statements(), driver.Stack()
    try:
        driver.parse(tokens, stream, stack)
    except grammar.UnexpectedToken as stop:
        # The stack begins with the end marker and the finished statements.
        fault = _fault(stop.token, positions, stack.states)
        partial: syntax.Statement | None = None
        if len(stack.values) > 2 and (opened := stack.places[2]) is None:
            # Not a token: a whole statement, and what follows it is wrong.
            stream.statements.append(stack.values[2])
        elif len(stack.values) > 2:
            assert opened is not None
            last = len(positions.starts) if stop.token is None else stop.token.lexpos
            partial = partial_statement(tokens, opened, last, _attempt)
        return Parsed(statements=stream.statements, fault=fault, partial=partial)
    return Parsed(statements=stream.statements, fault=None, partial=None)


def _attempt(tokens: list[Any]) -> list[syntax.Statement] | None:
    stream = _Statements()
    try:
        driver.parse(tokens, stream, driver.Stack())
    except grammar.UnexpectedToken:
        return None
    return stream.statements


def _fault(token: Any, positions: Positions, states: list[int]) -> TablaError:
    if token is None:
        return positions.fault("the file ends in the middle of a statement", len(positions.starts) - 1)
    if token.type == "FAULT":
        fault: TablaError = token.value
        return fault
    index: int = token.lexpos
    span = positions.span(index)
    text = span.source.text[span.start : span.end]
    what = f"{_WORDS[token.type]} {text}" if token.type in _WORDS and len(text) < 40 else f"'{text[:40]}'"
    if token.type == ";" and index > 0:
        before = positions.span(index - 1)
        if before.source.text[before.start : before.end] == "}":
            return positions.fault("a body in braces does not end with ';'", index, hint="remove the semicolon")
    missing = missing_token(states, token.type)
    if missing == ";":
        fault = positions.fault(f"expected ';' before {what}", index, label="a new item starts here")
        before = positions.span(index - 1)
        return TablaError(fault.message, *fault.labels, Label(before, "this one has no end"), notes=fault.notes)
    hint = f"'{text}' is a keyword of the language" if text in KEYWORDS else None
    if missing is not None:
        hint = f"is a '{missing}' missing before it?"
    return positions.fault(f"unexpected {what}", index, label="not possible here", hint=hint)
