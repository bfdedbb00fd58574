"""What is known of a node before it is lowered: its value, if it is a number, and the subscripts of its operands."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import NoReturn

from tabla.base.source import Label, Span, TablaError
from tabla.graph.composed_functions import BY_OPERATOR
from tabla.graph.graph import Affine
from tabla.languages.tile.program import Elementwise, Node, Number, Operator

Subscripts = tuple[Affine, ...]


def stretched(node: Node, at: Subscripts) -> Subscripts:
    """Return the subscripts of a broadcast operand: they are aligned at the right, and are 0 where the operand's extent
    is 1.
    """
    own = at[len(at) - len(node.shape) :]
    return tuple(Affine() if extent == 1 else each for each, extent in zip(own, node.shape, strict=True))


_FOLD: Mapping[Operator, Callable[[Fraction, Fraction], Fraction]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
}
_REAL: Mapping[str, Callable[..., float]] = {
    "exponential": math.exp,
    "logarithm": math.log,
    "square_root": math.sqrt,
    "hyperbolic_tangent": math.tanh,
    "sine": math.sin,
    "cosine": math.cos,
    "error_function": math.erf,
    **{operator: composed.folds for operator, composed in BY_OPERATOR.items()},
}


def constant(node: Node) -> Fraction | None:
    """Return the exact number that a node made of numbers alone has, with functions in float64. Return None for any
    other node.
    """
    match node:
        case Number(value=value):
            return value
        case Elementwise(operator=operator, inputs=inputs) if not node.shape:
            values = [constant(operand) for operand in inputs]
            if any(value is None for value in values):
                return None
            known = [value for value in values if value is not None]
            if operator in _FOLD:
                return _FOLD[operator](known[0], known[1])
            if operator == "negate":
                return -known[0]
            if operator == "divide" and node.kind == "float" and known[1]:
                return known[0] / known[1]
            try:
                return Fraction(_REAL[operator](*map(float, known))) if operator in _REAL else None
            except (ValueError, OverflowError):
                return None
        case _:
            return None


def refuse(message: str, span: Span | None, hint: str = "tabla eval --float has everything") -> NoReturn:
    """Raise a fault for a part of the program that the graph cannot express."""
    raise TablaError(message, *([Label(span)] if span is not None else []), hint=hint)
