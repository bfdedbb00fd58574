"""Whole numbers made of real words, on a machine that only rounds to words.

A word times the last place, 2^-F, is the whole number nearest to the word, as an integer, with halves rounded up.
Multiplied by 2^F, that integer is the same whole number as a real word.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from tabla.graph.format import Format
from tabla.graph.graph import Compare, Constant, Divide, Linear, Operand, Operation, Read, Term

Part = Callable[[Operation], Read]
"""Makes a temporary of an operation."""

Terms = tuple[Term, ...]
"""A sum that is not rounded yet."""

_HALF = Constant(value=Fraction(1, 2))
_ONE = Constant(value=Fraction(1))
_ZERO = Constant(value=Fraction(0))


def negated(terms: Terms) -> Terms:
    """Return the sum with its signs changed."""
    return tuple(replace(term, sign=-term.sign) for term in terms)


def integer(word: Operand, part: Part, fraction: int, *, halves: int = 0) -> Read:
    """Return the whole number nearest to `word` / 2^halves as an integer, where the word n is the integer n. Halves are
    rounded up.
    """
    place = Constant(value=Fraction(1, 1 << fraction))
    return part(Linear(terms=(Term(factors=(word, place)),), shift=halves))


def quotient(left: Operand, right: Operand, part: Part, fraction: int) -> Read:
    """Return the quotient of whole numbers, rounded toward zero, as a real word. It saturates, also where it divides by
    zero.
    """
    return _real(part(Divide(left=left, right=right, fraction=fraction)), part, fraction)


def modulus(left: Operand, right: Operand, part: Part, number_format: Format) -> Operand:
    """Return a word that leaves of the word `left` what `right` leaves, and by which no quotient saturates.

    That is 1 in place of the word -1, and else `right`. Only the least word divided by -1 saturates.
    """
    unit = Fraction(1, number_format.one)
    match left, right:
        case _, Constant(value=value):
            return right if value != -unit else Constant(value=unit, span=right.span)
        case Constant(value=value), _ if number_format.nearest(value) != number_format.lowest:
            return right
    minus = part(Compare(op="==", left=right, right=Constant(value=-unit)))
    return part(Linear(terms=(Term(factors=(right,)), Term(factors=(minus, Constant(value=2 * unit))))))


def _real(number: Operand, part: Part, fraction: int) -> Read:
    """The real word of an integer. It saturates."""
    return part(Linear(terms=(Term(factors=(number, _ONE)),), shift=-fraction))


def half_up(word: Operand, part: Part, fraction: int, *, halves: int = 0) -> Read:
    """Return the whole number nearest to `word` / 2^halves, halves rounded up, as a real word. It saturates."""
    return _real(integer(word, part, fraction, halves=halves), part, fraction)


def half_even(word: Operand, part: Part, fraction: int) -> Terms:
    """Return the whole number nearest to `word`, halves rounded to the even one, as a sum."""
    if not fraction:
        return (Term(factors=(word,)),)
    nearest = half_up(word, part, fraction)
    excess = part(Linear(terms=(Term(factors=(nearest,)), Term(factors=(word,), sign=-1))))
    tie = part(Compare(op="==", left=excess, right=_HALF))
    # Twice the half of an odd number, halves up, is one more than the number.
    half = Term(factors=(half_up(nearest, part, fraction, halves=1),))
    odd = part(Linear(terms=(half, half, Term(factors=(nearest,), sign=-1))))
    return Term(factors=(nearest,)), Term(factors=(tie, odd), sign=-1)


def floor(word: Operand, part: Part, fraction: int) -> Operand:
    """Return the greatest whole number that is not above `word`, as a real word."""
    if not fraction:
        return word
    below = part(Linear(terms=(Term(factors=(word,)), Term(factors=(_HALF,), sign=-1))))
    return half_up(below, part, fraction)


def ceil(word: Operand, part: Part, fraction: int) -> Operand:
    """Return the least whole number that is not below `word`, as a real word. It saturates."""
    if not fraction:
        return word
    almost = Fraction(1, 2) - Fraction(1, 1 << fraction)
    if almost:
        word = part(Linear(terms=(Term(factors=(word,)), Term(factors=(Constant(value=almost),)))))
    return half_up(word, part, fraction)


def halved(word: Operand, times: int, part: Part, fraction: int) -> Operand:
    """Return a whole number divided by 2^times, rounded down, as a real word.

    The machine has few shifts, so a fraction of the format divides, as many bits at a time as it has.
    """
    while times:
        step = min(times, max(1, fraction))
        if fraction:
            scaled = Term(factors=(word, Constant(value=Fraction(1, 1 << step))))
            word = half_up(part(Linear(terms=(scaled, Term(factors=(_HALF,), sign=-1)))), part, fraction)
        else:
            below = part(Linear(terms=(Term(factors=(word,)), Term(factors=(_ONE,), sign=-1))))
            word = half_up(below, part, fraction, halves=1)
        times -= step
    return word


def truncated(word: Operand, part: Part, fraction: int) -> Read:
    """Return a word that rounds to `word` without its fraction: a half less, or almost a half more where `word` is
    negative.
    """
    below = part(Compare(op="<", left=word, right=_ZERO))
    almost = Constant(value=1 - Fraction(1, 1 << fraction))
    moved = (Term(factors=(word,)), Term(factors=(_HALF,), sign=-1), Term(factors=(below, almost)))
    return part(Linear(terms=moved))


def toward_zero(word: Operand, part: Part, fraction: int) -> Operand:
    """Return `word` without its fraction."""
    if not fraction:
        return word
    return half_up(truncated(word, part, fraction), part, fraction)
