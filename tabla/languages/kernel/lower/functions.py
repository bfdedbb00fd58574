"""Powers of words by constants and idle limits, made alike for every notation.

Powers are made so that nothing saturates before the result does (decision 4). Functions that are made of others are in
``tabla/graph/composed_functions.py``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from tabla.base.source import Label, Span, TablaError
from tabla.graph.composed_functions import ComposedFunction
from tabla.graph.format import Format
from tabla.graph.graph import Constant, Divide, ExtremeOp, Function, FunctionName, Linear, Operand, Read, Term
from tabla.graph.whole import Part
from tabla.languages.kernel.lower.builder import Sum, single
from tabla.languages.kernel.lower.scaled import times

MOST_FACTORS = 16
"""The largest whole power that is multiplied factor by factor. Larger ones are squared repeatedly."""
_ONE = Constant(value=Fraction(1))
_ZERO = Constant(value=Fraction(0))


def idle(op: ExtremeOp, limit: Fraction | None, number_format: Format) -> bool:
    """Return whether no word reaches a limit, so that it changes none: ``min(a, 1000)`` where words end at 32."""
    return limit is not None and not number_format.holds(limit) and (limit > 0 if op == "min" else limit < 0)


def refuse_without_fraction(function: ComposedFunction, number_format: Format, span: Span | None) -> None:
    """Raise `TablaError` where a function needs fraction bits and a format has none."""
    if function.needs_fraction and not number_format.fraction:
        message = f"{function.name} needs fraction bits, {number_format} has none"
        place = [Label(span)] if span else []
        raise TablaError(message, *place, hint="choose a format with fraction bits, such as q12.4")


@dataclass(frozen=True, slots=True, kw_only=True)
class Functions:
    """Functions of words of a format. `part` makes temporaries."""

    part: Part
    number_format: Format

    def power(self, base: Sum, exponent: Fraction, span: Span | None) -> Sum:
        """Return a value to the power of a constant, which stands at `span`.

        The power 0 is 1, also of 0. A whole power is a product of the value, and a half more is its square root as one
        more factor. A negative power is the power of the reciprocals of value and root: where the reciprocal
        saturates, so does the result. Any other power is ``exp(exponent * log(value))``.
        """
        if exponent in (0, 1):
            return base if exponent else _term(_ONE)
        word = self._word(base)
        if (2 * exponent).denominator != 1:
            logarithm = _term(self._function("log", word))
            product = times(logarithm, exponent, span, lambda made, summed: self.part(made))
            return _term(self._function("exp", self._word(product)))
        whole, half = divmod(int(abs(2 * exponent)), 2)
        factors: list[Sum] = []
        if whole:
            factors.append(self._whole(self._reciprocal(word) if exponent < 0 else word, whole))
        if half:
            root = self._function("sqrt", word)
            factors.append(_term(self._reciprocal(root) if exponent < 0 else root))
        if len(factors) == 1:
            return factors[0]
        return self._product(*(self._word(factor) for factor in factors))

    def _whole(self, word: Operand, exponent: int) -> Sum:
        """Return a word to a power of at least 1. Every product is rounded; the last one is left to the sum."""
        terms = _term(word)
        if exponent <= MOST_FACTORS:
            for _ in range(exponent - 1):
                terms = self._product(self._word(terms), word)
            return terms
        # From there on the power of every word but 1 and -1 has saturated, or is 0.
        last = 2 * self.number_format.width * self.number_format.one
        if exponent > last:
            exponent = last + (exponent - last) % 2
        for digit in f"{exponent:b}"[1:]:
            own = self._word(terms)
            terms = self._product(own, own)
            if digit == "1":
                terms = self._product(self._word(terms), word)
        return terms

    def _reciprocal(self, word: Operand) -> Read:
        return self.part(Divide(left=_ONE, right=word))

    def _function(self, name: FunctionName, word: Operand) -> Read:
        return self.part(Function(name=name, operand=word))

    def _word(self, terms: Sum) -> Operand:
        """Return terms as one word, a temporary where they are more."""
        if not terms:
            return _ZERO
        if len(terms) == 1 and terms[0].sign == 1 and (operand := single(terms[0])) is not None:
            return operand
        return self.part(Linear(terms=terms))

    @staticmethod
    def _product(one: Operand, other: Operand) -> Sum:
        return (Term(factors=(one, other)),)


def _term(word: Operand) -> Sum:
    return (Term(factors=(word,)),)
