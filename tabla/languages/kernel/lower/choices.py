"""Values of several terms that are one word for what multiplies them: choices, and functions that are made of sums."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tabla.graph.graph import Constant, Operand, Term, WordConstant


@dataclass(frozen=True, slots=True, kw_only=True)
class Member(Term):
    """A term of a value that is one word for a constant that multiplies it: a choice, or a function.

    `of` are all terms of that value, in which this one has the position `at`. The value fits a word although products
    of its terms with the constant may not.
    """

    of: tuple[Term, ...]
    at: int


def choice(condition: Operand, chosen: Operand, other: Operand) -> tuple[Term, ...]:
    """Return ``condition ? chosen : other`` as ``c * chosen - c * other + other``, where the condition c is 1 or 0.

    Constants that are chosen are words, so that the value is exactly one of the two.
    """
    chosen, other = _word(chosen), _word(other)
    terms = (
        Term(factors=(condition, chosen)),
        Term(factors=(condition, other), sign=-1),
        Term(factors=(other,)),
    )
    # A choice of two zeros keeps one of them, because a value has a term.
    kept = tuple(term for term in terms if not any(isinstance(f, Constant) and not f.value for f in term.factors))
    return undivided(kept or terms[2:])


def _word(operand: Operand) -> Operand:
    return WordConstant(value=operand.value, span=operand.span) if isinstance(operand, Constant) else operand


def undivided(terms: tuple[Term, ...]) -> tuple[Term, ...]:
    """Return the terms of a choice or a function, which a constant multiplies as one word."""
    if not adds(terms) and all(len(term.factors) == 1 for term in terms):
        return terms
    plain = tuple(map(plain_term, terms))
    return tuple(
        Member(factors=term.factors, sign=term.sign, reduce=term.reduce, of=plain, at=at)
        for at, term in enumerate(plain)
    )


def factor_of(terms: tuple[Term, ...]) -> tuple[int, tuple[Term, ...]]:
    """Return a sign, and the terms of a value that becomes a word beside it: a minus before a choice stays outside."""
    first = terms[0] if terms else None
    if not isinstance(first, Member) or len(terms) != len(first.of) or first.reduce:
        return 1, terms
    if any(not isinstance(term, Member) or term.of is not first.of for term in terms):
        return 1, terms
    return first.sign * first.of[0].sign, first.of


def plain_term(term: Term) -> Term:
    """Return a term that no longer belongs to a choice or a function."""
    return Term(factors=term.factors, sign=term.sign, reduce=term.reduce) if isinstance(term, Member) else term


def adds(terms: Sequence[Term]) -> bool:
    """Return whether a value is a sum: of several terms, or over indices."""
    whole = [term for term in terms if not isinstance(term, Member) or term.at == 0]
    return len(whole) > 1 or any(term.reduce for term in whole)
