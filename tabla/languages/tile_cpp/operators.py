"""The operators of C++ on numbers, sizes, index variables, tensors and their elements."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

from tabla.languages.tile.contractions import Combined, Indexed
from tabla.languages.tile.dimensions import TensorDim, truncated
from tabla.languages.tile.indices import IndexExpression
from tabla.languages.tile.places import refuse
from tabla.languages.tile.tensors import Tensor
from tabla.languages.tile_cpp.values import described, is_number

_COMPARISONS: Mapping[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_ARITHMETIC: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "%": operator.mod,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "<<": operator.lshift,
    ">>": operator.rshift,
}
_SIGNS: Mapping[str, Callable[[Any], Any]] = {"-": operator.neg, "+": operator.pos, "~": operator.invert}
_ALL = {**_COMPARISONS, **_ARITHMETIC}
_SMALLEST, _LARGEST = -(1 << 63), 1 << 64
"""The range of all types of whole numbers."""


def binary(sign: str, left: Any, right: Any) -> Any:
    """Return ``left sign right``. Operands that the operator does not take are a `TablaError`."""
    for operand in (left, right):
        if not isinstance(operand, Tensor | Indexed | Combined | TensorDim | IndexExpression | str):
            if not is_number(operand):
                refuse(f"'{sign}' takes no operand that is {described(operand)}", "use tensors, sizes and numbers")
    if isinstance(left, str) or isinstance(right, str):
        return _of_texts(sign, left, right)
    if isinstance(left, Indexed | Combined) or isinstance(right, Indexed | Combined):
        return _of_elements(sign, left, right)
    if isinstance(left, Tensor) or isinstance(right, Tensor):
        return _of_tensors(sign, left, right)
    if isinstance(left, IndexExpression) or isinstance(right, IndexExpression):
        return _of_indices(sign, left, right)
    if isinstance(left, TensorDim) or isinstance(right, TensorDim):
        return _of_sizes(sign, left, right)
    return _of_numbers(sign, left, right)


def unary(sign: str, operand: Any) -> Any:
    """Return ``-a``, ``+a``, ``!a`` or ``~a``."""
    if isinstance(operand, Tensor):
        if sign == "!":
            refuse("'!' of a tensor", "write A == 0")
        return _SIGNS[sign](operand)
    if isinstance(operand, Indexed | Combined):
        refuse(
            "inside a contraction there is only '*' or '+' of two tensors",
            "compute the rest elementwise, before or after it: auto Neg = -T",
        )
    if isinstance(operand, TensorDim | IndexExpression) and sign in "+-":
        return -operand if sign == "-" else operand
    if is_number(operand):
        if sign == "!":
            return not operand
        if sign == "~" and not isinstance(operand, float):
            return ~operand
        if sign in "+-":
            return _in_range(-operand if sign == "-" else +operand)
    refuse(f"'{sign}' takes no operand that is {described(operand)}", "use tensors, sizes and numbers")


def _of_texts(sign: str, left: Any, right: Any) -> bool:
    if not (isinstance(left, str) and isinstance(right, str) and sign in ("==", "!=")):
        refuse(f"'{sign}' of {described(left)} and {described(right)}", "texts are compared by == and !=")
    return (left == right) is (sign == "==")


def _of_elements(sign: str, left: Any, right: Any) -> Any:
    if sign in (">=", "<="):
        what = "maximum" if sign == ">=" else "minimum"
        refuse(f"a {what} inside of an expression", f"it is a statement of its own: O(i) {sign} I(i, j);")
    if sign == "==":
        refuse("'==' is not a statement", "write '=' to assign; compare whole tensors: A == B")
    if sign not in "+*":
        refuse(
            "inside a contraction there is only '*' or '+' of two tensors",
            "compute the rest elementwise, before or after it: auto Neg = -T",
        )
    return _ALL[sign](left, right)


def _of_tensors(sign: str, left: Any, right: Any) -> Any:
    if isinstance(left, IndexExpression) or isinstance(right, IndexExpression):
        refuse("a tensor and an index variable", "the coordinate as a tensor is index({M, N}, 0)")
    if sign in ("&&", "||"):
        cure = {"&&": "write A & B of comparisons, or select(A, B, 0)", "||": "write A | B of comparisons"}
        refuse(f"the values of a tensor are not known while the function is read, as '{sign}' asks", cure[sign])
    return _ALL[sign](left, right)


def _of_indices(sign: str, left: Any, right: Any) -> Any:
    if isinstance(left, float) or isinstance(right, float):
        refuse("an index variable and a real number", "subscripts are sums of indices times whole numbers")
    if sign not in ("+", "-", "*", "/", "%", *_COMPARISONS):
        refuse(f"'{sign}' of an index variable", "subscripts are sums of indices times sizes")
    if not isinstance(left, IndexExpression) and sign in _COMPARISONS:
        refuse("a constraint has the index variables on its left", "write e < C, which means 0 <= e < C")
    return operator.floordiv(left, right) if sign == "/" else _ALL[sign](left, right)


def _of_sizes(sign: str, left: Any, right: Any) -> Any:
    if isinstance(left, float) or isinstance(right, float):
        left, right = (float(int(each)) if isinstance(each, TensorDim) else each for each in (left, right))
        return _of_numbers(sign, left, right)
    left, right = (int(each) if isinstance(each, bool) else each for each in (left, right))
    if sign == "/":
        return truncated(left, right)
    if sign in ("+", "-", "*", *_COMPARISONS):
        return _ALL[sign](left, right)
    return _of_numbers(sign, int(left), int(right))


def _of_numbers(sign: str, left: Any, right: Any) -> Any:
    if sign in _COMPARISONS:
        return _COMPARISONS[sign](left, right)
    if sign in ("&&", "||"):
        return bool(left and right) if sign == "&&" else bool(left or right)
    if sign in ("/", "%") and right == 0:
        refuse("a division by zero", "divide by what is not 0")
    if sign in ("%", "&", "|", "^", "<<", ">>"):
        if isinstance(left, float) or isinstance(right, float):
            refuse(f"'{sign}' of real numbers", "it is an operator of whole numbers")
        if sign in ("<<", ">>") and not 0 <= right < 64:
            refuse(f"a shift by {right}", "shift by 0 to 63")
    if sign in ("/", "%") and not (isinstance(left, float) or isinstance(right, float)):
        # C++ rounds toward zero, Python down.
        quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
        return _in_range(quotient if sign == "/" else left - right * quotient)
    try:
        return _in_range(_ARITHMETIC[sign](left, right))
    except OverflowError:
        refuse(f"{left} {sign} {right} is too large", "real numbers are those of 64 bits")


def _in_range(value: Any) -> Any:
    if isinstance(value, float):
        if not math.isfinite(value):
            refuse("a real number that is too large", "real numbers are those of 64 bits")
    elif not _SMALLEST <= value < _LARGEST:
        refuse(f"the whole number {value} is too large", "whole numbers have 64 bits")
    return value
