"""The loop of the LALR parser over the tables of PLY.

PLY's own loop serves grammars of every kind, with error tokens and tracked positions. This one has what `grammar` uses,
and takes half the time.
"""

# PLY's tables and the values of symbols are untyped, as in `grammar`.
from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

from tabla.templates.tablegen import grammar

# Productions with one symbol that only hand its value on: the symbol itself goes on.
_HAND_ON = frozenset({"p_statement", "p_value", "p_simple_instance"})


class Production(list[Any]):
    """What a function of the grammar gets as ``p``: the values of the symbols of one production, the result first."""

    __slots__ = ("lexer", "places")

    lexer: Any
    places: list[int | None]

    def lexpos(self, index: int) -> int:
        """Return the place of a token."""
        place = self.places[index]
        assert place is not None, "the grammar asks for the places of tokens only"
        return place


class Stack:
    """What the parser has read and not yet put together: the states of the tables, and the value of each symbol.

    `places` has the place of a token, and None for what was put together already.
    """

    def __init__(self) -> None:
        self.states = [0]
        self.values: list[Any] = [None]
        self.places: list[int | None] = [None]


@cache
def _rules() -> list[tuple[Any, int, str]]:
    """The function, the number of symbols and the name of each production; no function if the symbol goes on."""
    return [
        (None if rule.func in _HAND_ON and rule.len == 1 else getattr(rule, "callable", None), rule.len, rule.name)
        for rule in grammar.parser().productions
    ]


def parse(tokens: Iterable[Any], stream: Any, stack: Stack) -> None:
    """Parse tokens. Functions of the grammar find `stream` as ``p.lexer``.

    Raises `UnexpectedToken`, and `stack` then shows what was read before it.
    """
    tables, rules = grammar.parser(), _rules()
    actions, gotos, defaults = tables.action, tables.goto, tables.defaulted_states
    states, values, places = stack.states, stack.values, stack.places
    production = Production()
    production.lexer = stream
    rest = iter(tokens)
    token: Any = next(rest, None)
    while True:
        state = states[-1]
        action = defaults.get(state)
        if action is None:
            action = actions[state].get("$end" if token is None else token.type)
            if action is None:
                raise grammar.UnexpectedToken(token)
        if action > 0:
            states.append(action)
            values.append(token.value)
            places.append(token.lexpos)
            token = next(rest, None)
            continue
        if action == 0:
            return
        function, count, name = rules[-action]
        if function is None:
            states[-1] = gotos[states[-2]][name]
            continue
        if count:
            production[:] = [None, *values[-count:]]
            production.places = [None, *places[-count:]]
            del values[-count:], places[-count:], states[-count:]
        else:
            production[:] = [None]
        function(production)
        values.append(production[0])
        places.append(None)
        states.append(gotos[states[-1]][name])
