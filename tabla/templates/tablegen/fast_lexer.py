"""The tokens that make up most of a text, read by one pattern: PLY calls several functions for each of them.

Everything that needs a decision (comments that nest, code fragments, escapes, directives, includes, faults) is left to
the rules in `lexer`.
"""

from __future__ import annotations

import re
from typing import Any

from tabla.templates.tablegen.lexer import BANG_OPERATORS, KEYWORDS
from tabla.templates.tablegen.positions import Positions

# A letter after the digits would make a name of them, a string with an escape has to be translated, and "[{" opens a
# code fragment. Possessive repetitions keep the time linear. The order of the groups is that of `_fast`.
_TOKEN = re.compile(
    r"(?:[ \t\n]++|//[^\n]*+)*+"
    r"(?:([a-zA-Z_][0-9a-zA-Z_]*)|([:;,<>\](){}=?]|\[(?!\{))|([0-9]{1,18}(?![0-9a-zA-Z_]))"
    r'|"([^"\\\n]*)"|\$([a-zA-Z_][0-9a-zA-Z_]*)|!([a-zA-Z]+))'
)
_NAME, _MARK, _NUMBER, _TEXT, _VARIABLE, _OPERATOR = range(1, 7)
_KINDS = {_NUMBER: "INTEGER", _TEXT: "TEXT", _VARIABLE: "VARIABLE"}


MAX_TOKENS = 1_500_000
"""The most tokens of a run, with all files that are included: some seconds of reading."""


class Token:
    """A token as PLY wants it. `lexpos` is the index of the token in the run, see `positions`."""

    # PLY itself sets `lexer` before it reports a fault.
    __slots__ = ("lexer", "lexpos", "lineno", "type", "value")

    def __init__(self, type: str, value: Any, lexpos: int) -> None:
        self.type = type
        self.value = value
        self.lexpos = lexpos
        self.lineno = 0


def fast_tokens(lexer: Any, source: int, positions: Positions, tokens: list[Any]) -> None:
    """Append tokens from where `lexer` stands, up to one that the rules of PLY must read, and move the lexer there."""
    text, position = lexer.lexdata, lexer.lexpos
    match, keyword, append = _TOKEN.match, KEYWORDS.get, tokens.append
    add_start, add_end = positions.starts.append, positions.ends.append
    index = first = len(positions.starts)
    while index < MAX_TOKENS and (found := match(text, position)) is not None:
        kind = found.lastindex or _NAME
        value: Any = found[kind]
        if kind == _NAME:
            type = keyword(value, "ID")
            if type == "INCLUDE":
                break
        elif kind == _MARK:
            type = value
        elif kind == _OPERATOR:
            if value == "cond" or value not in BANG_OPERATORS:
                break
            type = "OPERATOR"
        else:
            type = _KINDS[kind]
            if kind == _NUMBER:
                value = int(value)
        position = found.end()
        add_start(found.start(kind) - (kind in (_TEXT, _VARIABLE, _OPERATOR)))
        add_end(position)
        append(Token(type, value, index))
        index += 1
    if index > first:
        positions.source_of.extend([source] * (index - first))
        lexer.lexpos = lexer.file_state.last_end = position
