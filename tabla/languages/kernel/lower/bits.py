"""Remainders, shifts and bits of whole numbers, on a machine that has none of them.

A whole number a of a format with I integer bits is a sum of bits: ``a = sum(2^k * bit(k)) - 2^(I-1) * sign`` for k in
[0, I - 1), and ``bit(k) = (a >> k) - 2 * (a >> (k + 1))``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NoReturn

from tabla.base.source import Span
from tabla.graph.format import Format
from tabla.graph.graph import Compare, Constant, Divide, Linear, Operand, Term
from tabla.graph.whole import Part, halved, modulus, negated
from tabla.languages.kernel import tree
from tabla.languages.kernel.faults import refused
from tabla.languages.kernel.lower.builder import Sum, single
from tabla.languages.kernel.lower.choices import undivided
from tabla.languages.kernel.signatures import SIGNATURES

_ONE = Constant(value=Fraction(1))
_ZERO = Constant(value=Fraction(0))


def is_of_bits(call: tree.Apply) -> bool:
    """Return whether a call is an operator on the bits of integers."""
    return SIGNATURES[call.function].rule == "integers"


class Bits:
    """Operators on whole numbers that are real words of a format. `part` makes temporaries."""

    def __init__(self, part: Part, number_format: Format) -> None:
        self._part, self._format = part, number_format
        self._places = number_format.integer - 1

    def applied(self, call: tree.Apply, words: Sequence[Operand]) -> Sum:
        """Return an operator of integers on the words of its arguments.

        A number that the format cannot hold, and a shift by what is no number, are a `TablaError`.
        """
        for each in words:
            if isinstance(each, Constant) and not self._format.holds(each.value):
                self._refuse_number(f"{each.value} does not fit into {self._format}", call.span)
        one, *others = words
        match call.function, others:
            case "bit_not", []:
                return undivided((Term(factors=(_ONE,), sign=-1), Term(factors=(one,), sign=-1)))
            case "shift_left", [places]:
                return self._left(call, one, places)
            case "shift_right", [places]:
                return undivided(self.right(one, _places(call, places)))
            case "bit_and", [other]:
                return undivided(self.conjunction(one, other))
        both = self.conjunction(one, others[0])
        alone = single(both[0]) if len(both) == 1 and both[0].sign == 1 else None
        less = Term(factors=(alone or self._part(Linear(terms=both)) if both else _ZERO,), sign=-1)
        either = (Term(factors=(one,)), Term(factors=(others[0],)), less)
        return undivided(either if call.function == "bit_or" else (*either, less))

    def _left(self, call: tree.Apply, word: Operand, by: Operand) -> Sum:
        places = _places(call, by)
        if not places:
            return _term(word)
        factor = Fraction(1 << places)
        if not self._format.holds(factor):
            integers = self._format.integer
            hint = f"an integer of {self._format} has {integers} bits: choose a format with more of them"
            raise refused(f"{factor} does not fit {self._format}", call.span, hint)
        return (Term(factors=(word, Constant(value=factor, span=call.span))),)

    def _refuse_number(self, message: str, span: Span | None) -> NoReturn:
        end = Fraction(self._format.highest, self._format.one)
        hint = f"choose a format with more integer bits: the numbers of {self._format} end at {float(end):g}"
        raise refused(message, span, hint)

    def remainder(self, left: Operand, right: Operand) -> Sum:
        """Return what the quotient toward zero leaves. A remainder of a division by 0 is `left`."""
        fraction = self._format.fraction
        if not fraction:
            # With a bit behind the point, a word holds the quotient of any two whole numbers.
            right = modulus(left, right, self._part, self._format)
        # The quotient stays an integer n, whose word is n: it needs no place that the format lacks.
        quotient = self._part(Divide(left=left, right=right, fraction=fraction))
        terms = (Term(factors=(left,)), Term(factors=(right, quotient), sign=-1))
        return _term(self._part(Linear(terms=terms, shift=-fraction)))

    def right(self, word: Operand, places: int) -> Sum:
        """Return ``word >> places``, rounded down."""
        if places < self._places:
            return _term(halved(word, places, self._part, self._format.fraction))
        return negated(_term(self._sign(word)))

    def conjunction(self, left: Operand, right: Operand) -> Sum:
        """Return ``left & right``. A constant costs least on the right."""
        if isinstance(left, Constant):
            left, right = right, left
        if isinstance(right, Constant):
            return self._masked(left, int(right.value))
        terms: Sum = ()
        for place, (one, other) in enumerate(zip(self._bits(left), self._bits(right), strict=True)):
            both = self._part(Linear(terms=(Term(factors=(one, other)),)))
            terms += self._weighted(both, place)
        return terms

    def _masked(self, word: Operand, mask: int) -> Sum:
        """A run of ones from bit low to bit high - 1 keeps ``(a >> low) * 2^low - (a >> high) * 2^high``."""
        terms: Sum = ()
        for low, high in _runs(mask, self._places):
            terms += self._scaled(word, low) + negated(self._scaled(word, high))
        if mask < 0:
            terms += self._weighted(self._sign(word), self._places)
        return terms

    def _scaled(self, word: Operand, places: int) -> Sum:
        """``(word >> places) * 2^places``."""
        if not places:
            return _term(word)
        if places < self._places:
            return self._weighted(halved(word, places, self._part, self._format.fraction), places)
        return self._weighted(self._sign(word), self._places)

    def _weighted(self, word: Operand, place: int) -> Sum:
        """The word times the weight of a bit, which is negative for the sign."""
        weight = Fraction(-(1 << place) if place == self._places else 1 << place)
        return _term(word) if weight == 1 else (Term(factors=(word, Constant(value=weight))),)

    def _bits(self, word: Operand) -> Iterator[Operand]:
        """All bits from the lowest one; the sign is the last."""
        sign = self._sign(word)
        above = _term(word)
        for place in range(self._places):
            this = above
            above = self.right(word, place + 1) if place + 1 < self._places else negated(_term(sign))
            yield self._part(Linear(terms=this + negated(above) + negated(above)))
        yield sign

    def _sign(self, word: Operand) -> Operand:
        return self._part(Compare(op="<", left=word, right=_ZERO))


def _term(word: Operand) -> Sum:
    return (Term(factors=(word,)),)


def _runs(mask: int, places: int) -> Iterator[tuple[int, int]]:
    """The runs of ones among the lowest bits, from the lowest one, as half-open intervals."""
    low = None
    for place in range(places + 1):
        one = place < places and mask >> place & 1
        if one and low is None:
            low = place
        elif not one and low is not None:
            yield low, place
            low = None


def _places(call: tree.Apply, by: Operand) -> int:
    """Return by how many places a shift moves a word."""
    if not isinstance(by, Constant):
        hint = "shift by a number, or multiply with a tensor of powers of two"
        raise refused("a shift by a tensor does not run on the machine", call.span, hint)
    return int(by.value)
