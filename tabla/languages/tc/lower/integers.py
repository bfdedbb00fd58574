"""Integers of Tensor Comprehensions as words: the integer n is the word n, which stands for the real n * 2^-F.

Sums, choices, extremes and comparisons of integers are therefore those of words, and exact. A product of two integers
is shifted by F less than a product of reals, and an integer becomes a real by a shift of F.
"""

from __future__ import annotations

from fractions import Fraction

from tabla.base.source import Label, Span, TablaError
from tabla.graph.graph import (
    Affine,
    Compare,
    Constant,
    Divide,
    Gather,
    Gathered,
    Linear,
    Operand,
    Operation,
    Ordinal,
    Read,
    Term,
)
from tabla.languages.kernel.lower.builder import Sum, negated
from tabla.languages.kernel.lower.whole import integer, modulus, truncated
from tabla.languages.tc import program
from tabla.languages.tc.lower.words import Words
from tabla.languages.tc.program import Value, walk


def reads_integers(value: Value) -> bool:
    """Return whether a value contains elements of integer tensors."""
    return any(isinstance(part, program.Read) and part.scalar.integral for part in walk(value))


class Integers:
    """The integer values of one statement."""

    def __init__(self, words: Words) -> None:
        self.real = words
        self.fraction = words.builder.number_format.fraction
        self.one = Constant(value=Fraction(1, 1 << self.fraction))

    def word(self, value: Value) -> Operand:
        """Return an integer value as one word."""
        return self.real.joined(self.sum_of(value), value.span)

    def sum_of(self, value: Value) -> Sum:
        """Return an integer value as signed terms of words."""
        if (constant := self.real.constant(value)) is not None:
            scaled = Constant(value=constant * self.one.value, span=value.span)
            return (Term(factors=(scaled,)),) if constant else ()
        if not value.scalar.integral:
            # A boolean: the real 1 is the integer 1.
            return (Term(factors=(self.real.word(value), self.one)),)
        if (affine := self.real.points.affine(value)) is not None:
            return (Term(factors=(Ordinal(value=affine, fraction=self.fraction, span=value.span),)),)
        match value:
            case program.Read():
                return (Term(factors=(self.real.read(value),)),)
            case program.Unary(operator="-", operand=operand):
                return negated(self.sum_of(operand))
            case program.Binary(operator="+", left=left, right=right):
                return self.sum_of(left) + self.sum_of(right)
            case program.Binary(operator="-", left=left, right=right):
                return self.sum_of(left) + negated(self.sum_of(right))
            case program.Binary(operator="*", left=left, right=right):
                product = Term(factors=(self.word(left), self.word(right)))
                return (Term(factors=(self._scaled(product, value.span),)),)
            case program.Binary(operator="/", left=left, right=right):
                return (Term(factors=(self._quotient(self.word(left), self.word(right), value.span),)),)
            case program.Binary(operator="%", left=left, right=right):
                return self.remainder(self.word(left), self.word(right), value.span)
            case program.Choice():
                return self.real.chosen(value, self.word)
            case program.Apply(function="min" | "max" as function):
                return self.real.extreme(function, value, self.sum_of, one=self.one.value)
            case program.Convert(operand=operand) if operand.scalar.kind == "float":
                return (Term(factors=(self._truncated(operand),)),)
            case program.Convert(operand=operand):
                return self.sum_of(operand)
            case _:
                raise TablaError(
                    "this integer arithmetic does not run on the machine yet",
                    Label(value.span),
                    hint="sums, products, comparisons, choices, min and max do; tabla eval --float has all",
                )

    def as_real(self, integer: Operand, span: Span) -> Operand:
        """Return the real word of an integer. An integer outside the format saturates, and is counted."""
        return self._scaled(Term(factors=(integer, Constant(value=Fraction(1)))), span)

    def compared(self, comparison: program.Binary) -> Operand:
        """Return a comparison of integers of which some are data, as a comparison of their words."""
        left, right = self.word(comparison.left), self.word(comparison.right)
        compare = Compare(op=comparison.operator, left=left, right=right)  # type: ignore[arg-type]
        return self.real.part(compare, comparison.span)

    def gathered(self, read: program.Read) -> Read:
        """Return an element at subscripts of which some are data, or lie outside the tensor at some points.

        Where a condition of the read fails, such a position is 0. So it is valid, although no choice takes its word.
        """
        held, made = self.real.held[read.tensor], self.real.path_word()
        subscripts: list[Affine | Gathered] = []
        bounds = self.real.points.bounds(read.tensor)
        for subscript, low, between in zip(read.subscripts, held.base, bounds, strict=True):
            affine = self.real.points.affine(subscript)
            if affine is not None and self.real.points.inside(affine, between):
                subscripts.append(Affine(constant=affine.constant - low, coefficients=affine.coefficients))
            elif made is None:
                subscripts.append(self._position(subscript, low))
            else:
                subscripts.append(self._masked(subscript, between[0], between[0] - low, made))
        return self.real.part(Gather(tensor=held.tensor, subscripts=tuple(subscripts)), read.span)

    def _masked(self, subscript: Value, first: int, offset: int, made: Operand) -> Gathered:
        """The position of a subscript where `made` is 1, and else that of the subscript `first`.

        The table holds the subscript less `first`; `offset` is the position of `first`.
        """
        terms = self.sum_of(subscript)
        if first:
            less = Constant(value=first * self.one.value, span=subscript.span)
            terms = (*terms, Term(factors=(less,), sign=-1))
        word = self.real.joined(terms, subscript.span)
        product = Linear(terms=(Term(factors=(made, word)),))
        return Gathered(table=self.real.part(product, subscript.span), offset=Affine.of(offset))

    def _position(self, subscript: Value, low: int) -> Gathered:
        offset = Affine.of(-low)
        match subscript:
            case program.Binary(operator="+", left=left, right=right):
                for data, rest in ((left, right), (right, left)):
                    affine = self.real.points.affine(rest)
                    if affine is not None and self.real.points.affine(data) is None:
                        offset = Affine(constant=affine.constant - low, coefficients=affine.coefficients)
                        subscript = data
                        break
        table = self.word(subscript)
        if not isinstance(table, Read):
            table = self.real.part(Linear(terms=(Term(factors=(table,)),)), subscript.span)
        return Gathered(table=table, offset=offset)

    def _scaled(self, product: Term, span: Span) -> Read:
        return self.real.part(Linear(terms=(product,), shift=-self.fraction), span)

    def _quotient(self, left: Operand, right: Operand, span: Span) -> Read:
        return self.real.part(Divide(left=left, right=right, fraction=self.fraction), span)

    def remainder(self, left: Operand, right: Operand, span: Span) -> Sum:
        """Return ``left - right * (left / right)``, where the quotient is rounded toward zero.

        The multiple of the divisor is no larger than `left`, so it is a word. The rule holds for reals too, because the
        quotient of their words is the same integer.
        """

        def part(operation: Operation) -> Read:
            return self.real.part(operation, span)

        right = modulus(left, right, part, self.real.builder.number_format)
        multiple = self._scaled(Term(factors=(self._quotient(left, right, span), right)), span)
        return Term(factors=(left,)), Term(factors=(multiple,), sign=-1)

    def _truncated(self, operand: Value) -> Operand:
        """A real toward zero."""

        def part(operation: Operation) -> Read:
            return self.real.part(operation, operand.span)

        return integer(truncated(self.real.word(operand), part, self.fraction), part, self.fraction)
