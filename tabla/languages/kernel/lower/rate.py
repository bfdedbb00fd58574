"""The learning rate of an update ``w - mu * g``, and where the product with it is placed (decision 0002)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod

from tabla.base.source import Label, Span, TablaError
from tabla.graph.format import Format
from tabla.graph.graph import Affine, Index, Linear, Operand, Ordinal, Read, Term, WordConstant
from tabla.graph.rate import RATE, RuntimeRate
from tabla.languages.kernel.lower.builder import GraphBuilder, mentioned
from tabla.languages.kernel.lower.quantise import Quantiser, shown
from tabla.languages.kernel.lower.scaled import Scaled, taken_apart


class Rate:
    """A learning rate, taken apart into ``sign * mantissa * 2^-shift`` with 1/2 < mantissa <= 1.

    The mantissa of a `loaded` rate is read from the model `RATE`, also where it is 1.
    """

    def __init__(self, rate: Fraction, number_format: Format, span: Span | None, *, loaded: bool = False) -> None:
        """Take a learning rate apart. Raises `TablaError` for a rate with which a program would learn nothing in
        `number_format`.
        """
        self.built, self.loaded = rate, loaded
        labels = [Label(span)] if span is not None else []
        if rate == 0:
            own = ", or set it in the program: mu = 0.1" if labels else ""
            raise TablaError("the learning rate is 0", *labels, hint=f"use --learning-rate 0.1{own}")
        self.sign = 1 if rate > 0 else -1
        self.mantissa, self.shift = taken_apart(abs(rate))
        if self.shift < -number_format.fraction:
            raise TablaError(
                f"the learning rate {shown(rate)} is too large for {number_format}",
                *labels,
                hint="choose a smaller one",
            )
        # The largest product of two words, 2^(2W-2), must still reach half a unit in the last place.
        if number_format.fraction + self.shift - 1 > 2 * number_format.width - 2:
            raise TablaError(
                f"with the learning rate {shown(rate)} every update rounds to zero in {number_format}",
                *labels,
                hint="choose a larger one, or a format with more bits",
            )
        self.span = span

    @property
    def record(self) -> RuntimeRate | None:
        """What hosts have to know of a loaded rate; None for a rate that is part of the microcode."""
        return RuntimeRate(sign=self.sign, shift=self.shift, built=self.built) if self.loaded else None

    @property
    def is_one(self) -> bool:
        """Whether the mantissa is the constant 1, with which nothing needs to be multiplied."""
        return self.mantissa == 1 and not self.loaded

    @property
    def operand(self) -> Operand:
        """The mantissa as a factor: a constant, or a read of the model `RATE`."""
        if self.loaded:
            return Read(tensor=RATE, span=self.span)
        return WordConstant(value=self.mantissa, span=self.span)

    def define(self, builder: GraphBuilder) -> None:
        """Define the model of a loaded rate, and note how exactly the format holds the rate."""
        if self.loaded:
            builder.tensor(RATE, (), "model", origin=RATE, span=self.span)
        self.check(builder.quantiser)

    def check(self, quantiser: Quantiser) -> None:
        """Have `quantiser` note how exactly the number format holds the rate."""
        quantiser.rate(self.mantissa, self.sign * Fraction(2) ** -self.shift, self.span)


@dataclass(frozen=True, slots=True, kw_only=True)
class Descent:
    """Emits ``target = weights - rate * gradient``, element by element; `weights` is the name of a model.

    The rate is applied where it costs least, as decision 0002 says: a gradient that is a product of two words is
    multiplied by it in the factor with fewer elements.
    """

    builder: GraphBuilder
    rate: Rate
    target: str
    weights: str
    span: Span | None = None
    """Where the weights are declared."""

    def by_factors(self, product: Term, write: tuple[Affine, ...], indices: Sequence[Index], span: Span | None) -> None:
        """Emit the step along a gradient that is a product of two words at every element `write` of the weights."""
        left, right = product.factors
        small, large = (left, right) if _touched(left, indices) <= _touched(right, indices) else (right, left)
        if isinstance(large, Read) and not self._holds(small, indices):
            # The rate times such an index may be no word.
            small, large = large, small
        if not self.rate.is_one:
            scaled = Linear(terms=(Term(factors=(self.rate.operand, small)),))
            small = self.builder.part(self.target, scaled, indices, span)
        self._emit(Term(factors=(small, large), sign=-self.rate.sign * product.sign), write, indices, span)

    def by_word(self, word: Operand, write: tuple[Affine, ...], indices: Sequence[Index], span: Span | None) -> None:
        """Emit the step along a gradient that is one word at every element `write` of the weights."""
        whole = self.rate.is_one and self.rate.shift == 0
        factors = (word,) if whole else (self.rate.operand, word)
        self._emit(Term(factors=factors, sign=-self.rate.sign), write, indices, span)

    def _holds(self, operand: Operand, indices: Sequence[Index]) -> bool:
        """Return whether all values of an index are words. Other operands are words."""
        if not isinstance(operand, Ordinal):
            return True
        ends = operand.value.bounds({index.name: index for index in indices})
        return all(self.builder.number_format.holds(end) for end in ends)

    def _emit(self, step: Term, write: tuple[Affine, ...], indices: Sequence[Index], span: Span | None) -> None:
        old = Term(factors=(Read(tensor=self.weights, subscripts=write, stored=True, span=self.span),))
        operation = Linear(terms=(old, step), shift=self.rate.shift)
        self.builder.emit(self.target, write, tuple(indices), operation, span)


def _touched(operand: Operand, indices: Sequence[Index]) -> int:
    """How many elements an operand takes while the indices run through their ranges."""
    return prod(index.extent for index in indices if index.name in mentioned(operand))


def is_product(term: Term) -> bool:
    """Return whether a gradient's only term is a product of two words that the rate may join: neither constant nor
    summed.
    """
    plain = not isinstance(term, Scaled) and not term.reduce
    return plain and len(term.factors) == 2 and all(isinstance(f, Read | Ordinal) for f in term.factors)
