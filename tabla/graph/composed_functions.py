"""Functions that no function unit has and that every notation has: one record each.

A record has all that notations, evaluators and the lowerings know of such a function. On the machine it is a few
operations of the graph, so the graph's evaluators, the checker, the scheduler and the hardware need to know nothing of
it, and its cost is that of these operations. ``docs/decisions/0046-operations.md`` has the reasons, and
``docs/extend/function.md`` shows how one is added.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tabla.graph import whole
from tabla.graph.curves import Curves
from tabla.graph.decimals import PI
from tabla.graph.format import Format
from tabla.graph.function_reals import Reals
from tabla.graph.graph import (
    Compare,
    Constant,
    Divide,
    Extreme,
    Function,
    Linear,
    Operand,
    Read,
    Term,
    WordConstant,
)
from tabla.graph.whole import Part, Terms


@dataclass(frozen=True, slots=True, kw_only=True)
class ComposedFunction:
    """A function of reals that the machine computes by operations of the graph.

    `name` is its name in TABLA, Tensor Comprehensions, texts of kernels and Tile; `operator` is the name of its node in
    Tile's tree. It takes `arity` words. `reals` is the function on float64 arrays, which broadcast. `folds` is the
    function on numbers and raises `ValueError` or `OverflowError` where it has no value. `words` takes a maker of
    temporaries, the format and the operands, and returns the terms whose sum, rounded once, is the function's word: it
    is the only definition of the words.
    It `needs_fraction` if formats of integers do not have it. It `rounds` if its operations give a whole number only
    because words are rounded. The graph's evaluator in float64 does not round, so programs that learn do not have it.
    """

    name: str
    operator: str
    arity: int
    reals: Callable[..., Reals]
    folds: Callable[..., float]
    words: Callable[..., Terms]
    needs_fraction: bool = False
    rounds: bool = False


_ONE = Constant(value=Fraction(1))
_ZERO = Constant(value=Fraction(0))
_HALF_TURN = WordConstant(value=Fraction(PI))
_QUARTER_TURN = WordConstant(value=Fraction(PI) / 2)


def _soft_plus(part: Part, number_format: Format, word: Operand) -> Terms:
    """Return ``log(1 + exp(word))`` as ``max(word, 0) + log(1 + exp(-|word|))``, where no power saturates."""
    below = part(Compare(op="<", left=word, right=_ZERO))
    falling = part(Function(name="exp", operand=part(Linear(terms=_negative_size(below, word)))))
    bent = part(Function(name="log", operand=part(Linear(terms=(_term(falling), _term(_ONE))))))
    return (_term(word), _term(below, word, sign=-1), _term(bent))


def _arc_tangent(part: Part, number_format: Format, y: Operand, x: Operand) -> Terms:
    """Return the angle of the point (x, y) from the positive x axis: the arc tangent of ``y / x``, in its quadrant.

    The smaller of ``|x|`` and ``|y|`` is divided by the larger, so the quotient lies in 0 to 1 and cannot saturate. The
    arc tangent of the quotient is added to or subtracted from 0, a quarter turn or a half turn. Quotient and arc
    tangent are the only steps that round. The point (0, 0) divides 0 by -1 and has the angle 0. On the negative x axis
    the angle is half a turn, because the word 0 has no sign. Where the format does not hold pi, angles saturate at the
    largest word and its negative.
    """
    left = part(Compare(op="<", left=x, right=_ZERO))
    below = part(Compare(op="<", left=y, right=_ZERO))
    # The negative of a magnitude is a word for all words. The magnitude of the lowest word is none.
    across = part(Linear(terms=_negative_size(left, x)))
    along = part(Linear(terms=_negative_size(below, y)))
    steep = part(Compare(op="<", left=along, right=across))
    longer = part(Extreme(op="min", operands=(along, across)))
    shorter = part(Extreme(op="max", operands=(along, across)))
    origin = part(Compare(op="==", left=longer, right=_ZERO))
    divisor = part(Linear(terms=(_term(longer), _term(origin, sign=-1))))
    angle = part(Function(name="atan", operand=part(Divide(left=shorter, right=divisor))))
    # The angle counts from the half axis that is nearest: that of x, of y where steep, or of -x where neither.
    falls = part(Compare(op="!=", left=steep, right=left))
    behind = part(Compare(op=">", left=left, right=steep))
    half_turn: Terms = (_term(behind, _QUARTER_TURN), _term(behind, _QUARTER_TURN))
    if number_format.holds(_HALF_TURN.value):
        half_turn = (_term(behind, _HALF_TURN),)
    above = part(Linear(terms=(_term(_sign(part, falls), angle), _term(steep, _QUARTER_TURN), *half_turn)))
    return (_term(_sign(part, below), above),)


def _term(*factors: Operand, sign: int = 1) -> Term:
    return Term(factors=factors, sign=sign)


def _negative_size(below: Operand, word: Operand) -> Terms:
    """Return ``-|word|``. `below` is 1 where the word is below 0, and else 0."""
    return (_term(word, sign=-1), _term(below, word), _term(below, word))


def _sign(part: Part, negative: Operand) -> Read:
    """Return -1 where a condition is 1, and 1 where it is 0."""
    return part(Linear(terms=(_term(_ONE), _term(negative, sign=-1), _term(negative, sign=-1))))


_ALL = (
    ComposedFunction(
        name="softplus",
        operator="soft_plus",
        arity=1,
        reals=lambda t: np.logaddexp(0.0, t),
        folds=lambda t: max(t, 0.0) + math.log1p(math.exp(-abs(t))),
        words=_soft_plus,
    ),
    ComposedFunction(name="atan2", operator="atan2", arity=2, reals=np.arctan2, folds=math.atan2, words=_arc_tangent),
    ComposedFunction(
        name="tan",
        operator="tangent",
        arity=1,
        reals=np.tan,
        folds=math.tan,
        words=lambda part, number_format, word: Curves(part, number_format).tangent(word),
    ),
    ComposedFunction(
        name="asin",
        operator="arc_sine",
        arity=1,
        reals=np.arcsin,
        folds=math.asin,
        words=lambda part, number_format, word: Curves(part, number_format).arc(word, from_cosine=False),
    ),
    ComposedFunction(
        name="acos",
        operator="arc_cosine",
        arity=1,
        reals=np.arccos,
        folds=math.acos,
        words=lambda part, number_format, word: Curves(part, number_format).arc(word, from_cosine=True),
    ),
    ComposedFunction(
        name="atan",
        operator="arc_tangent",
        arity=1,
        reals=np.arctan,
        folds=math.atan,
        words=lambda part, number_format, word: Curves(part, number_format).arc_tangent(word),
    ),
    ComposedFunction(
        name="sinh",
        operator="hyperbolic_sine",
        arity=1,
        reals=np.sinh,
        folds=math.sinh,
        words=lambda part, number_format, word: Curves(part, number_format).hyperbolic(word, -1),
        needs_fraction=True,
    ),
    ComposedFunction(
        name="cosh",
        operator="hyperbolic_cosine",
        arity=1,
        reals=np.cosh,
        folds=math.cosh,
        words=lambda part, number_format, word: Curves(part, number_format).hyperbolic(word, 1),
        needs_fraction=True,
    ),
    ComposedFunction(
        name="erfc",
        operator="complementary_error_function",
        arity=1,
        reals=np.vectorize(math.erfc, otypes=[np.float64]),
        folds=math.erfc,
        words=lambda part, number_format, word: Curves(part, number_format).rest_of_error(word),
    ),
    ComposedFunction(
        name="floor",
        operator="floor",
        arity=1,
        reals=np.floor,
        folds=math.floor,
        words=lambda part, number_format, word: (_term(whole.floor(word, part, number_format.fraction)),),
        rounds=True,
    ),
    ComposedFunction(
        name="ceil",
        operator="ceil",
        arity=1,
        reals=np.ceil,
        folds=math.ceil,
        words=lambda part, number_format, word: (_term(whole.ceil(word, part, number_format.fraction)),),
        rounds=True,
    ),
    ComposedFunction(
        name="round_even",
        operator="round",
        arity=1,
        reals=np.round,
        folds=round,
        words=lambda part, number_format, word: whole.half_even(word, part, number_format.fraction),
        rounds=True,
    ),
)

COMPOSED_FUNCTIONS: dict[str, ComposedFunction] = {function.name: function for function in _ALL}
"""Every composed function by its name in the notations."""
BY_OPERATOR: dict[str, ComposedFunction] = {function.operator: function for function in _ALL}
"""Every composed function by its operator in Tile's tree."""
