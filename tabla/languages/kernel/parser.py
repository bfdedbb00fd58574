"""The text of a kernel becomes the kernel: names get their meaning, and the result is verified."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from functools import cache
from typing import Any, NoReturn, get_args

import ply.yacc as ply_yacc  # type: ignore[import-untyped]

from tabla.base.faults import did_you_mean
from tabla.base.lexemes import Lexeme, Token, require_docstrings
from tabla.base.source import Label, Source, Span, TablaError
from tabla.graph.graph import Affine, Index
from tabla.languages.expectation import acceptable, any_of
from tabla.languages.kernel import syntax
from tabla.languages.kernel.constants import affine_of, element
from tabla.languages.kernel.faults import refused
from tabla.languages.kernel.grammar import cure
from tabla.languages.kernel.lexer import read_tokens, tokens
from tabla.languages.kernel.signatures import INFIX, TYPES, apply
from tabla.languages.kernel.tree import (
    End,
    Expression,
    Kernel,
    Limit,
    Number,
    Position,
    Reduce,
    Reduction,
    Role,
    Statement,
    Tensor,
    Update,
    reads,
)
from tabla.languages.kernel.verify import verify

_SHOWN: Mapping[str, str] = {
    **{"NAME": "a name", "REAL": "a number", "WHOLE": "a number", "COMPARISON": "an operator", "PLUS": "an operator"},
    **{
        "MINUS": "an operator",
        "TIMES": "an operator",
        "DIVIDE": "an operator",
        "MODULO": "an operator",
        "ASSIGN": "'='",
        "LOWER": "'-='",
    },
    **{"LPAREN": "'('", "RPAREN": "')'", "LBRACKET": "'['", "RBRACKET": "']'", "COMMA": "','", "COLON": "':'"},
    **{"SEMICOLON": "';'", "$end": "the end of the file"},
}
_ROLES: tuple[Role, ...] = get_args(Role)
_REDUCTIONS: Mapping[str, Reduction] = {name: name for name in get_args(Reduction)}
_ENDS: Mapping[str, End] = {name: name for name in get_args(End)}
_LEAST: Mapping[str, int] = {">=": 0, "<=": 0, "==": 0, ">": 1, "<": 1}
"""By how much the larger side of a comparison is larger at least."""


def parse(source: Source, name: str) -> Kernel:
    """Read and verify the text of a kernel, which gets this name. The first fault is a `TablaError` at its place."""
    return _Meaning(name).kernel(_items(source))


@cache
def _tables() -> Any:
    require_docstrings()
    import tabla.languages.kernel.grammar as rules

    return ply_yacc.yacc(module=rules, write_tables=False, debug=False, errorlog=ply_yacc.NullLogger())


def _items(source: Source) -> list[syntax.Item]:
    words = iter(read_tokens(source))
    # A copy shares the tables but not the stacks, so that parses do not meet.
    parser: Any = copy.copy(_tables())

    def meet(token: Token | None) -> NoReturn:
        kinds = acceptable(parser, tokens)
        expected = any_of(list(dict.fromkeys(_SHOWN[kind] for kind in _SHOWN if kind in kinds)))
        shown = "the end of the file" if token is None else f"'{token.value.text}'"
        end = len(source.text)
        span = Span(source=source, start=max(0, end - 1), end=end) if token is None else token.value.span
        hint = "end each line with a semicolon" if token is None else cure(token.value)
        raise TablaError(f"expected {expected}, not {shown}", Label(span), hint=hint)

    parser.errorfunc, parser.errorok = meet, True

    class Lexer:
        """What PLY asks for tokens."""

        def token(self) -> Token | None:
            return next(words, None)

    items: list[syntax.Item] = parser.parse(lexer=Lexer(), tracking=False)
    return items


class _Meaning:
    """What names mean: the tensors that were declared so far, and the indices around an expression."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._tensors: dict[str, Tensor] = {}
        self._scope: dict[str, Index] = {}

    def kernel(self, items: list[syntax.Item]) -> Kernel:
        statements: list[Statement] = []
        updates: list[Update] = []
        results: list[str] = []
        for item in items:
            match item:
                case syntax.Declaration():
                    self._declare(item)
                case syntax.Assignment():
                    statements.append(self._statement(item))
                case syntax.Update():
                    updates.append(self._update(item))
                case syntax.Return(names=names):
                    results += [self._tensor(each).name for each in names]
        kernel = Kernel(
            name=self._name,
            tensors=self._tensors,
            statements=tuple(statements),
            updates=tuple(updates),
            results=tuple(results),
        )
        verify(kernel)
        return kernel

    def _declare(self, item: syntax.Declaration) -> None:
        role = _known(item.role, {each: each for each in _ROLES}, "what a tensor is")
        if item.name.text in self._tensors:
            raise refused(f"'{item.name.text}' is declared twice", item.name.span, "give one of them another name")
        kind = _known(item.type, TYPES, "a type")
        name = item.name.text
        self._tensors[name] = Tensor(name=name, shape=item.shape, role=role, type=kind, span=item.name.span)

    def _statement(self, item: syntax.Assignment) -> Statement:
        indices = tuple(self._index(each) for each in item.ranges)
        self._scope = {index.name: index for index in indices}
        target = self._tensor(item.target.name)
        write = tuple(self._affine(each) for each in item.target.subscripts)
        return Statement(
            target=target.name,
            write=write,
            indices=indices,
            value=self._value(item.value),
            conditions=self._conditions(item.conditions),
            span=item.span,
        )

    def _update(self, item: syntax.Update) -> Update:
        match item.step:
            case syntax.Operation(sign="*", operands=(rate, syntax.Element(name=gradient, subscripts=()))) if (
                isinstance(number := self._value(rate), Number)
            ):
                model = self._tensor(item.model).name
                own = self._tensor(gradient).name
                return Update(model=model, gradient=own, rate=number.value, rate_span=number.span, span=item.span)
            case step:
                raise refused("a step is a number times a gradient", step.span, "write update w -= 0.5 * g;")

    def _index(self, item: syntax.Range) -> Index:
        if item.low >= item.high:
            message = f"'{item.index.text}' has no value in {item.low}:{item.high}"
            raise refused(message, item.span, "the second bound is the first value past the range")
        if item.index.text in self._tensors:
            raise refused(f"'{item.index.text}' is a tensor", item.index.span, "give the index another name")
        return Index(name=item.index.text, low=item.low, high=item.high)

    def _tensor(self, lexeme: Lexeme) -> Tensor:
        tensor: Tensor = _known(lexeme, self._tensors, "a tensor")
        return tensor

    def _affine(self, value: syntax.Value) -> Affine:
        form = affine_of(expression := self._value(value))
        if form is None or expression.type != "integer":
            raise _no_form(value.span)
        return form

    def _conditions(self, values: tuple[syntax.Value, ...]) -> tuple[Affine, ...]:
        """Return forms of indices that are at least 0 where comparisons hold."""
        found: list[Affine] = []
        for value in values:
            match value:
                case syntax.Operation(sign=sign, operands=(one, other)) if sign in _LEAST:
                    left, right = self._compared(one), self._compared(other)
                    if sign in (">=", ">", "=="):
                        found.append(left - right - _LEAST[sign])
                    if sign in ("<=", "<", "=="):
                        found.append(right - left - _LEAST[sign])
                case _:
                    raise refused("a condition compares sums of indices", value.span, _condition_cure(value))
        return tuple(found)

    def _compared(self, value: syntax.Value) -> Affine:
        """Return a side of a condition."""
        if isinstance(value, syntax.Operation) and value.sign in INFIX and value.sign not in "+-*/%":
            raise refused("two comparisons in one condition", value.span, "write them one by one: where 0 < i, i < 3")
        expression = self._value(value)
        if any(reads(expression)):
            cure = "choose between values: select(x[i] > 0.0, x[i], 0.0)"
            raise refused("a condition is about indices, and this is a value", value.span, cure)
        return self._affine(value)

    def _value(self, value: syntax.Value) -> Expression:
        chain: list[syntax.Operation] = []
        while isinstance(value, syntax.Operation):  # chains lean to the left, and may be long
            chain.append(value)
            value = value.operands[0]
        expression = self._operand(value)
        for operation in reversed(chain):
            function = INFIX[operation.sign] if len(operation.operands) == 2 else "negate"
            others = map(self._value, operation.operands[1:])
            expression = apply(function, expression, *others, span=operation.span)
        return expression

    def _operand(self, value: syntax.Literal | syntax.Element | syntax.Call) -> Expression:
        match value:
            case syntax.Literal(value=number, real=real):
                return Number(value=number, type="real" if real else "integer", span=value.span)
            case syntax.Element(name=name, subscripts=()) if name.text in self._scope:
                return Position(index=name.text, span=value.span)
            case syntax.Element(name=name, subscripts=()) if name.text not in self._tensors:
                hint = did_you_mean(name.text, {**self._tensors, **self._scope})
                message = f"there is no index and no tensor '{name.text}' here"
                raise refused(message, name.span, hint or f"give it a range: for {name.text} in 0:3")
            case syntax.Element(name=name, subscripts=subscripts):
                return self._element(self._tensor(name), subscripts, value.span)
            case syntax.Call(ranges=()):
                return self._call(value)
            case syntax.Call():
                return self._reduce(value)

    def _element(self, tensor: Tensor, subscripts: tuple[syntax.Value, ...], span: Span) -> Expression:
        """Return an element of a tensor, at sums of indices or at computed subscripts."""
        found = [self._value(subscript) for subscript in subscripts]
        for expression, subscript in zip(found, subscripts, strict=True):
            if expression.type != "integer":
                raise _no_form(subscript.span)
        return element(tensor, found, span)

    def _limit(self, call: syntax.Call) -> Expression:
        """Return the lowest or the highest number of a type."""
        match call.arguments:
            case (syntax.Element(name=name, subscripts=()),) if name.text in ("real", "integer"):
                return Limit(end=_ENDS[call.name.text], type=TYPES[name.text], span=call.span)
            case _:
                message = f"'{call.name.text}' is given the type of the number"
                raise refused(message, call.span, f"write {call.name.text}(real) or {call.name.text}(integer)")

    def _call(self, call: syntax.Call) -> Expression:
        if call.name.text in _ENDS:
            return self._limit(call)
        match call.name.text, [self._value(argument) for argument in call.arguments]:
            case "fraction", [Number(value=over, type="integer"), Number(value=under, type="integer")] if under:
                return Number(value=over / under, span=call.span)
            case "fraction", _:
                raise refused("a fraction is one of two whole numbers", call.span, "write fraction(1, 3)")
            case reduction, _ if reduction in ("sum", "product", "norm"):
                raise refused(f"'{reduction}' has no ranges", call.span, f"write {reduction}[i in 0:3](x[i])")
            case "relu", _:
                raise refused("there is no function 'relu'", call.span, "write max(x, 0.0)")
            case function, arguments:
                return apply(function, *arguments, span=call.span)

    def _reduce(self, call: syntax.Call) -> Expression:
        reduction = _known(call.name, _REDUCTIONS, "a reduction")
        outer, indices = self._scope, tuple(self._index(each) for each in call.ranges)
        self._scope = outer | {index.name: index for index in indices}
        body, conditions = self._value(call.arguments[0]), self._conditions(call.conditions)
        self._scope = outer
        return Reduce(reduction=reduction, indices=indices, body=body, conditions=conditions, span=call.span)


def _no_form(span: Span) -> TablaError:
    return refused("this is no sum of indices and whole numbers", span, "write a subscript such as 2*i+1")


def _condition_cure(value: syntax.Value) -> str:
    match value:
        case syntax.Operation(sign="!="):
            return "write two statements: one where i < 2, and one where i > 2"
        case _:
            return "write where i >= j"


def _known(lexeme: Lexeme, known: Mapping[str, Any], what: str) -> Any:
    """Return what a name stands for. An unknown one is a `TablaError` that says `what` it is not."""
    if lexeme.text not in known:
        hint = did_you_mean(lexeme.text, known) or f"there are {', '.join(known)}" if known else "declare it above"
        raise refused(f"'{lexeme.text}' is not {what}", lexeme.span, hint)
    return known[lexeme.text]
