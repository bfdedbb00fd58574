"""Curves that the function unit does not have, made of those that it has (decision 14, "Functions")."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

from tabla.graph.decimals import PI
from tabla.graph.format import Format
from tabla.graph.graph import Compare, CompareOp, Constant, Divide, Function, FunctionName, Linear, Operand, Read, Term
from tabla.graph.whole import Part, Terms, negated

_ONE = Constant(value=Fraction(1))
_HALF = Constant(value=Fraction(1, 2))
_TURN = Fraction(PI)
_QUARTER = Constant(value=_TURN / 2)


class Curves:
    """Functions of one word of a format. `part` makes temporaries."""

    def __init__(self, part: Part, number_format: Format) -> None:
        self._part, self._format = part, number_format

    def tangent(self, word: Operand) -> Terms:
        """Return sine over cosine."""
        return _term(self._part(Divide(left=self._function("sin", word), right=self._function("cos", word))))

    def rest_of_error(self, word: Operand) -> Terms:
        """Return 1 less the error function."""
        return (*_term(_ONE), *negated(_term(self._function("erf", word))))

    def arc_tangent(self, word: Operand) -> Terms:
        """Return the arc tangent. Beyond -1 and 1 it is a quarter turn less the arc tangent of the reciprocal."""
        above, below, outside = self._outside(word, Fraction(1))
        # One quotient for both: word / 1 inside, 1 / word outside. So nothing is divided by 0.
        over = self._sum(*_term(word), _times(outside, word, -1), *_term(outside))
        under = self._sum(*_term(_ONE), *negated(_term(outside)), _times(outside, word))
        angle = self._function("atan", self._part(Divide(left=over, right=under)))
        turned = _times(outside, angle, -1)
        return (_times(above, _QUARTER), _times(below, _QUARTER, -1), *_term(angle), turned, turned)

    def arc(self, word: Operand, *, from_cosine: bool) -> Terms:
        """Return the arc sine, or the arc cosine.

        It is the arc over a chord: of 2x where x is at most a half, and else of sqrt(2 - 2|x|), which leads to the
        angle's complement. Both chords are at most 1 long.
        """
        above, below, outside = self._outside(word, Fraction(1, 2))
        left = (*_term(outside), _times(above, word, -1), _times(below, word))
        root = self._function("sqrt", self._sum(*left, *left))
        inside = (*_term(word), _times(outside, word, -1))
        arc = self._function("arc", self._sum(*inside, *inside, *_term(root)))
        half = _times(self._sum(*_term(arc), _times(outside, arc, -1)), _HALF)
        if not from_cosine:
            quarters = (_times(above, _QUARTER), _times(below, _QUARTER, -1))
            return (*quarters, _times(above, arc, -1), _times(below, arc), half)
        upper = (*_term(_QUARTER), _times(above, _QUARTER, -1))
        turn: Terms = (_times(below, _QUARTER),)
        if self._format.holds(_TURN):
            turn = (_times(below, Constant(value=_TURN)), _times(below, _QUARTER, -1))
        return (*upper, *turn, _times(above, arc), _times(below, arc, -1), *negated((half,)))

    def hyperbolic(self, word: Operand, sign: int) -> Terms:
        """Return the hyperbolic cosine, or with the sign -1 the hyperbolic sine.

        It is ``2 exp(|x| - 2 ln 2) +- exp(-|x|) / 2``, with the sign of x for the sine. No power leaves the format
        before the result does.

        The word of 2 ln 2 is rounded up. What it is too large by is made good by a factor.
        """
        negative = self._part(Compare(op="<", left=word, right=Constant(value=Fraction(0))))
        turned = _times(negative, word, -1)
        size = self._sum(*_term(word), turned, turned)
        with localcontext() as context:
            context.prec = 50
            quarter = 2 * Decimal(2).ln()
            above = math.ceil(quarter * self._format.one)
            excess = Fraction((Decimal(above) / self._format.one - quarter).exp() - 1)
        lowered = self._sum(*_term(size), Term(factors=(Constant(value=Fraction(above, self._format.one)),), sign=-1))
        rising = self._function("exp", lowered)
        falling = self._function("exp", self._sum(*negated(_term(size))))
        half = (*_term(rising), *self._corrected(rising, excess))
        sum_of = (*half, *half, _times(falling, _HALF, sign))
        if sign > 0:
            return sum_of
        result = self._sum(*sum_of)
        back = _times(negative, result, -1)
        return (*_term(result), back, back)

    def _corrected(self, word: Operand, excess: Fraction) -> Terms:
        """``word * excess`` for an excess below 2^-F, whose digits of F bits each are words."""
        digits: list[Fraction] = []
        one, weight = self._format.one, 1
        # The rest matters while it moves the greatest word by an eighth of a unit.
        while excess * 2 ** (self._format.width + 2) >= weight:
            digits.append(Fraction(math.floor(excess * one**2), one))
            excess = excess * one - digits[-1]
            weight *= one
        terms: Terms = ()
        last = Constant(value=Fraction(1, one))
        for digit in reversed(digits):
            own: Terms = (_times(word, Constant(value=digit)),) if digit else ()
            if own or terms:
                terms = (_times(self._sum(*own, *terms), last),)
        return terms

    def _outside(self, word: Operand, end: Fraction) -> tuple[Read, Read, Read]:
        """Whether a word is above `end`, below ``-end``, or either."""
        tests: list[tuple[CompareOp, Fraction]] = [(">", end), ("<", -end)]
        above, below = (self._part(Compare(op=op, left=word, right=Constant(value=each))) for op, each in tests)
        return above, below, self._sum(*_term(above), *_term(below))

    def _function(self, name: FunctionName, word: Operand) -> Read:
        return self._part(Function(name=name, operand=word))

    def _sum(self, *terms: Term) -> Read:
        return self._part(Linear(terms=terms))


def _term(word: Operand) -> Terms:
    return (Term(factors=(word,)),)


def _times(one: Operand, other: Operand, sign: int = 1) -> Term:
    return Term(factors=(one, other), sign=sign)
