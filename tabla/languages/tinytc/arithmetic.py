"""Arithmetic of the tensor language, on values that are formulas: integers, truth values and real numbers."""

from __future__ import annotations

from fractions import Fraction

from tabla.base.source import Span
from tabla.graph.graph import Affine
from tabla.languages.kernel.signatures import apply
from tabla.languages.kernel.substitution import whole_number
from tabla.languages.kernel.tree import Expression, Number
from tabla.languages.tinytc.syntax import INTEGERS, REALS
from tabla.languages.tinytc.truths import Truth, compared
from tabla.languages.tinytc.values import Value, as_expression, is_expression, refuse
from tabla.languages.tinytc.views import NeedsConstant


def comparison(name: str, left: Value, right: Value, span: Span) -> Value:
    """Return the comparison of two values, which is a truth value."""
    if isinstance(left, Affine) and isinstance(right, Affine):
        return compared(name, left, right)
    if is_expression(left) and is_expression(right):
        names = {"greater_than": "greater", "less_than": "less"}
        names |= {"greater_than_equal": "greater_equal", "less_than_equal": "less_equal"}
        return apply(names.get(name, name), left, right, span=span)
    refuse("the operands of a comparison are of two types", span, "cast one of them")


def cast(value: Value, wanted: str, span: Span) -> Value:
    """Return a value as a number of the type `wanted`."""
    if isinstance(value, Affine) and wanted in INTEGERS:
        return value
    if isinstance(value, Affine) and wanted in REALS:
        if not value.coefficients:
            return Number(value=Fraction(value.constant), span=span)
        return apply("real", whole_number(value, span), span=span)
    if is_expression(value) and value.type == "real" and wanted in REALS:
        return value
    refuse(f"this is not cast to '{wanted}'", span, "integers become real, and nothing of the data an integer")


def of_integers(name: str, left: Affine, right: Affine, span: Span) -> Affine:
    """Return what an instruction gives for two integers. Raises `NeedsConstant` where it has to know their values."""
    match name:
        case "add":
            return left + right
        case "sub":
            return left - right
        case "mul" if not left.coefficients or not right.coefficients:
            form, factor = (left, right.constant) if not right.coefficients else (right, left.constant)
            return form * factor
    if left.coefficients or right.coefficients:
        raise NeedsConstant
    a, b = left.constant, right.constant
    if name in ("div", "rem") and not b:
        refuse("an integer is divided by zero", span, "divide by another constant")
    if name in ("shl", "shr") and not 0 <= b < 64:
        refuse(f"a shift by {b}", span, "shift by 0 to 63")
    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1) if b else 0
    results = {"div": quotient, "rem": a - b * quotient, "max": max(a, b), "min": min(a, b)}
    results |= {"and": a & b, "or": a | b, "xor": a ^ b}
    if name == "shl":
        return Affine.of(a << b)
    return Affine.of(a >> b if name == "shr" else results[name])


def of_truths(name: str, left: Value, right: Value, span: Span) -> Value:
    """Return what an instruction gives for two truth values."""
    if isinstance(left, Truth) and isinstance(right, Truth):
        if name == "and":
            return left.both(right)
        if name == "or":
            return left.either(right)
        return left.both(right.negated()).either(left.negated().both(right))
    one, other = (as_expression(each) for each in (left, right))
    if one is None or other is None or name == "xor" or not one.type == other.type == "truth":
        refuse(f"'{name}' of values that are no truth values", span, "compare first: less_than %a, %b : bool")
    return apply(name, one, other, span=span)


def of_reals(name: str, left: Value, right: Value, span: Span) -> Value:
    """Return what an instruction gives for two real numbers."""
    names = {"add": "add", "sub": "subtract", "mul": "multiply", "div": "divide", "max": "max", "min": "min"}
    if not (is_expression(left) and is_expression(right) and left.type == right.type == "real"):
        refuse(f"the operands of '{name}' are of two types", span, "cast the integer first: cast %i : f32")
    if name not in names:
        refuse(f"'{name}' of real numbers", span, "real numbers have add, sub, mul, div, max and min")
    return apply(names[name], left, right, span=span)


def of_one(name: str, value: Expression, span: Span) -> Expression:
    """Return a function of one real number."""
    match name.removeprefix("native_"):
        case "neg":
            return apply("negate", value, span=span)
        case "exp2":
            factor = Number(value=Fraction(0.6931471805599453))
            return apply("exp", apply("multiply", value, factor, span=span), span=span)
        case "log2":
            factor = Number(value=Fraction(1.4426950408889634))
            return apply("multiply", apply("log", value, span=span), factor, span=span)
        case plain:
            return apply(plain, value, span=span)
