"""Integers of a kernel as words: the integer n is the word n, which stands for the real n * 2^-F.

Sums, choices, extremes and comparisons of integers are therefore those of words, and exact. A product of two integers
is shifted by F less than a product of reals, and an integer becomes a real by a shift of F.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Protocol

from tabla.base.source import Span
from tabla.graph.format import Format
from tabla.graph.graph import (
    Affine,
    Compare,
    Constant,
    Divide,
    Extreme,
    Gathered,
    Linear,
    Operand,
    Operation,
    Ordinal,
    Read,
    Term,
)
from tabla.graph.whole import Part, integer, modulus, truncated
from tabla.languages.kernel import tree
from tabla.languages.kernel.constants import affine_of
from tabla.languages.kernel.faults import refused
from tabla.languages.kernel.lower.choices import choice, undivided
from tabla.languages.kernel.lower.functions import idle
from tabla.languages.kernel.lower.values import COMPARISONS, EXTREMES, Sum, Value, Word, known_of, operand_of, starts

_ARITHMETIC = ("add", "subtract", "multiply", "divide", "remainder", "negate", "abs", "min", "max")
_ONE = Constant(value=Fraction(1))
_ZERO = Constant(value=Fraction(0))


class Reals(Protocol):
    """What integers are made of that is no integer, and how temporaries are made."""

    @property
    def prefers_reals(self) -> bool:
        """Whether integers are real words where the format holds them so."""

    def real(self, expression: tree.Expression) -> Operand:
        """Return the word of a real number or of a truth value."""

    def counted(self, expression: tree.Read | tree.Gather | tree.Reduce) -> Value:
        """Return an element of integers, or a reduction of integers, as an integer."""

    def form(self, expression: tree.Expression) -> Affine | None:
        """Return an expression that reads nothing as a sum of indices, and None for any other one."""

    def joined(self, value: Value, span: Span | None) -> Operand:
        """Return a value as one word."""

    def temporary(self, operation: Operation, span: Span | None) -> Read:
        """Return a temporary that holds an operation."""


class Integers:
    """The integer values of one statement after the other."""

    def __init__(self, reals: Reals, number_format: Format) -> None:
        self._reals, self._format = reals, number_format
        self._fraction = number_format.fraction
        self._unit = Fraction(1, number_format.one)

    def value(self, expression: tree.Expression) -> Value:
        """Return an integer value as a sum of words that are integers, or as an operation that gives one."""
        if (form := self._reals.form(expression)) is not None:
            return self._ordinal(form, expression.span)
        first, chain = tree.spine(expression)
        # Only arithmetic leans to the left. What it begins with may be a conversion, or a choice.
        value: Value
        begin = max((at for at, call in enumerate(chain, 1) if call.function not in _ARITHMETIC), default=0)
        for count in range(len(chain) - 1, begin, -1):
            if (form := self._reals.form(chain[count - 1])) is not None:
                value, begin = self._ordinal(form, chain[count - 1].span), count
                break
        else:
            value = self._made(chain[begin - 1]) if begin else self._leaf(first)
        for call in chain[begin:]:
            value = self._combined(call, [value, *map(self.value, call.arguments[1:])])
        return value

    def word(self, expression: tree.Expression) -> Operand:
        """Return an integer value as one word."""
        return self._reals.joined(self.value(expression), expression.span)

    def as_real(self, number: Operand, span: Span | None) -> Word:
        """Return the real number that an integer is. One outside of the format saturates, and is counted."""
        return Word(operation=self._shifted(number, _ONE), span=span)

    def compared(self, call: tree.Apply) -> Word:
        """Return a comparison of integers of which some are data, as a comparison of their words."""
        left, right = (self.word(argument) for argument in call.arguments)
        return Word(operation=Compare(op=COMPARISONS[call.function], left=left, right=right), span=call.span)

    def remainder(self, left: Operand, right: Operand, span: Span | None) -> Sum:
        """Return ``left - right * (left / right)``, where the quotient is rounded toward zero.

        The multiple of the divisor is no larger than `left`, so it is a word. The rule holds for reals too, because the
        quotient of their words is the same integer.
        """
        part = self._part(span)
        right = modulus(left, right, part, self._format)
        quotient = part(Divide(left=left, right=right, fraction=self._fraction))
        multiple = part(self._shifted(quotient, right))
        return Sum(terms=(Term(factors=(left,)), Term(factors=(multiple,), sign=-1)))

    def position(self, subscript: tree.Expression) -> Gathered:
        """Return a computed subscript: a word that is an integer, plus a sum of indices."""
        offset = Affine.of(0)
        while isinstance(subscript, tree.Apply) and subscript.function in ("add", "subtract"):
            left, right = subscript.arguments
            if (form := affine_of(right)) is not None:
                offset, subscript = offset + (form if subscript.function == "add" else -form), left
            elif subscript.function == "add" and (form := affine_of(left)) is not None:
                offset, subscript = offset + form, right
            else:
                break
        table = self.word(subscript)
        if not isinstance(table, Read):
            table = self._reals.temporary(Linear(terms=(Term(factors=(table,)),)), subscript.span)
        return Gathered(table=table, offset=offset)

    def _ordinal(self, form: Affine, span: Span | None) -> Sum:
        if form.coefficients:
            return operand_of(Ordinal(value=form, fraction=self._fraction, span=span))
        return self._constant(Fraction(form.constant), span)

    def _constant(self, value: Fraction, span: Span | None) -> Sum:
        return operand_of(Constant(value=value * self._unit, span=span)) if value else Sum()

    def _leaf(self, expression: tree.Expression) -> Value:
        match expression:
            case tree.Read() | tree.Gather() | tree.Reduce():
                return self._reals.counted(expression)
            case tree.Limit(end=end, span=span):
                word = self._format.lowest if end == "lowest" else self._format.highest
                return self._constant(Fraction(word), span)
            case _:
                form = self._reals.form(expression)
                assert form is not None, expression
                return self._ordinal(form, expression.span)

    def _made(self, call: tree.Apply) -> Value:
        """Return a conversion to an integer, or a choice between two."""
        span = call.span
        match call.function, call.arguments:
            case "integer", (value,) if value.type == "integer":
                return self.value(value)
            case "integer", (value,) if value.type == "truth":
                # The real 1 is the integer 1.
                return Sum(terms=(Term(factors=(self._reals.real(value), Constant(value=self._unit))),))
            case "integer", (value,):
                part = self._part(value.span)
                return operand_of(
                    integer(truncated(self._reals.real(value), part, self._fraction), part, self._fraction)
                )
            case "select", (condition, chosen, other):
                test, one, two = self._reals.real(condition), self.word(chosen), self.word(other)
                if isinstance(two, Constant) and not two.value:
                    return Sum(terms=(Term(factors=(test, one)),))
                return Sum(terms=choice(test, one, two))
            case function, _ if self._reals.prefers_reals:
                last = self._format.highest >> self._fraction
                hint = f"choose a format with more integer bits: the numbers of {self._format} end at {last}"
                raise refused(f"{function} of positions that {self._format} cannot hold does not run", span, hint)
            case function, _:
                raise refused(
                    f"'{function}' of integers does not run on the machine", span, "tabla eval --float has it"
                )

    def _combined(self, call: tree.Apply, values: list[Value]) -> Value:
        span = call.span
        sums = [self._sum(value) for value in values]
        match call.function, sums:
            case "negate", [one]:
                return Sum(terms=one.signed(-1))
            case "add", [left, right]:
                return Sum(terms=(*left.signed(), *right.signed()))
            case "subtract", [left, right]:
                return Sum(terms=(*left.signed(), *right.signed(-1)))
        words = [self._reals.joined(each, argument.span) for each, argument in zip(sums, call.arguments, strict=True)]
        match call.function, words:
            case "multiply", [left_word, right_word]:
                return Word(operation=self._shifted(left_word, right_word), span=span)
            case "divide" | "remainder", [_, Constant(value=value)] if not value:
                place = call.arguments[1].span
                raise refused("division by zero", place, "divide by something else", "this is 0")
            case "divide", [left_word, right_word]:
                return Word(operation=Divide(left=left_word, right=right_word, fraction=self._fraction), span=span)
            case "remainder", [left_word, right_word]:
                return self.remainder(left_word, right_word, span)
            case "abs", [word]:
                below = self._reals.temporary(Compare(op="<", left=word, right=_ZERO), span)
                less = Term(factors=(below, word), sign=-1)
                return Sum(terms=undivided((Term(factors=(word,)), less, less)))
            case ("min" | "max") as function, [left_word, right_word]:
                for limit, argument, other in zip(sums, call.arguments, sums[::-1], strict=True):
                    if starts(argument, function) or idle(EXTREMES[function], known_of(limit), self._format):
                        return other
                return Word(operation=Extreme(op=EXTREMES[function], operands=(left_word, right_word)), span=span)
            case function, _:
                raise AssertionError(f"{function} is no arithmetic of integers")

    def _sum(self, value: Value) -> Sum:
        return value if isinstance(value, Sum) else operand_of(self._reals.joined(value, value.span))

    def _shifted(self, one: Operand, other: Operand) -> Linear:
        """Return the product of two integers, or of an integer and a real number, as a word."""
        return Linear(terms=(Term(factors=(one, other)),), shift=-self._fraction)

    def _part(self, span: Span | None) -> Part:
        return lambda operation: self._reals.temporary(operation, span)
