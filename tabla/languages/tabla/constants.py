"""Values that are known from the text of a program, by the rules of the kernel."""

from __future__ import annotations

import re
from fractions import Fraction

from tabla.graph.graph import Affine
from tabla.languages.kernel import constants as kernel
from tabla.languages.tabla.kernel import kernel_expression
from tabla.languages.tabla.program import Expression

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?")


def constant_value(expression: Expression) -> Fraction | None:
    """Return the value of an expression, or None, as :func:`tabla.languages.kernel.constants.constant_value` does."""
    return kernel.constant_value(kernel_expression(expression))


def affine_of(expression: Expression) -> Affine | None:
    """Return an expression as a sum of iterators, or None, as the function of the kernel does."""
    return kernel.affine_of(kernel_expression(expression))


def parse_number(text: str) -> Fraction | None:
    """Return the value of a number on the command line, which may have a sign. Return None if it is not a number."""
    text = text.strip()
    return Fraction(text) if len(text) <= 400 and _NUMBER.fullmatch(text) else None
