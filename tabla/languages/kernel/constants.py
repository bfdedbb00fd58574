"""Values that are known from a kernel's text: exact rational numbers, and functions of them in float64."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from tabla.base.source import Span
from tabla.graph.graph import Affine
from tabla.languages.kernel.faults import refused
from tabla.languages.kernel.signatures import SIGNATURES
from tabla.languages.kernel.tree import (
    Apply,
    Expression,
    Gather,
    Limit,
    Number,
    Position,
    Read,
    Reduce,
    Tensor,
    spine,
)

# Far beyond every format, and a bound on what a few lines of repeated squaring can cost.
_BITS = 4096
_Form = dict[str, Fraction]
"""An affine form: coefficients by index, and the constant under the empty name."""


def constant_value(expression: Expression) -> Fraction | None:
    """Return the value of an expression that depends on nothing but the text, else None.

    Raises `TablaError` where it has no value: a division by zero, the logarithm of a negative number, a number beyond
    all bounds.
    """
    first, chain = spine(expression)
    value = first.value if isinstance(first, Number) else None
    for call in chain:
        if value is None:
            return None
        others = [constant_value(argument) for argument in call.arguments[1:]]
        known = [other for other in others if other is not None]
        value = _operate(call, [value, *known]) if len(known) == len(others) else None
    return value


def affine_of(expression: Expression) -> Affine | None:
    """Return an expression as an integer plus integer multiples of indices, or None if it is something else.

    Raises `TablaError` as `constant_value` does.
    """
    form = _form(expression)
    if form is None or any(value.denominator != 1 for value in form.values()):
        return None
    return Affine.make(int(form.get("", 0)), {name: int(value) for name, value in form.items() if name})


def element(tensor: Tensor, subscripts: Sequence[Affine | Expression], span: Span | None) -> Read | Gather:
    """Return an element of a tensor at subscripts of integers. It is a `Read` where all of them are sums of indices."""
    forms = [each if isinstance(each, Affine) else affine_of(each) for each in subscripts]
    affine = tuple(form for form in forms if form is not None)
    if len(affine) == len(forms):
        return Read(tensor=tensor.name, subscripts=affine, type=tensor.type, span=span)
    found = tuple(each if form is None else form for form, each in zip(forms, subscripts, strict=True))
    return Gather(tensor=tensor.name, subscripts=found, type=tensor.type, span=span)


def _form(expression: Expression) -> _Form | None:
    first, chain = spine(expression)
    form: _Form | None
    match first:
        case Number(value=value):
            form = {"": value}
        case Position(index=index):
            form = {index: Fraction(1)}
        case Read() | Gather() | Limit() | Reduce() | Apply():
            return None
    for call in chain:
        if form is None:
            return None
        others = [_form(argument) for argument in call.arguments[1:]]
        known = [other for other in others if other is not None]
        form = _combine(call, form, known) if len(known) == len(others) else None
    return form


def _combine(call: Apply, left: _Form, others: Sequence[_Form]) -> _Form | None:
    match call.function, others:
        case "real", []:
            return left
        case "negate", []:
            return {name: -value for name, value in left.items()}
        case (("add" | "subtract"), [right]):
            sign = 1 if call.function == "add" else -1
            names = left.keys() | right.keys()
            return {name: left.get(name, Fraction(0)) + sign * right.get(name, Fraction(0)) for name in names}
        case "multiply", [right] if left.keys() <= {""}:
            return {name: left.get("", Fraction(0)) * value for name, value in right.items()}
        case "multiply", [right] if right.keys() <= {""}:
            return {name: right.get("", Fraction(0)) * value for name, value in left.items()}
    if all(form.keys() <= {""} for form in (left, *others)):
        return {"": _operate(call, [form.get("", Fraction(0)) for form in (left, *others)])}
    match call.function, others:
        case "divide", [right] if call.type == "real" and right.keys() <= {""} and right.get("", Fraction(0)) != 0:
            return {name: value / right[""] for name, value in left.items()}
        case _:
            return None


def _operate(call: Apply, values: Sequence[Fraction]) -> Fraction:
    value = _computed(call, values)
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > _BITS:
        raise refused("this constant has too many digits", call.span, "no format can hold it")
    return value


def _computed(call: Apply, values: Sequence[Fraction]) -> Fraction:
    match call.function, values:
        case "add", [left, right]:
            return left + right
        case "subtract", [left, right]:
            return left - right
        case "multiply", [left, right]:
            return left * right
        case "divide", [left, right]:
            if right == 0:
                raise refused("division by zero", call.arguments[1].span, "divide by something else", "this is 0")
            quotient = left / right
            return quotient if call.type == "real" else Fraction(int(quotient))
        case "remainder", [left, right]:
            if right == 0:
                raise refused("division by zero", call.arguments[1].span, "divide by something else", "this is 0")
            return left - right * int(left / right)
        case "less", [left, right]:
            return Fraction(left < right)
        case "less_equal", [left, right]:
            return Fraction(left <= right)
        case "greater", [left, right]:
            return Fraction(left > right)
        case "greater_equal", [left, right]:
            return Fraction(left >= right)
        case "equal", [left, right]:
            return Fraction(left == right)
        case "not_equal", [left, right]:
            return Fraction(left != right)
        case "negate", [value]:
            return -value
        case "abs", [value]:
            return abs(value)
        case "power", [base, exponent]:
            return _power(call, base, exponent)
        case "select", [condition, chosen, other]:
            return chosen if condition else other
        case "and", [left, right]:
            return Fraction(bool(left and right))
        case "or", [left, right]:
            return Fraction(bool(left or right))
        case "not", [value]:
            return Fraction(not value)
        case "min", _:
            return min(values)
        case "max", _:
            return max(values)
        case "real", [value]:
            return value
        case "integer", [value]:
            return Fraction(int(value))
        case "truth", [value]:
            return Fraction(value != 0)
    return _function(call, values)


def _power(call: Apply, base: Fraction, exponent: Fraction) -> Fraction:
    """Return a power: an exact one where the exponent is a small whole number, else the nearest of float64."""
    try:
        if exponent.denominator == 1 and abs(exponent) <= _BITS:
            return base ** int(exponent)
        return Fraction(math.pow(base, exponent))
    except (ValueError, OverflowError, ZeroDivisionError):
        raise refused("this power has no value", call.span, "see what power is given") from None


def _function(call: Apply, values: Sequence[Fraction]) -> Fraction:
    signature = SIGNATURES[call.function]
    folds, number = signature.folds, int if signature.rule == "integers" else float
    assert folds is not None, call.function
    try:
        return Fraction(folds(*map(number, values)))
    except (ValueError, OverflowError):
        name = call.function
        raise refused(f"this {name} has no value", call.span, f"see what {name} is given") from None
