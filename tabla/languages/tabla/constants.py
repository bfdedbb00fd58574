"""Values that are known from the text: exact rational numbers, and functions of them in float64."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import assert_never

from tabla.base.source import Label, Span, TablaError
from tabla.languages.tabla.affine import Affine
from tabla.languages.tabla.operators import REALS, Function, Operator
from tabla.languages.tabla.program import (
    Call,
    Constant,
    Expression,
    Group,
    Index,
    Negation,
    Number,
    Operation,
    Read,
    chain,
)

# Far beyond every format, and a bound on what a few lines of repeated squaring can cost.
_BITS = 4096
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?")


def constant_value(expression: Expression) -> Fraction | None:
    """Return the value of `expression` if it depends on nothing but the text, else None.

    Raises `TablaError` where it has no value: a division by zero, the logarithm of a negative number, a number beyond
    all bounds.
    """
    match expression:
        case Number(value=value) | Constant(value=value):
            return value
        case Index() | Read() | Group():
            return None
        case Negation(operand=operand):
            inner = constant_value(operand)
            return None if inner is None else -inner
        case Operation():
            first, operations = chain(expression)
            left = constant_value(first)
            for operation in operations:
                if left is None:
                    return None
                right = constant_value(operation.right)
                left = None if right is None else _operate(operation, left, right)
            return left
        case Call(function=function, arguments=arguments):
            values = [constant_value(argument) for argument in arguments]
            known = [value for value in values if value is not None]
            return _call(function, known, expression.span) if len(known) == len(values) else None
        case _:
            assert_never(expression)


def _operate(operation: Operation, left: Fraction, right: Fraction) -> Fraction:
    match operation.operator:
        case Operator.ADD:
            value = left + right
        case Operator.SUBTRACT:
            value = left - right
        case Operator.MULTIPLY:
            value = left * right
        case Operator.DIVIDE:
            if right == 0:
                raise TablaError(
                    "division by zero", Label(operation.right.span, "this is 0"), hint="divide by something else"
                )
            value = left / right
        case Operator.LESS:
            value = Fraction(left < right)
        case Operator.LESS_EQUAL:
            value = Fraction(left <= right)
        case Operator.GREATER:
            value = Fraction(left > right)
        case Operator.GREATER_EQUAL:
            value = Fraction(left >= right)
        case Operator.EQUAL:
            value = Fraction(left == right)
        case Operator.NOT_EQUAL:
            value = Fraction(left != right)
        case _:
            assert_never(operation.operator)
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > _BITS:
        raise TablaError("this constant has too many digits", Label(operation.span), hint="no format can hold it")
    return value


def _call(function: Function, values: list[Fraction], span: Span) -> Fraction:
    match function:
        case Function.ABS:
            return abs(values[0])
        case Function.MIN:
            return min(values)
        case Function.MAX:
            return max(values)
        case _:
            try:
                return Fraction(REALS[function](float(values[0])))
            except (ValueError, OverflowError):
                name = function.value
                raise TablaError(f"this {name} has no value", Label(span), hint=f"see what {name} is given") from None


def affine_of(expression: Expression) -> Affine | None:
    """Return `expression` as an integer plus integer multiples of iterators, or None if it is something else.

    Raises `TablaError` as `constant_value` does.
    """
    parts = _linear(expression)
    if parts is None or any(value.denominator != 1 for value in parts.values()):
        return None
    terms = tuple(sorted((name, int(value)) for name, value in parts.items() if name and value))
    return Affine(terms=terms, constant=int(parts.get("", 0)))


def _linear(expression: Expression) -> dict[str, Fraction] | None:
    """Coefficients by iterator, the constant under the empty name."""
    match expression:
        case Index(iterator=iterator):
            return {iterator.name: Fraction(1)}
        case Negation(operand=operand):
            inner = _linear(operand)
            return None if inner is None else {name: -value for name, value in inner.items()}
        case Operation():
            first, operations = chain(expression)
            left = _linear(first)
            for operation in operations:
                right = _linear(operation.right)
                if left is None or right is None:
                    return None
                left = _combine(operation, left, right)
            return left
        case _:
            value = constant_value(expression)
            return None if value is None else {"": value}


def _combine(operation: Operation, left: dict[str, Fraction], right: dict[str, Fraction]) -> dict[str, Fraction] | None:
    match operation.operator:
        case Operator.ADD | Operator.SUBTRACT:
            sign = 1 if operation.operator is Operator.ADD else -1
            names = left.keys() | right.keys()
            return {name: left.get(name, Fraction(0)) + sign * right.get(name, Fraction(0)) for name in names}
        case Operator.MULTIPLY if left.keys() <= {""}:
            return {name: left.get("", Fraction(0)) * value for name, value in right.items()}
        case Operator.MULTIPLY if right.keys() <= {""}:
            return {name: right.get("", Fraction(0)) * value for name, value in left.items()}
        case _ if left.keys() <= {""} and right.keys() <= {""}:
            return {"": _operate(operation, left.get("", Fraction(0)), right.get("", Fraction(0)))}
        case Operator.DIVIDE if right.keys() <= {""} and right.get("", Fraction(0)) != 0:
            return {name: value / right[""] for name, value in left.items()}
        case _:
            return None


def parse_number(text: str) -> Fraction | None:
    """Return the value of a number on the command line, which may have a sign. Return None if it is not a number."""
    text = text.strip()
    return Fraction(text) if len(text) <= 400 and _NUMBER.fullmatch(text) else None
