"""The names of a function: each is declared once in its scope, and before it is used."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from tabla.base.faults import Faults, did_you_mean
from tabla.base.lexemes import Lexeme
from tabla.base.source import Label, Span
from tabla.languages.tile_cpp.library import CONSTANTS, FUNCTIONS, OUTPUT
from tabla.languages.tile_cpp.parser import MAX_DEPTH
from tabla.languages.tile_cpp.syntax import (
    Assignment,
    Binary,
    Binding,
    Block,
    Braces,
    Call,
    Choice,
    Construct,
    Declaration,
    Element,
    Evaluation,
    Expression,
    For,
    ForEach,
    Function,
    If,
    Member,
    Name,
    Return,
    Statement,
    Unary,
)

PYTHON = {
    "TensorDims": "declare sizes: TensorDim M, N;",
    "TensorIndexes": "declare index variables: TensorIndex m, n;",
    "range": "write for (size_t i = 0; i < n; ++i)",
    "len": "write X.size()",
}
"""What replaces the names that only Tile in Python has."""


_LIBRARY = frozenset(FUNCTIONS) | {OUTPUT}


class Scopes:
    """Checks the names of one function, and finds the variables that it sets without having declared them.

    `implied` are these, each with the place where it is set first. C++ refuses them; texts that were written for
    reading have them, and they mean one thing only.
    """

    def __init__(self, functions: Mapping[str, Function], faults: Faults) -> None:
        self._functions, self._faults = functions, faults
        self._scopes: list[dict[str, Span]] = []
        self._reported: set[str] = set()
        self.implied: list[Lexeme] = []

    def check(self, function: Function) -> None:
        """Check a function that has a body."""
        assert function.body is not None
        self._scopes = [{}]
        for parameter in function.parameters:
            if parameter.default is not None:
                self._expression(parameter.default)
            self._declare(parameter.name)
        # The outermost block of a function has the scope of the parameters.
        self._statements(function.body.statements)

    def _declare(self, name: Lexeme) -> None:
        known = self._scopes[-1].get(name.text)
        if known is not None:
            hint = "give one of them another name"
            also = (Label(known, "the first one"),)
            self._faults.add(f"'{name.text}' is declared twice", name.span, also=also, hint=hint)
        self._scopes[-1][name.text] = name.span

    def _known(self, name: str) -> bool:
        return any(name in scope for scope in self._scopes)

    def _statements(self, statements: Sequence[Statement]) -> None:
        for statement in statements:
            self._statement(statement)

    def _scope(self, *statements: Statement) -> None:
        self._scopes.append({})
        self._statements(statements)
        self._scopes.pop()

    def _statement(self, statement: Statement) -> None:
        match statement:
            case Declaration(variables=variables):
                for variable in variables:
                    self._expressions(variable.values)
                    self._declare(variable.name)
            case Binding(names=names, value=value):
                self._expression(value)
                for name in names:
                    self._declare(name)
            case Assignment(target=Name(text=text, span=span), value=value) if not self._known(text):
                self._expression(value)
                if statement.operator.text == "=" and len(self._scopes) == 1:
                    self.implied.append(Lexeme(text=text, span=span))
                    self._scopes[-1][text] = span
                else:
                    self._unknown(text, span)
            case Assignment(target=target, value=value):
                self._expression(target)
                self._expression(value)
            case Evaluation(expression=expression):
                self._expression(expression)
            case Return(value=value) if value is not None:
                self._expression(value)
            case Block(statements=statements):
                self._scope(*statements)
            case If(condition=condition, chosen=chosen, other=other):
                self._expression(condition)
                self._scope(chosen)
                if other is not None:
                    self._scope(other)
            case For(begin=begin, condition=condition, step=step, body=body):
                self._scopes.append({})
                self._statements(begin)
                if condition is not None:
                    self._expression(condition)
                self._scope(body)
                self._statements(step)
                self._scopes.pop()
            case ForEach(name=name, vector=vector, body=body):
                self._expression(vector)
                self._scopes.append({})
                self._declare(name)
                self._scope(body)
                self._scopes.pop()
            case _:
                pass

    def _expressions(self, expressions: Sequence[Expression]) -> None:
        for expression in expressions:
            self._expression(expression)

    def _expression(self, expression: Expression) -> None:
        if expression.depth > MAX_DEPTH:
            hint = "give a part of it a name, in a statement of its own"
            message = f"this expression is nested {expression.depth} deep, the limit is {MAX_DEPTH}"
            self._faults.add(message, expression.span, hint=hint)
            return
        match expression:
            case Name(text=text, span=span):
                if not self._known(text) and text not in CONSTANTS:
                    self._unknown(text, span)
            case Call(callee=Name(text=text, span=span)) if not self._known(text):
                if text not in _LIBRARY and text not in self._functions:
                    self._unknown(text, span, called=True)
                self._expressions(expression.arguments)
            case _:
                self._expressions(tuple(parts(expression)))

    def _unknown(self, name: str, span: Span, *, called: bool = False) -> None:
        if name in self._reported:
            return
        self._reported.add(name)
        variables = {other for scope in self._scopes for other in scope}
        if name in _LIBRARY or name in self._functions:
            self._faults.add(f"'{name}' is a function", span, hint=f"call it: {name}(...)")
            return
        known = variables | _LIBRARY | set(self._functions) if called else variables
        hint = PYTHON.get(name) or _element(name, variables) or did_you_mean(name, known)
        if hint is None:
            hint = f"declare it first: TensorDim {name}; or auto {name} = ..."
            hint = "docs/tile-cpp.md has the functions" if called else hint
        self._faults.add(f"'{name}' is not declared", span, hint=hint)


def _element(name: str, known: Collection[str]) -> str | None:
    """Return a hint for a name such as ``k0``, if there is a ``k`` that may be a vector."""
    vector = name.rstrip("0123456789")
    if vector == name or vector not in known:
        return None
    return f"if '{vector}' is a vector, its element is {vector}[{name[len(vector) :]}]"


def parts(expression: Expression) -> Iterator[Expression]:
    """Yield the expressions that an expression is made of."""
    match expression:
        case Call(callee=callee, arguments=arguments):
            yield from (callee, *arguments)
        case Construct(arguments=arguments):
            yield from arguments
        case Braces(items=items):
            yield from items
        case Element(vector=vector, position=position):
            yield from (vector, position)
        case Member(value=value):
            yield value
        case Unary(operand=operand):
            yield operand
        case Binary(left=left, right=right):
            yield from (left, right)
        case Choice(condition=condition, chosen=chosen, other=other):
            yield from (condition, chosen, other)
        case _:
            pass
