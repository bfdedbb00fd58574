"""Text to syntax tree: runs the LALR parser, reports what it cannot read, and goes on at the next statement."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import cache
from typing import Any

import ply.yacc as ply_yacc  # type: ignore[import-untyped]

from tabla.base.faults import Faults
from tabla.base.lexemes import Token
from tabla.base.source import Label, Source, Span
from tabla.languages.expectation import acceptable, any_of
from tabla.languages.tile_cpp.lexer import read_tokens, tokens
from tabla.languages.tile_cpp.syntax import Function

MAX_DEPTH = 120
"""The deepest nesting of brackets. Later walks recurse, and Python stops at 1000 frames."""
_FORM = "a function is written Tensor sum(const Tensor& I) { ... return O; }"
_PARTS = "a Tile function has declarations, statements of tensors, for, if and return"
_LOOP = "write a loop as for (size_t i = 0; i < n; ++i)"
_FOUND = {
    "else": "an else follows the one statement of its if: if (n > 1) { ... } else { ... }",
    "using": "leave it out: the names of std and of plaidml::edsl are known here",
    "inline": "leave it out: a variable needs no such word",
    "static": "leave it out: a variable needs no such word",
    "where": "a constraint is a statement of its own: O.add_constraint(j < 2);",
    **dict.fromkeys(("and", "or", "not"), "write && for and, || for or, and ! for not"),
}
"""Habits of other languages, by the word that does not fit."""
_LAST = {
    "for": _LOOP,
    "if": "a condition stands in brackets: if (n > 1) { ... }",
    "def": "a function is written Tensor g(const Tensor& I) { ... }, before this one",
    "not": "write ! for not",
    "unsigned": "write size_t, or int64_t for numbers below 0, too",
}
"""The same, by the word before."""
_PAIRS = {
    ("*", "*"): "write pow(x, 2) for a power",
    ("-", ">"): "a member stands behind a dot: I.rank()",
    ("long", "long"): "write int64_t",
}
_SIGNS = {
    "SEMICOLON": "';'", "COLON": "':'", "COMMA": "','", "LPAREN": "'('", "RPAREN": "')'", "LBRACE": "'{'",
    "RBRACE": "'}'", "RBRACKET": "']'", "LESS": "'<'", "GREATER": "'>'", "ASSIGN": "'='",
}  # fmt: skip


def describe(kinds: frozenset[str]) -> str:
    """Return `kinds` as a phrase: "a value", "';' or an operator", ..."""
    parts: list[str] = []
    if "RETURN" in kinds:
        return "a statement or '}'"
    if "$end" in kinds:
        return "a function"
    if "QUESTION" in kinds:
        parts.append("an operator")
        kinds -= {"LPAREN", "LESS", "GREATER", "ASSIGN", "DOT", "LBRACKET"}
    elif "FLOAT" in kinds:
        parts.append("a value")
        kinds -= {"LPAREN", "LBRACE", "TYPE", "NAME"}
    if "TYPE" in kinds:
        parts.append("a type")
        kinds -= {"LESS"}
    if "NAME" in kinds:
        parts.append("a name")
    parts += [sign for kind, sign in _SIGNS.items() if kind in kinds]
    return any_of(parts)


def cure(before: Sequence[Token], found: Token | None, kinds: frozenset[str]) -> str:
    """Return how to mend a text where `found` stands in place of `kinds`, after the tokens `before`."""
    last = before[-1].value.text if before else ""
    word = found.value.text if found is not None else ""
    kind = found.type if found is not None else None
    if kind == "UNREAD":
        return _unread(word)
    habit = _FOUND.get(word) or _LAST.get(last) or _PAIRS.get((last, word))
    if habit is not None:
        return habit
    if kind == "LBRACKET" and "LBRACE" in kinds and before[-1].type == "NAME":
        return f"a vector is written std::vector<int> {last}(3)"
    if "$end" in kinds or (not before and "TYPE" in kinds):
        return _FORM
    if kind == "ASSIGN" and [token.type for token in before[-2:-1]] == ["USING"]:
        return f"leave it out, and write the type itself in place of {last}"
    if kinds == {"LPAREN"} and kind in ("ASSIGN", "SEMICOLON", "LBRACE"):
        return f"a file holds functions alone: write {last} inside of a function, or make it a parameter"
    if kinds <= {"NAME", "CONST", "BIT_AND"} and kind in ("COMMA", "RPAREN"):
        return "every parameter has a name, too: const Tensor& I"
    if found is not None and kind in ("TIMES", "AND") and before and before[-1].type in ("TYPE", "GREATER"):
        return "tensors and vectors are handed over by value or by reference: const Tensor& I"
    if kind == "LBRACKET" and "TYPE" in kinds:
        return "there are no functions inside of functions: write the function before this one"
    if kind == "DOT" or last == ".":
        return "what stands behind a dot is a name: I.bind_dims(N)"
    if kind == "NAME" and before and before[-1].type == "NAME":
        return f"is '{last}' a type? Known are Tensor, TensorDim, TensorIndex, std::vector, int, size_t, float, bool"
    if "SEMICOLON" in kinds and ("RPAREN" not in kinds):
        return "a statement ends with ';'"
    if "RPAREN" in kinds and "FLOAT" not in kinds:
        return "close it with ')'"
    if "RBRACKET" in kinds:
        return "close it with ']'"
    if "GREATER" in kinds and "FLOAT" not in kinds:
        return "a vector is written std::vector<TensorDim> X(2)"
    if "FLOAT" in kinds:
        return f"something is missing after '{last}'" if last else "put a value here"
    if "TYPE" in kinds:
        return "every parameter has a type: const Tensor& I"
    if "RBRACE" in kinds:
        return "close it with '}'"
    return _PARTS


def _unread(word: str) -> str:
    match word:
        case "while" | "do":
            return _LOOP
        case "class" | "struct" | "template" | "typedef" | "union" | "enum" | "typename":
            return "a file holds functions of tensors; write the types out"
        case "switch" | "case" | "goto":
            return "write if and else"
        case "throw" | "try" | "catch":
            return "leave it out: what a function does wrong is reported at its place"
        case _:
            return _PARTS


_READABLE = tuple(kind for kind in tokens if kind != "UNREAD")


@cache
def _tables() -> Any:
    import tabla.languages.tile_cpp.grammar as rules

    return ply_yacc.yacc(module=rules, write_tables=False, debug=False, errorlog=ply_yacc.NullLogger())


class _Reading:
    """One parse: the tokens, how far it is, and what to do at a token that does not fit."""

    def __init__(self, source: Source, faults: Faults) -> None:
        self.source, self.faults = source, faults
        self.tokens, self.strays = read_tokens(source, faults)
        self.position = 0
        # A copy shares the tables but not the stacks, so that parses do not meet.
        self.parser: Any = copy.copy(_tables())
        self.parser.errorfunc, self.parser.errorok = self.meet, True

    def run(self) -> tuple[Function, ...]:
        if not self.tokens:
            self.faults.add("there is no function", Span(source=self.source, start=0, end=0), hint=_FORM)
            return ()
        return tuple(self.parser.parse(lexer=self, tokenfunc=self.next) or ())

    def next(self) -> Token | None:
        at = self.position
        self.position += 1
        return self.tokens[at] if at < len(self.tokens) else None

    def meet(self, token: Token | None) -> None:
        """PLY calls this at a token that does not fit, and then looks for the end of the statement."""
        kinds = acceptable(self.parser, _READABLE)
        at = self.position - 1
        before = self.tokens[:at]
        if self._strayed(before[-1].value.span.end if before else 0, token):
            return
        if token is not None:
            what, span = f"'{token.value.text}'", token.value.span
        else:
            end = before[-1].value.span.end
            what, span = "the end of the file", Span(source=self.source, start=end, end=end)
        hint = cure(before, token, kinds)
        self.faults.add(f"expected {describe(kinds)}, not {what}", span, also=self._opened(kinds), hint=hint)

    def _strayed(self, start: int, token: Token | None) -> bool:
        """Return whether something that is no token stands before a token: the fault that explains this one."""
        end = token.value.span.start if token is not None else len(self.source.text)
        return any(start <= stray < end for stray in self.strays)

    def _opened(self, kinds: frozenset[str]) -> tuple[Label, ...]:
        """The bracket that the fault leaves open, if closing it was possible."""
        closed = {"RPAREN": "LPAREN", "RBRACKET": "LBRACKET", "RBRACE": "LBRACE"}
        for symbol in reversed(self.parser.symstack):
            if any(symbol.type == opener and closer in kinds for closer, opener in closed.items()):
                return (Label(symbol.value.span, "opened here"),)
        return ()


def _refuse_depth(found: Sequence[Token], faults: Faults) -> bool:
    """Note a fault where brackets are nested too deeply, and return whether there is one."""
    depth = 0
    for token in found:
        if token.type in ("LPAREN", "LBRACE", "LBRACKET"):
            depth += 1
        elif token.type in ("RPAREN", "RBRACE", "RBRACKET"):
            depth -= 1
        if depth > MAX_DEPTH:
            hint = "give a part of it a name, in a statement of its own"
            faults.add(f"brackets are nested more than {MAX_DEPTH} deep", token.value.span, hint=hint)
            return True
    return False


def read(source: Source, faults: Faults) -> tuple[Function, ...]:
    """Return the functions of `source`, in order. What could not be read is noted in `faults`."""
    reading = _Reading(source, faults)
    if _refuse_depth(reading.tokens, faults):
        return ()
    return reading.run()
