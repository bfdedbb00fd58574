"""What is known of a node before it is lowered: its value, if it is a number, and the subscripts of its operands."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
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


def _applied(node: Elementwise, known: Sequence[Fraction]) -> Fraction | None:
    """Return an operator of exact numbers, a function in float64. None if that has no value."""
    operator = node.operator
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


def constants_of(nodes: Iterable[Node]) -> dict[Node, Fraction]:
    """Return the exact numbers of the nodes that are made of numbers alone. Operands come before what uses them."""
    found: dict[Node, Fraction] = {}
    for node in nodes:
        match node:
            case Number(value=value):
                found[node] = value
            case Elementwise(shape=(), inputs=inputs) if all(each in found for each in inputs):
                made = _applied(node, [found[each] for each in inputs])
                if made is not None:
                    found[node] = made
    return found


def refuse(message: str, span: Span | None, hint: str = "tabla eval --float has everything") -> NoReturn:
    """Raise a fault for a part of the program that the graph cannot express."""
    raise TablaError(message, *([Label(span)] if span is not None else []), hint=hint)
