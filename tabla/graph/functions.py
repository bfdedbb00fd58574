"""The functions of the function unit: one descriptor each.

A descriptor has all that compiler and evaluators know of a function. The function's code and the latency of its kind
are the records `FunctionUnit` and `FunctionKind` of ``templates/machine.td``. ``docs/extend/function.md`` shows how one
is added.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

import numpy as np

from tabla.graph import decimals, function_reals, function_tables, function_words
from tabla.graph.format import Format
from tabla.graph.function_reals import Reals
from tabla.graph.function_tables import Curve, Table
from tabla.graph.function_words import Applied, Words


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitFunction:
    """A function of the function unit.

    `kind` names the pipeline that computes it. `reals` is the function on float64 arrays. `table` gives the integers of
    a format. `words` takes a table, the operand's words and the format, and is the function on words, bit for bit.
    `curve` is what a direct function's table was made from.
    `bounded` says that no value leaves -1 to 1 by more than the last places. `operands` is 2 for the two quotients.
    """

    name: str
    kind: str
    reals: Callable[..., Reals]
    table: Callable[[Format], Table]
    words: Callable[..., Applied]
    bounded: bool = False
    operands: int = 1
    curve: Curve | None = None


def direct(name: str, *, reals: Callable[[Reals], Reals], curve: Curve, bounded: bool = False) -> UnitFunction:
    """Return the descriptor of a function that is one table over its clamped argument."""
    return UnitFunction(
        name=name,
        kind="direct",
        reals=reals,
        table=lambda fmt: function_tables.direct_table(name, curve, fmt),
        words=function_words.direct,
        bounded=bounded,
        curve=curve,
    )


def _circular(name: str, quarters: int, reals: Callable[[Reals], Reals]) -> UnitFunction:
    return UnitFunction(
        name=name,
        kind="circular",
        reals=reals,
        table=lambda fmt: function_tables.circular_table(name, fmt, quarters=quarters),
        words=function_words.circular,
    )


# Each curvature has its maximum at a turning point, or at 0; past 2 all three only fall.
_SIGMOID = Curve(
    exactly=lambda t: 1 / (1 + (-t).exp()),
    curvature=lambda start: 1 / (6 * math.sqrt(3)) if start < 2 else math.exp(-start),
    tail=lambda last: 1 / (1 + math.exp(min(last, 700.0))),
)
_TANH = Curve(
    exactly=lambda t: 1 - 2 / (1 + (2 * t).exp()),
    curvature=lambda start: 4 / (3 * math.sqrt(3)) if start < 2 else 8 * math.exp(-2 * start),
    tail=lambda last: 2 / (1 + math.exp(min(2 * last, 700.0))),
)
_GAUSSIAN = Curve(
    exactly=lambda t: (-t * t).exp(),
    curvature=lambda start: 2.0 if start < 2 else (4 * start * start - 2) * math.exp(-start * start),
    tail=lambda last: math.exp(-last * last),
)

_ERF = Curve(
    exactly=decimals.erf,
    curvature=lambda start: 4 * max(start, 0.5**0.5) / math.sqrt(math.pi) * math.exp(-(max(start, 0.5**0.5) ** 2)),
    tail=math.erfc,
)
# Both are constant beyond -1 and 1, where lowering asks for nothing.
_ATAN = Curve(
    exactly=lambda t: decimals.atan(max(Decimal(-1), min(Decimal(1), t))),
    curvature=lambda start: 2 * max(start, 3**-0.5) / (1 + max(start, 3**-0.5) ** 2) ** 2 if start < 1 else 0.0,
    tail=lambda last: math.pi / 4 - math.atan(min(1.0, last)),
    corners=True,
)
_ARC = Curve(
    exactly=lambda t: decimals.arc(max(Decimal(-1), min(Decimal(1), t))),
    curvature=lambda start: 0.25 / 0.75**1.5 if start < 1 else 0.0,
    tail=lambda last: math.pi / 3 - 2 * math.asin(min(1.0, last) / 2),
    corners=True,
)

_ALL = (
    direct("sigmoid", reals=function_reals.sigmoid, curve=_SIGMOID, bounded=True),
    direct("tanh", reals=np.tanh, curve=_TANH, bounded=True),
    direct("gaussian", reals=lambda t: np.exp(-(t * t)), curve=_GAUSSIAN, bounded=True),
    UnitFunction(
        name="exp",
        kind="exp",
        reals=np.exp,
        table=function_tables.exp_table,
        words=function_words.exponential,
    ),
    UnitFunction(
        name="log",
        kind="log",
        reals=np.log,
        table=function_tables.log_table,
        words=function_words.logarithm,
    ),
    UnitFunction(
        name="sqrt",
        kind="sqrt",
        reals=np.sqrt,
        table=lambda fmt: Table(name="sqrt", kind="sqrt"),
        words=lambda made, words, fmt: function_words.square_root(words, fmt),
    ),
    UnitFunction(
        name="divide",
        kind="divide",
        reals=function_reals.divide,
        table=lambda fmt: Table(name="divide", kind="divide"),
        words=lambda made, left, right, fmt: function_words.divide(left, right, fmt),
        operands=2,
    ),
    _circular("sin", 0, np.sin),
    _circular("cos", 1, np.cos),
    UnitFunction(
        name="quotient",
        kind="quotient",
        reals=function_reals.quotient,
        table=lambda fmt: Table(name="quotient", kind="quotient"),
        words=lambda made, left, right, fmt: function_words.quotient(left, right, fmt),
        operands=2,
    ),
    direct("erf", reals=function_reals.erf, curve=_ERF, bounded=True),
    direct("atan", reals=function_reals.atan, curve=_ATAN, bounded=True),
    direct("arc", reals=function_reals.arc, curve=_ARC),
)

FUNCTIONS: dict[str, UnitFunction] = {function.name: function for function in _ALL}
"""Every function by name. A descriptor of your own, put in here, is known to the compiler from then on."""


@lru_cache(maxsize=256)
def table(name: str, fmt: Format) -> Table:
    """Return the table of a function in a format."""
    return FUNCTIONS[name].table(fmt)


def apply_to_words(name: str, words: Words, fmt: Format) -> Applied:
    """Return a function of one operand, bit for bit, on an array of words inside the range of the format."""
    return FUNCTIONS[name].words(table(name, fmt), words, fmt)


def apply_to_reals(name: str, values: Reals) -> Reals:
    """Return a function of one operand on an array of reals.

    A value outside the domain is -inf or nan; one that is too large is inf.
    """
    with np.errstate(all="ignore"):
        return FUNCTIONS[name].reals(values)
