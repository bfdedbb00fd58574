"""Intervals that hold every value of a tensor, computed from the intervals of what the program is given.

This is interval arithmetic (R. E. Moore, Interval Analysis, 1966): each operation takes the intervals of its operands
and returns one that holds all its results. It knows nothing of dependences between operands, so an interval may be much
wider than the values. An infinite end says that nothing is known.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import assert_never

import numpy as np

from tabla.graph.functions import FUNCTIONS, apply_to_reals
from tabla.graph.graph import (
    Compare,
    Constant,
    Divide,
    Extreme,
    Function,
    Gather,
    Graph,
    Linear,
    Operand,
    Ordinal,
    Product,
    Read,
    Scatter,
    Statement,
    Term,
)


@dataclass(frozen=True, slots=True)
class Interval:
    """The real numbers from `low` to `high`, both included. The ends may be infinite."""

    low: float
    high: float

    @property
    def magnitude(self) -> float:
        """The largest absolute value."""
        return max(abs(self.low), abs(self.high))

    def __add__(self, other: Interval) -> Interval:
        return Interval(self.low + other.low, self.high + other.high)

    def __mul__(self, other: Interval) -> Interval:
        # Nothing times whatever is nothing: an infinite end stands for finite values that are not known.
        ends = [_times(a, b) for a in (self.low, self.high) for b in (other.low, other.high)]
        return Interval(min(ends), max(ends))

    def __or__(self, other: Interval) -> Interval:
        return Interval(min(self.low, other.low), max(self.high, other.high))

    def scaled(self, factor: float) -> Interval:
        """Return the products with a number."""
        return self * Interval(factor, factor)


UNKNOWN = Interval(-math.inf, math.inf)
ZERO = Interval(0.0, 0.0)
TRUTH = Interval(0.0, 1.0)
"""Comparisons return 0 or 1."""


def _times(left: float, right: float) -> float:
    return 0.0 if left == 0 or right == 0 else left * right


def intervals(graph: Graph, given: Mapping[str, Interval]) -> dict[str, Interval]:
    """Return an interval for every tensor of a graph.

    `given` has the intervals of inputs, labels, models and constants. A tensor of these roles that is missing in it,
    and a model with an update whatever `given` says, may have any value.
    """
    found: dict[str, Interval] = {}
    for name, tensor in graph.tensors.items():
        if tensor.role in ("input", "label", "model", "constant"):
            found[name] = UNKNOWN if name in graph.updates else given.get(name, UNKNOWN)
        elif tensor.filled:
            found[name] = ZERO
        elif tensor.role == "next":
            # Elements without an update keep what the model holds.
            found[name] = UNKNOWN
    for statement in graph.statements:
        values = _operation(statement, found)
        before = found.get(statement.target)
        found[statement.target] = values if before is None else before | values
    return {name: found.get(name, ZERO) for name in graph.tensors}


def _operand(statement: Statement, operand: Operand, found: Mapping[str, Interval]) -> Interval:
    match operand:
        case Read(tensor=tensor):
            return found[tensor]
        case Constant(value=value):
            return Interval(float(value), float(value))
        case Ordinal(value=value, fraction=fraction):
            low, high = value.bounds(statement.box)
            return Interval(math.ldexp(low, -fraction), math.ldexp(high, -fraction))
        case _:
            assert_never(operand)


def _operation(statement: Statement, found: Mapping[str, Interval]) -> Interval:
    def of(operand: Operand) -> Interval:
        return _operand(statement, operand, found)

    operation = statement.operation
    match operation:
        case Linear(test=test) if test is not None:
            return TRUTH
        case Linear(terms=terms, shift=shift):
            total = ZERO
            for term in terms:
                total = total + _term(statement, term, shift, of)
            return total
        case Compare():
            return TRUTH
        case Function(name=name, operand=operand):
            return _function(name, of(operand))
        case Divide(left=left, right=right, fraction=fraction):
            return _quotient(of(left), of(right), fraction)
        case Product():
            return _product(statement, operation, of)
        case Extreme(operands=operands, initial=initial):
            # The extreme of no operands is a word of the format, not a real number.
            empty = bool(statement.constraints) and initial is None
            parts = [of(each) for each in (*operands, *(() if initial is None else (initial,)))]
            low, high = min(part.low for part in parts), max(part.high for part in parts)
            return UNKNOWN if empty else Interval(low, high)
        case Gather(tensor=tensor):
            return found[tensor]
        case Scatter(kept=kept, landings=landings):
            parts = [of(kept), *(of(each.value) for each in landings)]
            return Interval(min(part.low for part in parts), max(part.high for part in parts))
        case _:
            assert_never(operation)


def _points(statement: Statement, names: tuple[str, ...]) -> int:
    return math.prod(statement.box[name].extent for name in names)


def _term(statement: Statement, term: Term, shift: int, of: Callable[[Operand], Interval]) -> Interval:
    value = Interval(float(term.sign), float(term.sign))
    for factor in term.factors:
        value = value * of(factor)
    if len(term.factors) == 2:
        value = value.scaled(2.0**-shift)
    if statement.constraints:
        # Constraints may leave out any of the points.
        value = value | ZERO
    return value.scaled(float(_points(statement, term.reduce)))


def _quotient(left: Interval, right: Interval, fraction: int | None) -> Interval:
    if right.low <= 0 <= right.high:
        return UNKNOWN
    value = left * Interval(1 / right.high, 1 / right.low)
    return value if fraction is None else (value | ZERO).scaled(2.0**-fraction)


def _product(statement: Statement, product: Product, of: Callable[[Operand], Interval]) -> Interval:
    scale = 2.0**product.shift
    value = Interval(scale, scale) if product.initial is None else of(product.initial)
    step, reached = of(product.operand).scaled(1 / scale), value
    for _ in range(_points(statement, product.reduce)):
        value = value * step
        reached = reached | value
        if not math.isfinite(reached.magnitude):
            return UNKNOWN
    # Each step is rounded to a word, so each of them needs room.
    return reached


_RISING = {"sigmoid", "tanh", "exp", "erf", "atan", "arc"}
_RISING_FROM = {"log": 0.0, "sqrt": 0.0}
"""Functions that rise, from the end of their domain on."""


def _function(name: str, operand: Interval) -> Interval:
    if name in _RISING or operand.low >= _RISING_FROM.get(name, math.inf):
        low, high = (float(value) for value in apply_to_reals(name, np.array([operand.low, operand.high])))
        # A lower end that is too large for float64 is no number that sums could take.
        return Interval(min(low, sys.float_info.max), high)
    if name == "gaussian":
        return TRUTH
    return Interval(-1.0, 1.0) if FUNCTIONS[name].bounded else UNKNOWN
