"""The derivatives of the kernel's functions by each of their arguments.

Where two arguments of a binary maximum or minimum are equal, the second one gets the derivative, because a text writes
``max(x, 0.0)``. A function that is constant between jumps, as a comparison, has the derivative 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from tabla.languages.kernel.constants import constant_value
from tabla.languages.kernel.signatures import apply
from tabla.languages.kernel.tree import Apply, Expression, Limit, Number

Slope = Callable[[Expression, Expression, tuple[Expression, ...]], Expression]
"""Returns a derivative times the derivative of the value, given the latter, the value, and the arguments."""


def number(value: Fraction | int) -> Number:
    """Return a real number."""
    return Number(value=Fraction(value))


def times(one: Expression, other: Expression) -> Expression:
    """Return a product. Products with 0, 1 and -1 are simplified, and numbers are multiplied."""
    for factor, rest in ((one, other), (other, one)):
        match factor:
            case Number(value=value) if value == 0:
                return factor
            case Number(value=value) if value == 1:
                return rest
            case Number(value=value) if isinstance(rest, Number):
                return number(value * rest.value)
            case Number(value=value) if value == -1:
                return negative(rest)
    return apply("multiply", one, other)


def negative(value: Expression) -> Expression:
    """Return the negative of a value; two signs cancel."""
    match value:
        case Number(value=constant):
            return number(-constant)
        case Apply(function="negate", arguments=(inner,)):
            return inner
        case _:
            return apply("negate", value)


def _quotient(d: Expression, value: Expression, by: Expression) -> Expression:
    constant = constant_value(by)
    return times(d, number(1 / constant)) if constant else apply("divide", d, by)


def _chosen(test: str, d: Expression, arguments: tuple[Expression, ...], *, first: bool) -> Expression:
    limited = [isinstance(argument, Limit) for argument in arguments]
    if any(limited):  # a maximum with the lowest number is the other argument
        return number(0) if limited[0] == first else d
    left = apply(test, *arguments)
    return apply("select", left, d, number(0)) if first else apply("select", left, number(0), d)


def _power(d: Expression, base: Expression, exponent: Expression) -> Expression:
    constant = constant_value(exponent)
    if constant is None:
        lower = apply("power", base, apply("subtract", exponent, number(1)))
        return times(d, times(exponent, lower))
    if constant == 2:
        return times(d, times(number(2), base))
    return times(d, times(number(constant), apply("power", base, number(constant - 1))))


def _less(value: Expression) -> Expression:
    return apply("subtract", number(1), value)


def _squares(arguments: Sequence[Expression]) -> Expression:
    """Return the sum of the squares of two arguments."""
    y, x = arguments
    return apply("add", times(x, x), times(y, y))


def _chord(sine: Expression) -> Expression:
    """Return the cosine of an angle between -90 and 90 degrees, given its sine."""
    return apply("sqrt", _less(times(sine, sine)))


_BELL = Fraction(2 / math.sqrt(math.pi))
SLOPES: Mapping[str, tuple[Slope, ...]] = {
    "add": (lambda d, v, a: d, lambda d, v, a: d),
    "subtract": (lambda d, v, a: d, lambda d, v, a: negative(d)),
    "negate": (lambda d, v, a: negative(d),),
    "multiply": (lambda d, v, a: times(d, a[1]), lambda d, v, a: times(d, a[0])),
    "divide": (lambda d, v, a: _quotient(d, v, a[1]), lambda d, v, a: negative(times(apply("divide", d, a[1]), v))),
    "remainder": (
        lambda d, v, a: d,
        # The quotient, rounded toward zero, does not change between jumps.
        lambda d, v, a: times(d, apply("divide", apply("subtract", v, a[0]), a[1])),
    ),
    "abs": (lambda d, v, a: apply("select", apply("less", a[0], number(0)), negative(d), d),),
    "max": (
        lambda d, v, a: _chosen("greater", d, a, first=True),
        lambda d, v, a: _chosen("greater", d, a, first=False),
    ),
    "min": (lambda d, v, a: _chosen("less", d, a, first=True), lambda d, v, a: _chosen("less", d, a, first=False)),
    "sigmoid": (lambda d, v, a: times(d, times(v, _less(v))),),
    "tanh": (lambda d, v, a: times(d, _less(times(v, v))),),
    "gaussian": (lambda d, v, a: times(d, times(number(-2), times(a[0], v))),),
    "log": (lambda d, v, a: apply("divide", d, a[0]),),
    "exp": (lambda d, v, a: times(d, v),),
    "sqrt": (lambda d, v, a: apply("divide", d, times(number(2), v)),),
    "sin": (lambda d, v, a: times(d, apply("cos", a[0])),),
    "cos": (lambda d, v, a: negative(times(d, apply("sin", a[0]))),),
    "erf": (lambda d, v, a: times(d, times(number(_BELL), apply("gaussian", a[0]))),),
    "softplus": (lambda d, v, a: times(d, apply("sigmoid", a[0])),),
    "atan2": (
        lambda d, v, a: apply("divide", times(d, a[1]), _squares(a)),
        lambda d, v, a: apply("divide", negative(times(d, a[0])), _squares(a)),
    ),
    "tan": (lambda d, v, a: times(d, apply("add", number(1), times(v, v))),),
    "asin": (lambda d, v, a: apply("divide", d, _chord(a[0])),),
    "acos": (lambda d, v, a: negative(apply("divide", d, _chord(a[0]))),),
    "atan": (lambda d, v, a: apply("divide", d, apply("add", number(1), times(a[0], a[0]))),),
    "sinh": (lambda d, v, a: times(d, apply("cosh", a[0])),),
    "cosh": (lambda d, v, a: times(d, apply("sinh", a[0])),),
    "erfc": (lambda d, v, a: times(d, times(number(-_BELL), apply("gaussian", a[0]))),),
    **dict.fromkeys(("floor", "ceil", "round_even"), (lambda d, v, a: number(0),)),
    "power": (
        lambda d, v, a: _power(d, a[0], a[1]),
        lambda d, v, a: times(d, times(v, apply("log", a[0]))),
    ),
    "select": (
        lambda d, v, a: number(0),
        lambda d, v, a: apply("select", a[0], d, number(0)),
        lambda d, v, a: apply("select", a[0], number(0), d),
    ),
    "real": (lambda d, v, a: d if a[0].type == "real" else number(0),),
}
"""By function, the slope by each argument. A function that is not here, and gives reals, has no derivative yet."""
