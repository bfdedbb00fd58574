"""Constants that the number format cannot hold become a mantissa and a shift (decision 22).

A constant c is ``sign * m * 2^-s`` with 1/2 < m <= 1. Its mantissa is rounded to a word with `precision` bits behind
the point, and the power of two joins the shift of the product.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor, prod

from tabla.base.source import Span
from tabla.graph.format import Format
from tabla.graph.graph import (
    FLIPPED,
    Affine,
    Compare,
    CompareOp,
    Constant,
    Divide,
    Index,
    Linear,
    Operand,
    Operation,
    Ordinal,
    Read,
    Term,
    WordConstant,
)
from tabla.languages.kernel.lower.choices import Member
from tabla.languages.kernel.lower.quantise import Quantiser

Part = Callable[[Operation], Read]
"""Makes a temporary of an operation."""
SummedPart = Callable[[Operation, tuple[str, ...]], Read]
"""Makes a temporary of an operation under the indices of sums around it."""

LEAST_PRECISION = 10
"""The fewest bits behind the point of a mantissa, as far as a word has room for them. With 10 bits a mantissa is at
most a thousandth off."""
_ONE = Constant(value=Fraction(1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Factor(Constant):
    """A constant that a product takes as mantissa and shift, also where the format holds the constant.

    `inverse` says that the program divides by 1 / `value`. `place` is the number of bits behind the point of the
    factor's word, once it is chosen.
    """

    inverse: bool = False
    place: int | None = None


_UNIT = Factor(value=Fraction(1))
"""The constant of a word without one, in a scaled sum."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mantissa(Factor):
    """The factor, from 1 to 2, of a sum of products that is rounded before a constant multiplies it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scaled(Term):
    """A product of two words times the constant `scale`."""

    scale: Factor


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared(Term):
    """A product of a sum that is scaled as a whole, of which one factor may be a constant."""


def taken_apart(value: Fraction) -> tuple[Fraction, int]:
    """Return (m, s) of a number above 0, which is ``m * 2^-s`` with 1/2 < m <= 1."""
    mantissa, shift = value, 0
    while mantissa > 1:
        mantissa, shift = mantissa / 2, shift - 1
    while mantissa <= Fraction(1, 2):
        mantissa, shift = mantissa * 2, shift + 1
    return mantissa, shift


def precision(fmt: Format) -> int:
    """Return the bits behind the point of the mantissas of constants."""
    return max(fmt.fraction, min(LEAST_PRECISION, fmt.width - 2))


def outside(value: Fraction, fmt: Format) -> bool:
    """Return whether a format cannot hold a constant, or rounds it to zero."""
    return not fmt.holds(value) or (value != 0 and fmt.nearest(value) == 0)


def place_of(value: Fraction, fmt: Format) -> int:
    """Return the greatest number of bits behind the point with which a word holds a number above 0, rounded.

    It is at most 2 * W - 1, and less than 0 if the number is beyond the range of integers.
    """
    place = 2 * fmt.width - 1
    while floor(value * Fraction(2) ** place + Fraction(1, 2)) > fmt.highest:
        place -= 1
    return place


def common_place(values: Collection[Fraction], fmt: Format) -> int:
    """Return the place of the numbers above 0 that multiply words of one sum (decision 22).

    If all numbers are one power of two, its word is 1.
    """
    largest = max(values)
    mantissa, shift = taken_apart(largest)
    return fmt.fraction + shift if len(values) == 1 and mantissa == 1 else place_of(largest, fmt)


def places_of(values: Collection[Fraction], fmt: Format) -> dict[Fraction, int]:
    """Return the place of each of the numbers above 0 that multiply words of one sum (decision 22).

    They have one place, so that their products are added before they are rounded. Those below a sixteenth of the
    largest one, which are inexact at its place, have a place of their own by the same rule. If all numbers are one
    power of two, its word is 1.
    """
    largest = max(values)
    mantissa, shift = taken_apart(largest)
    if len(set(values)) == 1 and mantissa == 1:
        return {largest: fmt.fraction + shift}
    place = place_of(largest, fmt)
    apart = {value for value in values if 16 * value < largest and (value * Fraction(2) ** place).denominator != 1}
    return {value: place for value in values if value not in apart} | (places_of(apart, fmt) if apart else {})


def scalable(terms: Sequence[Term], by: Fraction, fmt: Format) -> bool:
    """Return whether the machine has a place for each constant of a sum that is multiplied by another one.

    A constant of less than 2^-(W-2) is left to a word that is rounded before. So is one that is so large that it would
    move the sum of products above the words of integers.
    """

    def fits(term: Term) -> bool:
        if isinstance(term, Member):
            return fits(Term(factors=(_ONE,)))
        rest = [factor for factor in term.factors if not isinstance(factor, Constant)]
        known = prod((factor.value for factor in term.factors if isinstance(factor, Constant)), start=abs(by))
        if isinstance(term, Scaled):
            known *= term.scale.value
        most = fmt.one if isinstance(term, Scaled) or len(rest) > 1 else fmt.highest
        return not known or Fraction(4, 1 << fmt.width) <= abs(known) <= most

    return all(map(fits, terms))


def times(
    terms: tuple[Term, ...], value: Fraction, span: Span | None, part: SummedPart, *, inverse: bool = False
) -> tuple[Term, ...]:
    """Return a sum times a constant, which each term takes as mantissa and shift.

    Choices and functions become words before, by `part`. If the sum has products of words beside other terms, it is
    scaled as a whole, so that no part of it saturates for itself. For the same reason a sum whose constants are more
    than 16 times apart becomes a word if the constant is above 1: where that word saturates, so does the result. `span`
    is the place of the constant in the program. With `inverse` the program has 1 / `value` there, as a divisor.
    """
    factor = Factor(value=value, inverse=inverse, span=span)
    made = tuple(words_of(terms, part))
    apart = {abs(term.scale.value) if isinstance(term, Scaled) else int(_multiplies(term)) for term in made}
    if len(apart) > 1 and any(map(_multiplies, made)):
        made = tuple(_whole(term, part) for term in made)
    elif abs(value) > 1 and not any(map(_multiplies, made)):
        known = ((f.value for f in term.factors if isinstance(f, Constant)) for term in made)
        sizes = [abs(prod(values, start=Fraction(1))) for values in known]
        if sizes and max(sizes) > 16 * min(sizes):
            made = (Term(factors=(part(Linear(terms=made), ()),)),)
    return tuple(_times(term, factor) for term in made)


def _multiplies(term: Term) -> bool:
    """Return whether a term is a product of two words."""
    return len([factor for factor in term.factors if not isinstance(factor, Constant)]) > 1


def _whole(term: Term, part: SummedPart) -> Term:
    """Return a term of a sum that is scaled as a whole: a product of two words, of which one may be a constant."""
    if isinstance(term, Scaled) or any(isinstance(factor, Factor) for factor in term.factors):
        word = part(Linear(terms=(replace(term, sign=1, reduce=()),)), term.reduce)
        return Shared(factors=(word, _ONE), sign=term.sign, reduce=term.reduce)
    return Shared(factors=(*term.factors, _ONE)[:2], sign=term.sign, reduce=term.reduce)


def words_of(terms: tuple[Term, ...], part: SummedPart) -> Iterator[Term]:
    """Yield the terms of a sum, in which each choice and each function is a word that `part` makes."""
    for term in terms:
        if not isinstance(term, Member):
            yield term
        elif term.at == 0:
            word = part(Linear(terms=term.of), term.reduce)
            yield Term(factors=(word,), sign=term.sign * term.of[0].sign, reduce=term.reduce)


def _times(term: Term, by: Factor) -> Term:
    if isinstance(term, Scaled):
        return replace(term, scale=replace(by, value=term.scale.value * by.value))
    rest: list[Operand] = [factor for factor in term.factors if not isinstance(factor, Constant)]
    if len(rest) == 2 or isinstance(term, Shared):
        return Scaled(factors=term.factors, sign=term.sign, reduce=term.reduce, scale=by)
    known = prod((factor.value for factor in term.factors if isinstance(factor, Constant)), start=by.value)
    return replace(term, factors=(*(rest or [_ONE]), replace(by, value=known)))


def _addend(term: Term) -> Fraction | None:
    """Return the constant that a term adds once, with its sign; None for any other term."""
    if term.reduce or isinstance(term, Scaled) or any(isinstance(factor, WordConstant) for factor in term.factors):
        return None
    known = [factor.value for factor in term.factors if isinstance(factor, Constant)]
    return term.sign * prod(known, start=Fraction(1)) if len(known) == len(term.factors) else None


def _with_constants(term: Term) -> Term:
    """Return a term whose words that no rule of decision 22 changes are plain constants."""
    if not any(isinstance(factor, WordConstant) for factor in term.factors):
        return term
    plain = (Constant(value=f.value, span=f.span) if isinstance(f, WordConstant) else f for f in term.factors)
    return replace(term, factors=tuple(plain))


def _scale(term: Term) -> Constant | None:
    """Return the constant that multiplies the word of a term; None if there is none, or none but a word."""
    match term.factors:
        case (_, WordConstant()) | (WordConstant(), _):
            return None
        case (_, Constant() as factor) | (Constant() as factor, _):
            return factor
        case _:
            return None


def _factor(constant: Constant) -> Factor:
    """Return a constant that a product takes as mantissa and shift."""
    return constant if isinstance(constant, Factor) else Factor(value=constant.value, span=constant.span)


class Fitting:
    """Rewrites operations so that the words of the format hold the constants of their products and quotients, and the
    indices that they multiply or compare.
    """

    def __init__(self, number_format: Format, quantiser: Quantiser) -> None:
        self._format, self._quantiser = number_format, quantiser

    def fitted(self, operation: Operation, box: Mapping[str, Index], part: Part) -> Operation:
        """Return an operation over `box` as decision 22 defines it, with temporaries that `part` makes.

        An operation whose constants and indices the format holds stays as it is.
        """
        match operation:
            case Linear(test=None):
                linear = self._linear(self._products(self._added(operation), part), box, part)
                return replace(linear, terms=tuple(map(_with_constants, linear.terms)))
            case Divide(left=left, right=Constant(value=divisor, span=span), fraction=None) if divisor:
                if outside(divisor, self._format) or self._places(left, box):
                    quotient = Term(factors=(left, Factor(value=1 / divisor, span=span, inverse=True)))
                    return self._linear(Linear(terms=(quotient,)), box, part)
            case Compare(op=op, left=left, right=right) if not (self._held(left, box) and self._held(right, box)):
                return _compared(op, left, right, box, self._format) or operation
        return operation

    def scales(self, operation: Linear) -> bool:
        """Return whether constants scale terms of a sum, and are not all exactly words."""
        terms = [term for term in operation.terms if not isinstance(term, Member)]
        return any(isinstance(term, Scaled) or not self._plain(term) for term in terms)

    def _held(self, operand: Operand, box: Mapping[str, Index]) -> bool:
        match operand:
            case Constant(value=value):
                return self._format.holds(value)
            case _:
                return not self._places(operand, box)

    def _places(self, operand: Operand, box: Mapping[str, Index]) -> int:
        """Return the least j so that words hold an index divided by 2^j. It is 0 for other operands."""
        if not isinstance(operand, Ordinal) or operand.fraction:
            return 0
        ends = operand.value.bounds(box)
        fits = (
            n for n in range(self._format.fraction + 1) if all(self._format.holds(Fraction(e, 1 << n)) for e in ends)
        )
        return next(fits, 0)

    def _products(self, operation: Linear, part: Part) -> Linear:
        """Sum the scaled products of each constant separately."""
        groups: dict[Fraction, list[Scaled]] = {}
        for term in operation.terms:
            if isinstance(term, Scaled):
                groups.setdefault(abs(term.scale.value), []).append(term)
        if not groups:
            return operation
        made = {value: self._summed(value, group) for value, group in groups.items()}
        if len(made) == 1 and all(isinstance(term, Scaled) for term in operation.terms):
            ((total, mantissa),) = made.values()
            if mantissa is None:
                return total
        terms: list[Term] = []
        for term in operation.terms:
            if not isinstance(term, Scaled):
                terms.append(term)
            elif term is groups[abs(term.scale.value)][0]:
                total, mantissa = made[abs(term.scale.value)]
                word = part(total)
                terms.append(Term(factors=(word,) if mantissa is None else (word, mantissa)))
        return Linear(terms=tuple(terms))

    def _summed(self, value: Fraction, group: Sequence[Scaled]) -> tuple[Linear, Factor | None]:
        """Return the sum of products over a power of two, and the mantissa that multiplies its word, if one does.

        The mantissa is from 1 to 2 here, so that the word saturates no sooner than the result.
        """
        mantissa, shift = taken_apart(value)
        factor = group[0].scale
        if not -self._format.fraction <= shift <= 2 * self._format.width - 2 - self._format.fraction:
            self._quantiser.unscaled(value, factor.span, inverse=factor.inverse)
            shift = 0
        terms = tuple(
            Term(factors=t.factors, sign=t.sign if t.scale.value > 0 else -t.sign, reduce=t.reduce) for t in group
        )
        if mantissa == 1:
            return Linear(terms=terms, shift=shift), None
        word = 2 * mantissa * Fraction(2) ** (place_of(2 * mantissa, self._format) - self._format.fraction)
        self._quantiser.scaled(word, value, factor.span, inverse=factor.inverse)
        self._quantiser.told(2 * mantissa)
        return Linear(terms=terms, shift=shift + 1), Mantissa(value=2 * mantissa, span=factor.span)

    def _added(self, operation: Linear) -> Linear:
        """Return a sum whose constants are added exactly, with their signs, before the sum is a word.

        A single constant keeps its sign apart where its word is the same. In a sum with a shift of its own a constant
        is a product, and stays one.
        """
        if operation.shift:
            return operation
        added = [term for term in operation.terms if _addend(term) is not None]
        total = sum((_addend(term) or Fraction(0) for term in added), start=Fraction(0))
        match added:
            case [] | [Term(sign=1, factors=(_,))]:
                return operation
            case [Term(factors=(_,))] if not self._inexact(total):
                return operation
        first, rest = added[0], [term for term in operation.terms if term is added[0] or _addend(term) is None]
        if not total and len(rest) > 1:
            return replace(operation, terms=tuple(term for term in rest if term is not first))
        word = Term(factors=(Constant(value=total, span=first.factors[0].span),))
        return replace(operation, terms=tuple(word if term is first else term for term in rest))

    def _linear(self, operation: Linear, box: Mapping[str, Index], part: Part) -> Linear:
        """Give the constants of a sum their places, and its products their shifts."""
        if any(self._places(factor, box) for term in operation.terms for factor in term.factors):
            return self._beside_indices(operation, box, part)
        return self._sum(operation, box, part)

    def _sum(self, operation: Linear, box: Mapping[str, Index], part: Part) -> Linear:
        """Return a sum whose constants have one place; those that have none beside the others are sums of their own."""
        while True:
            scales = {abs(factor.value) for term in operation.terms if (factor := _scale(term)) is not None}
            inexact = [term for term in operation.terms if not self._plain(term)]
            if not inexact:
                return replace(operation, terms=tuple(map(self._held_exactly, operation.terms)))
            if any(_scale(term) is None and len(term.factors) == 2 for term in operation.terms):
                apart, place = inexact, 0
            else:
                words = [term for term in operation.terms if _scale(term) is None]
                start = len(words) == 1 and words[0].sign == 1 and not words[0].reduce
                values = scales if start or not words else scales | {_UNIT.value}
                place = common_place(values, self._format)
                apart = [term for term in operation.terms if self._small(term, max(values), place)]
                if not apart:
                    return self._at(operation, place, start, box)
            made = part(self._sum(Linear(terms=tuple(apart)), box, part))
            # What the shift of a sum moves is a product.
            word = Term(factors=(made, _ONE) if operation.shift else (made,))
            terms = (word if term is apart[0] else term for term in operation.terms)
            operation = replace(operation, terms=tuple(t for t in terms if not any(t is other for other in apart)))

    def _plain(self, term: Term) -> bool:
        """Return whether a product needs no place but that of the format."""
        factor = _scale(term)
        return factor is None or self._exactly_held(factor)

    def _small(self, term: Term, largest: Fraction, place: int) -> bool:
        """Return whether a constant is less than a sixteenth of the largest one, and inexact at its place."""
        factor = _scale(term)
        if factor is None:
            return False
        return 16 * abs(factor.value) < largest and (factor.value * Fraction(2) ** place).denominator != 1

    def _at(self, operation: Linear, place: int, start: bool, box: Mapping[str, Index]) -> Linear:
        """Return a sum whose constants are words with `place` bits behind the point.

        Words without a constant have the constant 1, but for the one at the `start`.
        """
        terms = list[Term]()
        for term in operation.terms:
            if start and _scale(term) is None:
                terms.append(term)
                continue
            points = prod(box[name].extent for name in term.reduce)
            terms.append(self._with_place(term, place, points))
        return replace(operation, terms=tuple(terms), shift=operation.shift + place - self._format.fraction)

    def _with_place(self, term: Term, place: int, points: int) -> Term:
        """Return a term whose constant is a word with `place` bits behind the point; it is added `points` times."""
        one, other = term.factors if len(term.factors) == 2 else (*term.factors, _UNIT)
        scale = other if isinstance(other, Constant) else one
        assert isinstance(scale, Constant)
        mantissa, _ = self._mantissa(replace(_factor(scale), place=place), self._format.fraction, points)
        factors = (one, mantissa) if scale is other else (mantissa, other)
        return replace(term, factors=factors, sign=term.sign if scale.value > 0 else -term.sign)

    def _beside_indices(self, operation: Linear, box: Mapping[str, Index], part: Part) -> Linear:
        """Give each product its shift, in a sum with indices that the format cannot hold.

        Products with one shift are summed and rounded together.
        """
        operation = self._placed(operation, box)
        groups: dict[int, list[Term]] = {}
        fitted: list[tuple[int | None, Term]] = []
        for term in operation.terms:
            if len(term.factors) == 1:
                fitted.append((None, term))
                continue
            places, made = self._term(term, box)
            groups.setdefault(places, []).append(made)
            fitted.append((places, made))
        if not any(groups):
            return operation
        words = [term for shift, term in fitted if shift is None]
        if len(groups) == 1 and (not words or (len(words) == 1 and words[0].sign == 1 and not words[0].reduce)):
            (only,) = groups
            return replace(operation, terms=tuple(term for _, term in fitted), shift=operation.shift + only)
        terms: list[Term] = []
        for shift, term in fitted:
            if not shift:
                terms.append(term)
            elif term is groups[shift][0]:
                terms.append(Term(factors=(part(Linear(terms=tuple(groups[shift]), shift=shift)),)))
        return replace(operation, terms=tuple(terms))

    def _term(self, term: Term, box: Mapping[str, Index]) -> tuple[int, Term]:
        """Return the shift of a product, and the product without that shift."""
        places = [self._places(factor, box) for factor in term.factors]
        room = self._format.fraction - sum(places)
        if room < 0:
            return 0, term
        shift, sign, factors = -sum(places), term.sign, list[Operand]()
        points = prod(box[name].extent for name in term.reduce)
        for factor, taken in zip(term.factors, places, strict=True):
            match factor:
                case Ordinal() if taken:
                    factors.append(replace(factor, fraction=taken))
                case Constant(value=value) if value and self._apart(factor, bool(shift)):
                    mantissa, more = self._mantissa(factor, room, points)
                    factors.append(mantissa)
                    shift, sign = shift + more, sign if value > 0 else -sign
                case _:
                    factors.append(factor)
        return shift, replace(term, factors=tuple(factors), sign=sign)

    def _placed(self, operation: Linear, box: Mapping[str, Index]) -> Linear:
        """Give the factors of a sum their common places (decision 22).

        If words hold all factors exactly, they are plain constants. Else those that are small beside the largest one,
        and inexact at its place, have a place of their own, and so on.
        """
        factors = [f for term in operation.terms for f in term.factors if isinstance(f, Factor)]
        if all(map(self._exactly_held, factors)):
            return replace(operation, terms=tuple(map(self._held_exactly, operation.terms)))
        places = places_of({abs(factor.value) for factor in factors}, self._format)

        def placed(term: Term) -> Term:
            match term.factors:
                case (other, Factor(value=value) as factor) if not self._places(other, box):
                    return replace(term, factors=(other, replace(factor, place=places[abs(value)])))
                case _:
                    return term

        return replace(operation, terms=tuple(map(placed, operation.terms)))

    def _held_exactly(self, term: Term) -> Term:
        """Return a product without its factor, if the factor is exactly a word of the format.

        Such a factor is a plain constant, or nothing beside a sign if it is 1 or -1.
        """
        match term.factors:
            case (other, Factor() as factor) if self._exactly_held(factor):
                value, span = factor.value, factor.span
                if abs(value) == 1:
                    return replace(term, factors=(other,), sign=term.sign * int(value))
                word = Constant(value=value, span=span)
                return replace(term, factors=(word,) if other == _ONE else (other, word))
            case _:
                return term

    def _exactly_held(self, factor: Constant) -> bool:
        """Return whether the format holds a factor exactly, and the divisor that it stands for, too."""
        written = 1 / factor.value if isinstance(factor, Factor) and factor.inverse else factor.value
        held = not outside(written, self._format) and not outside(factor.value, self._format)
        return held and not isinstance(factor, Mantissa) and not self._inexact(factor.value)

    def _inexact(self, value: Fraction) -> bool:
        return (value * self._format.one).denominator != 1

    def _apart(self, constant: Constant, beside_index: bool) -> bool:
        """Return whether a product takes a constant apart; beside a scaled index it does so if the word is inexact."""
        taken = isinstance(constant, Factor) or outside(constant.value, self._format)
        return taken or (beside_index and self._inexact(constant.value))

    def _mantissa(self, constant: Constant, room: int, points: int) -> tuple[Constant, int]:
        """Return a mantissa of a constant that words hold, and the shift beside it.

        The sum has `points` such products. Their shift is at least -`room`, so a large constant has a larger mantissa.
        """
        fmt, value, span = self._format, abs(constant.value), constant.span
        mantissa, shift = taken_apart(value)
        more = 0 if mantissa == 1 else precision(fmt) - fmt.fraction
        more = max(more, -room - shift)
        if isinstance(constant, Factor) and constant.place is not None:
            more = constant.place - fmt.fraction - shift
        scaled = Constant(value=mantissa * Fraction(2) ** more, span=span)
        shift += more
        vanishes = 2 * value * points * -fmt.lowest < 1 or not 0 <= fmt.fraction + shift < 2 * fmt.width
        inverse = isinstance(constant, Factor) and constant.inverse
        if vanishes or not fmt.holds(scaled.value):
            self._quantiser.unscaled(value, span, inverse=inverse)
            return _ONE, 0
        self._quantiser.scaled(scaled.value, value, span, inverse=inverse)
        return scaled, shift


def _compared(op: CompareOp, left: Operand, right: Operand, box: Mapping[str, Index], fmt: Format) -> Operation | None:
    """Return an exact comparison of an index as an integer; None if a side is no integer that a word holds."""
    match left, right:
        case Ordinal(value=one, fraction=0), Ordinal(value=other, fraction=0):
            return _of_integers(op, one, other, box, fmt)
        case Ordinal(value=one, fraction=0), Constant(value=value):
            low, high = one.bounds(box)
            if op in ("==", "!=") and value.denominator != 1:
                return Linear(terms=(Term(factors=(Constant(value=Fraction(op == "!=")),)),))
            # Beyond the ends of the index every number is alike.
            near = min(max(value, Fraction(low - 1)), Fraction(high + 1))
            whole = ceil(near) if op in ("<", ">=") else floor(near)
            return _of_integers(op, one, Affine(constant=whole), box, fmt)
        case Constant(), Ordinal():
            return _compared(FLIPPED[op], right, left, box, fmt)
        case _:
            return None


def _of_integers(op: CompareOp, left: Affine, right: Affine, box: Mapping[str, Index], fmt: Format) -> Compare | None:
    if any(not fmt.lowest <= end <= fmt.highest for side in (left, right) for end in side.bounds(box)):
        return None
    words = [Ordinal(value=side, fraction=fmt.fraction) for side in (left, right)]
    return Compare(op=op, left=words[0], right=words[1])
