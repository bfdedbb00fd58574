"""A lexer and a parser of Tensor Comprehensions for the interpreter of loops. They share no code with the product."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Node = tuple[Any, ...]

_TOKEN = re.compile(
    r"\s+|#[^\n]*|(?P<number>\d+\.\d*(?:[eE][-+]?\d+)?|(?<![\w)])\.\d+|\d+[eE][-+]?\d+|\d+)|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<sign>(?:\+|\*)=(?!=)!?|->|<=>|<=|>=|==|!=|&&|\|\||[-+*/%<>=!?:,.(){}])"
)
_LEVELS = ({"||"}, {"&&"}, {"<", ">", "<=", ">=", "==", "!="}, {"+", "-"}, {"*", "/", "%"})
INTEGERS = {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)} | {"byte"}
_TYPES = INTEGERS | {"float", "double", "half", "bool", "float16", "float32", "float64"}


@dataclass
class Definition:
    """One ``def`` as it was read."""

    name: str
    inputs: list[tuple[str, str, list[str]]]
    results: list[str]
    statements: list[Node]


class Reader:
    """A recursive descent over the tokens of a file."""

    def __init__(self, text: str) -> None:
        found = [m for m in _TOKEN.finditer(text) if m.lastgroup]
        assert "".join(m.group() for m in _TOKEN.finditer(text)) == text, "a character that is no token"
        self.tokens = [(m.group(), m.lastgroup) for m in found] + [("", "end")]
        self.at = 0

    def take(self, *wanted: str) -> str:
        text = self.tokens[self.at][0]
        assert not wanted or text in wanted, f"{wanted} expected, not {text!r}"
        self.at += 1
        return text

    def accept(self, text: str) -> bool:
        found = self.tokens[self.at][0] == text
        self.at += found
        return found

    def listed(self, item: Callable[[], Any], end: str = ")") -> list[Any]:
        items = []
        while not self.accept(end):
            items.append(item())
            if not self.accept(","):
                self.take(end)
                break
        return items

    def definitions(self) -> dict[str, Definition]:
        found = {}
        while self.accept("def"):
            name = self.take()
            self.take("(")
            inputs = self.listed(self.parameter)
            self.take("->")
            self.take("(")
            results = [result[0] for result in self.listed(self.parameter)]
            self.take("{")
            statements = []
            while not self.accept("}"):
                statements.append(self.statement())
            found[name] = Definition(name, inputs, results, statements)
        assert self.tokens[self.at][1] == "end"
        return found

    def parameter(self) -> tuple[str, str, list[str]]:
        kind, dimensions = "", []
        if self.tokens[self.at][0] in _TYPES:
            kind = self.take()
            dimensions = self.listed(self.take) if self.accept("(") else []
        return self.take(), kind, dimensions

    def statement(self) -> Node:
        target = self.take()
        if self.tokens[self.at][0] == ",":
            targets = [target]
            while self.accept(","):
                targets.append(self.take())
            self.take("=")
            return ("call", targets, self.expression())
        indices = self.listed(self.take) if self.accept("(") else None
        operator = self.take()
        if operator in ("min", "max"):
            operator += self.take("=") + ("!" if self.accept("!") else "")
        value = self.expression()
        if self.accept("<=>"):
            self.expression()
        return ("assign", target, indices, operator, value, self.clauses() if self.accept("where") else [])

    def clauses(self) -> list[Node]:
        clauses: list[Node] = []
        while True:
            if self.accept("exists"):
                clauses.append(("exists", self.expression()))
            else:
                name = self.take()
                if self.take("in", "=") == "in":
                    low = self.expression()
                    self.take(":")
                    clauses.append(("in", name, low, self.expression()))
                else:
                    clauses.append(("let", name, self.expression()))
            if not self.accept(","):
                return clauses

    def expression(self) -> Node:
        condition = self.binary(0)
        if not self.accept("?"):
            return condition
        chosen = self.expression()
        self.take(":")
        return ("choice", condition, chosen, self.expression())

    def binary(self, level: int) -> Node:
        if level == len(_LEVELS):
            return self.unary()
        left = self.binary(level + 1)
        while self.tokens[self.at][0] in _LEVELS[level]:
            left = ("binary", self.take(), left, self.binary(level + 1))
        return left

    def unary(self) -> Node:
        if self.tokens[self.at][0] in ("-", "!"):
            return ("unary", self.take(), self.unary())
        text, kind = self.tokens[self.at]
        self.at += 1
        if text == "(":
            inside = self.expression()
            self.take(")")
            return inside
        if kind == "number":
            return ("constant", float(text) if re.search("[.eE]", text) else int(text))
        if text in _TYPES:
            self.take("(")
            return ("cast", text, *self.listed(self.expression))
        if self.accept("."):
            return ("extent", text, int(self.take()))
        if self.accept("("):
            return ("apply", text, *self.listed(self.expression))
        return ("name", text)
