"""Runs a C++ function once, for given shapes, on the tensors that Tile in Python runs on, and keeps what it says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, assert_never

from tabla.base.lexemes import Lexeme
from tabla.languages.tile.contractions import Combined, Indexed
from tabla.languages.tile.places import reading, refuse
from tabla.languages.tile.program import Aggregation
from tabla.languages.tile.tensors import Tensor
from tabla.languages.tile_cpp.library import CONSTANTS, FUNCTIONS, OUTPUT, member, output, position_of
from tabla.languages.tile_cpp.operators import binary, unary
from tabla.languages.tile_cpp.syntax import (
    Assignment,
    Binary,
    Binding,
    Block,
    Braces,
    Call,
    Choice,
    Constant,
    Construct,
    Declaration,
    Element,
    Evaluation,
    Expression,
    For,
    ForEach,
    Function,
    If,
    Leave,
    Member,
    Name,
    Return,
    Statement,
    Type,
    Unary,
    Variable,
)
from tabla.languages.tile_cpp.values import (
    Listed,
    Vector,
    begun,
    constructed,
    converted,
    described,
    is_number,
    learn_name,
)

MOST_STATEMENTS = 100_000
"""The most statements that one function runs. A longer run is a loop without an end."""
MOST_CALLS = 32
"""The deepest nesting of calls of functions of the file."""
_AGGREGATIONS: Mapping[str, Aggregation] = {"+=": "sum", "*=": "product", ">=": "max", "<=": "min", "=": "assign"}
_Flow = Literal["next", "break", "continue", "return"]
"""How a statement ends: whether the next one follows."""


@dataclass(slots=True)
class _Slot:
    """A variable: its type, and the value that it has."""

    type: Type
    value: Any


class Execution:
    """One run of a file's functions."""

    def __init__(self, functions: Mapping[str, Function]) -> None:
        self._functions = functions
        self._scopes: list[dict[str, _Slot]] = []
        self._returned: Any = None
        self._statements, self._calls = 0, 0

    def call(self, function: Function, arguments: Mapping[str, Any]) -> Any:
        """Return what a function returns for `arguments` by the names of parameters. Missing ones have defaults."""
        if function.body is None:
            refuse(f"'{function.name.text}' is declared and has no body", "write { ... } behind it", function.span)
        if self._calls >= MOST_CALLS:
            refuse(f"functions call each other more than {MOST_CALLS} deep", "does one call itself?")
        outer, self._scopes = self._scopes, [{}]
        self._calls += 1
        for parameter in function.parameters:
            with reading(parameter.span):
                given = arguments.get(parameter.name.text)
                if given is None and parameter.default is not None:
                    given = self._value(parameter.default)
                self._declare(parameter.name, parameter.type, converted(given, parameter.type))
        self._returned = None
        self._block(function.body.statements)
        returned, self._returned = self._returned, None
        self._scopes, self._calls = outer, self._calls - 1
        return returned

    def _call_of(self, function: Function, arguments: Sequence[Any]) -> Any:
        names = [parameter.name.text for parameter in function.parameters]
        needed = sum(parameter.default is None for parameter in function.parameters)
        if not needed <= len(arguments) <= len(names):
            count = "1 argument" if len(arguments) == 1 else f"{len(arguments)} arguments"
            refuse(f"'{function.name.text}' is called with {count}", f"it takes {', '.join(names) or 'none'}")
        return self.call(function, dict(zip(names, arguments, strict=False)))

    def _declare(self, name: Lexeme, type: Type, value: Any) -> None:
        learn_name(value, name.text)
        self._scopes[-1][name.text] = _Slot(type, value)

    def _slot(self, name: str) -> _Slot | None:
        return next((scope[name] for scope in reversed(self._scopes) if name in scope), None)

    @contextmanager
    def _scope(self) -> Iterator[None]:
        self._scopes.append({})
        yield
        self._scopes.pop()

    # Statements

    def _block(self, statements: Sequence[Statement]) -> _Flow:
        for statement in statements:
            flow = self._run(statement)
            if flow != "next":
                return flow
        return "next"

    def _run(self, statement: Statement) -> _Flow:
        self._statements += 1
        with reading(statement.span):
            if self._statements > MOST_STATEMENTS:
                refuse(f"the function runs more than {MOST_STATEMENTS:,} statements", "does a loop never end?")
            match statement:
                case Declaration(type=type, variables=variables):
                    for variable in variables:
                        with reading(variable.span):
                            self._declare(variable.name, type, self._initial(type, variable))
                case Binding():
                    self._bind(statement)
                case Assignment():
                    self._assign(statement)
                case Evaluation(expression=expression):
                    self._evaluate(expression)
                case Block(statements=statements):
                    with self._scope():
                        return self._block(statements)
                case If(condition=condition, chosen=chosen, other=other):
                    taken = chosen if self._truth(condition) else other
                    with self._scope():
                        return self._run(taken) if taken is not None else "next"
                case For():
                    return self._loop(statement)
                case ForEach():
                    return self._loop_over(statement)
                case Leave(word=word):
                    return word
                case Return(value=value):
                    self._returned = None if value is None else self._value(value)
                    return "return"
                case _:
                    raise AssertionError(statement)
        return "next"

    def _initial(self, type: Type, variable: Variable) -> Any:
        values = [self._value(value) for value in variable.values]
        match variable.how:
            case "none":
                return begun(type)
            case "assign":
                return converted(values[0], type)
            case "parentheses" | "braces":
                return constructed(type, values, braces=variable.how == "braces")
            case _ as unreachable:
                assert_never(unreachable)

    def _bind(self, statement: Binding) -> None:
        values = self._value(statement.value)
        if not isinstance(values, tuple | list):
            refuse(f"{described(values)} for {len(statement.names)} names", "bind the results of topk, or a vector")
        if len(values) != len(statement.names):
            refuse(f"{len(values)} values for {len(statement.names)} names", "write a name for each value")
        for name, value in zip(statement.names, values, strict=True):
            self._declare(name, Type(name="auto", span=name.span), value)

    def _assign(self, statement: Assignment) -> None:
        sign = statement.operator.text
        match statement.target:
            case Call(callee=callee, arguments=arguments) if not isinstance(callee, Member):
                tensor = self._tensor(callee)
                key = self._key(arguments)
                if sign not in _AGGREGATIONS:
                    refuse(f"'{sign}' is no aggregation", "there are +=, *=, >=, <= and =; subtract by adding -I")
                tensor.contract(_AGGREGATIONS[sign], key, self._value(statement.value))
            case Name(text=text):
                self._set(text, statement)
            case Element(vector=vector, position=position):
                items = self._value(vector)
                if not isinstance(items, Vector):
                    refuse(f"{described(items)} has no elements [...]", _ELEMENTS)
                at = position_of(items, self._value(position))
                value = self._updated(sign, items[at], statement.value)
                items[at] = value if items.type is None else converted(value, items.type)
                self._name_elements(vector, items)
            case _:
                with reading(statement.target.span):
                    refuse("this takes no value", "values go to variables, to elements X[0], and to O(i)")

    def _set(self, name: str, statement: Assignment) -> None:
        slot = self._slot(name)
        if slot is None:  # a variable that the function has not declared
            slot = self._scopes[0][name] = _Slot(Type(name="auto", span=statement.span), None)
        sign = statement.operator.text
        if slot.type.reference:
            refuse(f"'{name}' is a reference, and is set", "write to what it refers to: X[0] = ...")
        if isinstance(slot.value, Tensor) and sign != "=":
            refuse(f"'{sign}' of a whole tensor", f"write {name}() {sign} for a single value, or {name} = {name} + ...")
        slot.value = converted(self._updated(sign, slot.value, statement.value), slot.type)
        learn_name(slot.value, name)

    def _updated(self, sign: str, value: Any, right: Expression) -> Any:
        """Return the new value of a variable that is set by ``=``, ``+=`` and so on."""
        given = self._value(right)
        return given if sign == "=" else binary(sign.removesuffix("="), value, given)

    def _name_elements(self, vector: Expression, items: Vector) -> None:
        if isinstance(vector, Name):
            learn_name(items, vector.text)

    def _evaluate(self, expression: Expression) -> None:
        """Run an expression as a statement."""
        match expression:
            case Binary(operator=">=" | "<=" as sign, left=Call(callee=callee, arguments=arguments), right=right) if (
                not isinstance(callee, Member) and not self._is_function(callee)
            ):
                tensor = self._tensor(callee)
                tensor.contract(_AGGREGATIONS[sign], self._key(arguments), self._value(right))
            case Call(callee=callee) if isinstance(callee, Member) or self._is_function(callee):
                self._value(expression, void=True)
            case _:
                self._value(expression)
                hint = "a statement gives something a value: O(i) += I(i, j);"
                refuse("this statement has no effect", hint, expression.span)

    def _truth(self, expression: Expression) -> bool:
        value = self._value(expression)
        with reading(expression.span):
            if isinstance(value, Tensor):
                hint = "write select(condition, a, b) instead of a choice"
                refuse("the values of a tensor are not known while the function is read", hint)
            if not is_number(value):
                refuse(f"{described(value)} is not a condition", "conditions compare sizes and numbers")
        return bool(value)

    def _loop(self, loop: For) -> _Flow:
        with self._scope():
            self._block(loop.begin)
            while loop.condition is None or self._truth(loop.condition):
                flow = self._body(loop.body)
                if flow in ("break", "return"):
                    return "return" if flow == "return" else "next"
                self._block(loop.step)
        return "next"

    def _loop_over(self, loop: ForEach) -> _Flow:
        items = self._value(loop.vector)
        if not isinstance(items, list):
            refuse(f"a loop over {described(items)}", "loops run over vectors, and a contraction over elements")
        for item in list(items):
            with self._scope():
                self._declare(loop.name, loop.type, converted(item, loop.type))
                flow = self._body(loop.body)
            if flow in ("break", "return"):
                return "return" if flow == "return" else "next"
        return "next"

    def _body(self, body: Statement) -> _Flow:
        with self._scope():
            return self._run(body)

    # Expressions

    def _value(self, expression: Expression, *, void: bool = False) -> Any:
        """Return the value of an expression. Only where `void`, a call may return nothing."""
        with reading(expression.span):
            match expression:
                case Constant(value=Fraction() as value):
                    return _real(value)
                case Constant(value=value):
                    return value
                case Name(text=text):
                    return self._variable(text)
                case Call():
                    value = self._called(expression)
                    if value is None and not void:
                        refuse("this call returns nothing", "call it as a statement of its own")
                    return value
                case Construct(type=type, arguments=arguments, braces=braces):
                    return constructed(type, [self._value(each) for each in arguments], braces=braces)
                case Braces(items=items):
                    return Listed(self._value(item) for item in items)
                case Element(vector=vector, position=position):
                    items = self._value(vector)
                    if not isinstance(items, Vector):
                        refuse(f"{described(items)} has no elements [...]", _ELEMENTS)
                    return self._set_already(items[position_of(items, self._value(position))])
                case Member(name=name):
                    refuse(f"'{name.text}' is not called", f"write .{name.text}(...)")
                case Unary(operator=sign, operand=operand):
                    return unary(sign, self._value(operand))
                case Binary(operator="&&" | "||" as sign, left=left, right=right):
                    return self._joined(sign, left, right)
                case Binary(operator=sign, left=left, right=right):
                    return binary(sign, self._value(left), self._value(right))
                case Choice(condition=condition, chosen=chosen, other=other):
                    return self._value(chosen if self._truth(condition) else other)
                case _:
                    raise AssertionError(expression)

    def _joined(self, sign: str, left: Expression, right: Expression) -> Any:
        """Return ``left && right`` or ``left || right``, whose right side is computed only if the left does not say."""
        first = self._value(left)
        if is_number(first) and bool(first) is (sign == "||"):
            return bool(first)
        return binary(sign, first, self._value(right))

    def _variable(self, name: str) -> Any:
        slot = self._slot(name)
        if slot is not None:
            return self._set_already(slot.value, name)
        return CONSTANTS[name]

    def _set_already(self, value: Any, name: str = "") -> Any:
        if value is None:
            what = f"'{name}'" if name else "the element"
            refuse(f"{what} is used before it has a value", "give it one first")
        return value

    def _is_function(self, callee: Expression) -> bool:
        return isinstance(callee, Name) and self._slot(callee.text) is None

    def _called(self, call: Call) -> Any:
        match call.callee:
            case Member(value=value, name=name):
                arguments = [self._value(argument) for argument in call.arguments]
                return member(self._value(value), name.text, arguments)
            case Name(text=text) if self._is_function(call.callee):
                arguments = [self._value(argument) for argument in call.arguments]
                if text in self._functions:
                    return self._call_of(self._functions[text], arguments)
                return output(arguments) if text == OUTPUT else FUNCTIONS[text](text, arguments)
            case callee:
                tensor = self._tensor(callee)
                return tensor[self._key(call.arguments)]

    def _tensor(self, expression: Expression) -> Tensor:
        value = self._value(expression)
        if not isinstance(value, Tensor):
            with reading(expression.span):
                refuse(f"{described(value)} has no elements (...)", "tensors have: O(i) += I(i, j)")
        return value

    def _key(self, arguments: Sequence[Expression]) -> tuple[Any, ...]:
        values = [self._value(argument) for argument in arguments]
        if len(values) == 1 and isinstance(values[0], list):
            values = list(values[0])
        for value in values:
            if isinstance(value, Tensor | Indexed | Combined | list | str | float):
                refuse(f"{described(value)} is not a subscript", _SUBSCRIPTS)
        return tuple(values)


_ELEMENTS = "vectors have: X[0]; the elements of a tensor are O(i, j)"
_SUBSCRIPTS = "subscripts are sums of index variables, sizes and whole numbers"


def _real(value: Fraction) -> float:
    """Return a number of the text in float64. One beyond all of them is a `TablaError`."""
    try:
        return float(value)
    except OverflowError:
        refuse("a real number that is too large", "real numbers are those of 64 bits")
