"""What stood before a syntax error, so that an earlier fault of the same statement is found first.

The reference tool evaluates while it parses: in ``def X { int a = nope; int b = ]; }`` it names the unknown variable
and not the bracket. The parser here sees whole statements, so it is given the beginning of the broken one, cut or
closed so that it makes sense.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from typing import Any

from tabla.templates.tablegen import syntax
from tabla.templates.tablegen.lexer import Token

_OPENING = {"{": "}", "(": ")", "[": "]"}


def partial_statement(
    tokens: list[Any], first: int, stop: int, parse: Callable[[list[Any]], list[syntax.Statement] | None]
) -> syntax.Statement | None:
    """Return the statement that begins at token `first`, as far as it makes sense before token `stop`."""
    start = bisect_left(tokens, first, key=lambda token: token.lexpos)
    end = bisect_left(tokens, stop, key=lambda token: token.lexpos)
    for attempt in _attempts(tokens[start:end]):
        statements = parse(attempt)
        if statements:
            return statements[0]
    return None


def _attempts(tokens: list[Any]) -> Iterator[list[Any]]:
    """The tokens closed where they stop, then cut after their last whole item."""
    open_brackets: list[str] = []
    cut: tuple[int, int] | None = None
    for index, token in enumerate(tokens):
        if token.type in _OPENING:
            open_brackets.append(token.type)
        elif token.type in _OPENING.values() and open_brackets:
            open_brackets.pop()
        if token.type in (";", "{", "}") and set(open_brackets) <= {"{"}:
            cut = (index + 1, len(open_brackets))
    if not tokens:
        return
    # A lone `def` would become an anonymous one, which nobody wrote.
    if set(open_brackets) <= {"{"} and tokens[-1].type != "DEF":
        yield [*tokens, *_closers(tokens[-1].lexpos, ";" + "}" * len(open_brackets))]
    if cut is not None:
        index, depth = cut
        yield [*tokens[:index], *_closers(tokens[index - 1].lexpos, "}" * depth)]


def _closers(at: int, kinds: str) -> list[Any]:
    closers = []
    for kind in kinds:
        closers.append(Token(kind, kind, at))
    return closers


def unfinished(statement: syntax.Statement) -> set[int]:
    """Return the tokens of the statements that are open at the end of a partial one. Nothing of these statements is
    entered.
    """
    open_at: set[int] = set()
    current: syntax.Statement | None = statement
    while current is not None:
        match current:
            case syntax.DefStatement():
                open_at.add(current.at)
                current = None
            case syntax.Assert():
                open_at.add(current.condition.at)
                current = None
            case syntax.IfStatement():
                open_at.add(current.at)
                inner = current.then if current.otherwise is None else current.otherwise
                current = inner[-1] if inner else None
            case syntax.ForeachStatement() | syntax.LetStatement():
                open_at.add(current.at)
                current = current.statements[-1] if current.statements else None
            case syntax.MulticlassStatement() | syntax.DefsetStatement():
                current = current.statements[-1] if current.statements else None
            case _:
                current = None
    return open_at
