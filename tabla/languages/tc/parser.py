"""Text to syntax tree: runs the LALR parser, reports what it cannot read, and goes on at the next statement.

A message says what the grammar would have accepted, in words for users, and how to mend the fault.
"""

from __future__ import annotations

import copy
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import ply.lex as ply_lex  # type: ignore[import-untyped]
import ply.yacc as ply_yacc  # type: ignore[import-untyped]

from tabla.base.faults import Faults
from tabla.base.lexemes import Lexeme, Token
from tabla.base.source import Label, Source, Span
from tabla.languages.expectation import acceptable, any_of
from tabla.languages.tc.lexer import RECOVERY, read_tokens, tokens
from tabla.languages.tc.syntax import Broken, Comprehension, Definition, Exists, Let, Range

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


# Every later walk over an expression recurses; Python stops at 1000 frames, a level costs two or three.
MAX_DEPTH = 150
# What a text may hold: the marks of recovery are ours.
_READABLE = tuple(kind for kind in tokens if kind not in RECOVERY)


@cache
def _tables() -> Any:
    import tabla.languages.tc.grammar as rules

    tables = ply_yacc.yacc(module=rules, write_tables=False, debug=False, errorlog=ply_yacc.NullLogger())
    # Where a state can only reduce by one rule, reduce whatever comes next: what has been skipped is then done with
    # before the next token is judged.
    for state, actions in tables.action.items():
        choices = set(actions.values())
        if len(choices) == 1 and min(choices) < 0:
            (tables.defaulted_states[state],) = choices
    return tables


class _Reading:
    """One parse: the tokens, how far it is, and what to do at a token that does not fit."""

    def __init__(self, source: Source, faults: Faults) -> None:
        self.source, self.faults = source, faults
        self.tokens, self.strays = read_tokens(source, faults)
        self.position = 0
        # The token that ends the search for a place to go on, None while all is well.
        self.sought: str | None = None
        # A copy shares the tables but not the stacks, so that parses do not meet.
        self.parser: Any = copy.copy(_tables())
        self.parser.errorfunc, self.parser.errorok = self.meet, True

    def run(self) -> tuple[Definition | Broken, ...]:
        if not self.tokens:
            end = Span(source=self.source, start=0, end=0)
            hint = "a program is a list of functions: def name(float(N) A) -> (B) { B(i) = A(i) }"
            self.faults.add("there is no function", end, hint=hint)
            return ()
        read = self.parser.parse(lexer=self, tokenfunc=self.next) or ()
        return tuple(self._without_strays(item) if isinstance(item, Definition) else item for item in read)

    def _without_strays(self, definition: Definition) -> Definition:
        """Make statements with stray characters `Broken`. Without what the characters should have been, a statement
        means something else than its writer thought.
        """
        statements = [
            Broken(span=statement.span)
            if bisect_left(self.strays, statement.span.start) < bisect_left(self.strays, statement.span.end)
            else statement
            for statement in definition.statements
        ]
        return replace(definition, statements=tuple(statements))

    def next(self) -> Token | None:
        at = self.position
        if self.sought is not None and self._goes_on(at):
            kind, self.sought = self.sought, None
            return self._virtual(kind, self._after(at))
        if at >= len(self.tokens):
            return None
        self.position += 1
        return self.tokens[at]

    def meet(self, token: Token | None) -> Token | None:
        """PLY calls this at a token that does not fit; after errok(), what is given back is read instead."""
        kinds = acceptable(self.parser, _READABLE)
        at = self.position - 1 if token is not None else self.position
        self._report(token, at, kinds)
        if "RBRACE" in kinds and (token is None or token.type == "DEF"):
            # The function is whole but for its end.
            self.position = at
            self.parser.errok()
            return self._virtual("RBRACE", self._after(at))
        if token is None:
            return None
        lists = [symbol for symbol in self.parser.symstack if symbol.type in ("unit", "statements")]
        self.parser.complete = len(lists[-1].value) if lists else 0
        inside = bool(lists) and lists[-1].type == "statements"
        self.sought = "NEXT_STATEMENT" if inside else "NEXT_FUNCTION"
        if token.type in ("RBRACE", "DEF") or (inside and self._begins_statement(at)):
            # What the search stops at may be this very token; PLY drops it, so it is read again.
            self.position = at
        return None

    def _goes_on(self, at: int) -> bool:
        if at >= len(self.tokens):
            return True
        kind = self.tokens[at].type
        if self.sought == "NEXT_FUNCTION":
            return kind == "DEF"
        return kind in ("RBRACE", "DEF") or self._begins_statement(at)

    def _begins_statement(self, at: int) -> bool:
        """Whether the tokens from `at` on are ``name =`` or ``name(i, j) =``."""
        kinds = [token.type for token in self.tokens[at : at + 40]]
        if kinds[0] != "NAME" or len(kinds) < 2:
            return False
        if kinds[1] == "LPAREN":
            try:
                after = kinds.index("RPAREN") + 1
            except ValueError:
                return False
            inside = kinds[2 : after - 1]
            return set(inside) <= {"NAME", "COMMA"} and kinds[after : after + 1] in (["ASSIGN"], ["REDUCE"])
        # After a comma it would be what a where clause defines.
        before = self.tokens[at - 1].type if at else ""
        return kinds[1] in ("ASSIGN", "REDUCE") and before not in ("COMMA", "WHERE")

    def _report(self, token: Token | None, at: int, kinds: frozenset[str]) -> None:
        if token is not None and self._strayed(at):
            return
        found = f"'{token.value.text}'" if token is not None else "the end of the file"
        span = token.value.span if token is not None else self._after(at)
        after = self.tokens[at + 1] if at + 1 < len(self.tokens) else None
        hint = cure(self.tokens[:at], token, after, kinds)
        self.faults.add(f"expected {describe(kinds)}, not {found}", span, also=self._opened(kinds), hint=hint)

    def _strayed(self, at: int) -> bool:
        """Whether something that is no token stands before, in the same statement: the fault that explains this one."""
        stray = bisect_left(self.strays, self.tokens[at].lexpos + 1) - 1
        if stray < 0:
            return False
        first = bisect_left(self.tokens, self.strays[stray], key=lambda token: token.lexpos)
        return not any(self._begins_statement(between) for between in range(first, at))

    def _opened(self, kinds: frozenset[str]) -> tuple[Label, ...]:
        """The bracket that the fault leaves open, if closing it was possible."""
        opener = "LPAREN" if "RPAREN" in kinds else "LBRACE" if "RBRACE" in kinds else None
        for symbol in reversed(self.parser.symstack):
            if symbol.type == opener:
                return (Label(symbol.value.span, "opened here"),)
        return ()

    def _after(self, at: int) -> Span:
        end = self.tokens[at - 1].value.span.end if at else 0
        return Span(source=self.source, start=end, end=end)

    def _virtual(self, kind: str, span: Span) -> Token:
        token: Token = ply_lex.LexToken()
        token.type, token.value, token.lexpos = kind, Lexeme(text="", span=span), span.start
        token.lineno = 0  # type: ignore[attr-defined]
        return token


def _too_deep(definition: Definition, faults: Faults) -> bool:
    found = False
    for statement in definition.statements:
        expressions = [statement.value] if isinstance(statement, Comprehension) else []
        for clause in statement.clauses if isinstance(statement, Comprehension) else ():
            match clause:
                case Range(low=low, high=high):
                    expressions += [low, high]
                case Let(value=value) | Exists(element=value):
                    expressions.append(value)
        for expression in expressions:
            if expression.depth > MAX_DEPTH:
                found = True
                faults.add(
                    f"this expression is nested {expression.depth} deep, the limit is {MAX_DEPTH}",
                    expression.span,
                    hint="give a part of it a name, in a statement of its own",
                )
    return found


def read(source: Source, faults: Faults) -> tuple[Definition, ...]:
    """Return the functions of `source` that could be read, in order. What could not be read is noted in `faults`."""
    read = _Reading(source, faults).run()
    return tuple(item for item in read if isinstance(item, Definition) and not _too_deep(item, faults))
