"""Text to syntax tree: runs the LALR parser, reports what it cannot read, and goes on at the next semicolon.

A message says what the grammar would have accepted, in words for users.
"""

from __future__ import annotations

import copy
from bisect import bisect_left
from dataclasses import replace
from functools import cache
from typing import Any

import ply.lex as ply_lex  # type: ignore[import-untyped]
import ply.yacc as ply_yacc  # type: ignore[import-untyped]

from tabla.base.faults import Faults
from tabla.base.lexemes import Lexeme, Token
from tabla.base.source import Label, Source, Span
from tabla.languages.expectation import acceptable, any_of
from tabla.languages.tabla.cures import OF_OTHER_LANGUAGES, cure
from tabla.languages.tabla.lexer import KEYWORDS, read_tokens, tokens
from tabla.languages.tabla.syntax import Assignment, Broken, Item, Reference, expressions_of

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


# Every later walk over an expression recurses; Python stops at 1000 frames, a level costs two or three.
MAX_DEPTH = 150


@cache
def _tables() -> Any:
    import tabla.languages.tabla.grammar as rules

    tables = ply_yacc.yacc(module=rules, write_tables=False, debug=False, errorlog=ply_yacc.NullLogger())
    # Where a state can only reduce by one rule, reduce without a look at the next token, whatever it is: a statement
    # is then finished at its semicolon, and recovery (which drops tokens at the very start) never meets half of one.
    # Not by an empty rule, though, but for the very start: recovery would take off again what it puts on, forever.
    for state, actions in tables.action.items():
        rule = min(actions.values())
        if rule < 0 and rule == max(actions.values()) and (tables.productions[-rule].len or state == 0):
            tables.defaulted_states[state] = rule
    return tables


class _Reading:
    """One parse: the tokens, how far it is, and what to do at a token that does not fit."""

    def __init__(self, source: Source, faults: Faults) -> None:
        self.source, self.faults = source, faults
        self.tokens, self.strays = read_tokens(source, faults)
        self.position = 0
        self.recovering = self.cut_short = False
        # Where the statement at hand begins if the semicolon before it is missing.
        self.begun = 0
        # A copy shares the tables but not the stacks, so that parses do not meet.
        self.parser: Any = copy.copy(_tables())
        self.parser.errorfunc, self.parser.errorok = self.meet, True

    def run(self) -> tuple[Item, ...]:
        items: tuple[Item, ...] = self.parser.parse(lexer=self, tokenfunc=self.next)
        checked: list[Item] = []
        done = 0
        for item in items:
            end = item.span.end
            checked.append(self._with_names(item, done) if isinstance(item, Broken) else self._bounded(item))
            done = end
        return tuple(checked)

    def next(self) -> Token | None:
        if self.position >= len(self.tokens):
            if not self.recovering:
                return None
            # PLY gives up where the text ends before the semicolon at which it would go on.
            self.recovering = False
            return self._semicolon(self._after(self.position))
        token = self.tokens[self.position]
        self.position += 1
        self.recovering = self.recovering and token.type != "SEMICOLON"
        return token

    def meet(self, token: Token | None) -> Token | None:
        """PLY calls this at a token that does not fit; after errok(), what is given back is read instead."""
        if self.cut_short:
            return None
        kinds = acceptable(self.parser, tokens)
        at = self.position - 1 if token is not None else self.position
        if "SEMICOLON" in kinds and self._begins_statement(at):
            return self._insert_semicolon(at)
        self.recovering = token is not None and token.type != "SEMICOLON"
        if token is not None and self._strayed(at):
            # The stray character before it is noted already, and is why the token does not fit.
            return None
        found = f"'{token.value.text}'" if token is not None else "the end of the file"
        span = token.value.span if token is not None else self._after(at)
        message = f"expected {describe(kinds)}, not {found}"
        self.faults.add(message, span, also=self._opened(kinds), hint=cure(self._statement(at), token, kinds))
        if token is not None:
            self._skip_head(at)
            return None
        # PLY gives up at the end of the text; a closing semicolon lets it keep what it has read.
        self.cut_short = True
        self.parser.errok()
        return self._semicolon(span)

    def _skip_head(self, at: int) -> None:
        """Pass the parentheses behind ``for`` and its like, whose semicolons end no statement."""
        statement = self._statement(at)
        if len(statement) != 1 or statement[0].value.text not in OF_OTHER_LANGUAGES or self.tokens[at].type != "LPAREN":
            return
        depth = 0
        for position in range(at, len(self.tokens)):
            depth += {"LPAREN": 1, "RPAREN": -1}.get(self.tokens[position].type, 0)
            if not depth:
                self.position = position + 1
                return

    def _strayed(self, at: int) -> bool:
        """Whether something that is no token stands before the token `at`, or in its place."""
        stray = bisect_left(self.strays, self._after(at).start)
        return stray < len(self.strays) and self.strays[stray] <= self.tokens[at].lexpos

    def _insert_semicolon(self, at: int) -> Token:
        span = self._after(at)
        self.faults.add("missing ';'", span, "expected here", hint="every statement ends with a semicolon")
        self.position = self.begun = at
        self.parser.errok()
        return self._semicolon(span)

    def _begins_statement(self, at: int) -> bool:
        """Whether the token `at` looks like the start of a new statement (the end of the text counts)."""
        if at >= len(self.tokens):
            return True
        if self.tokens[at].type in KEYWORDS.values():
            return True
        if self.tokens[at].type != "NAME":
            return False
        depth = 0
        for token in self.tokens[at + 1 :]:
            match token.type:
                case "LBRACKET":
                    depth += 1
                case "RBRACKET":
                    depth -= 1
                case "ASSIGN":
                    return depth == 0
                case "SEMICOLON":
                    return False
                case _ if depth == 0:
                    return False
        return False

    def _after(self, at: int) -> Span:
        end = self.tokens[at - 1].value.span.end if at else 0
        return Span(source=self.source, start=end, end=end)

    def _semicolon(self, span: Span) -> Token:
        token: Token = ply_lex.LexToken()
        token.type, token.value, token.lexpos = "SEMICOLON", Lexeme(text=";", span=span), span.start
        token.lineno = 0  # type: ignore[attr-defined]
        return token

    def _opened(self, kinds: frozenset[str]) -> tuple[Label, ...]:
        """The bracket that the fault leaves open, if closing it was possible."""
        opener = "LPAREN" if "RPAREN" in kinds else "LBRACKET" if "RBRACKET" in kinds else None
        for symbol in reversed(self.parser.symstack):
            if symbol.type == opener:
                return (Label(symbol.value.span, "opened here"),)
        return ()

    def _statement(self, at: int) -> list[Token]:
        """The tokens of the statement before the token `at`."""
        start = at
        while start and self.tokens[start - 1].type != "SEMICOLON" and start > self.begun:
            start -= 1
        return self.tokens[start:at]

    def _with_names(self, item: Broken, start: int) -> Broken:
        first = bisect_left(self.tokens, start, key=lambda token: token.lexpos)
        last = bisect_left(self.tokens, item.span.end, key=lambda token: token.lexpos)
        names = frozenset(token.value.text for token in self.tokens[first:last] if token.type == "NAME")
        return replace(item, names=names)

    def _bounded(self, item: Item) -> Item:
        for expression in expressions_of(item):
            if expression.depth > MAX_DEPTH:
                self.faults.add(
                    f"this expression is nested {expression.depth} deep, the limit is {MAX_DEPTH}",
                    expression.span,
                    hint="give a part of it a name, in a statement of its own",
                )
                target = frozenset({item.target.name.text}) if isinstance(item, Assignment) else frozenset()
                declared = frozenset(e.name.text for e in expressions_of(item) if isinstance(e, Reference))
                return Broken(names=target or declared, span=item.span)
        return item


def read(source: Source, faults: Faults) -> tuple[Item, ...]:
    """Return the statements of `source` in order. What cannot be read is noted in `faults` and becomes `Broken`."""
    return _Reading(source, faults).run()
