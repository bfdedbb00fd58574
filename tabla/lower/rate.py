"""The learning rate of an update ``w - mu * g``, and where the product with it is placed (decision 0002)."""

from __future__ import annotations

from fractions import Fraction

from tabla.ir.format import Format
from tabla.ir.graph import Index, Operand, Ordinal, Read, Term
from tabla.lower.builder import mentioned
from tabla.lower.quantise import shown
from tabla.source import Label, Span, TablaError


class Rate:
    """``sign * mantissa * 2^-shift`` with 1/2 < mantissa <= 1."""

    def __init__(self, rate: Fraction, number_format: Format, span: Span | None) -> None:
        """Take a learning rate apart. Raises `TablaError` for one with which `number_format` learns nothing."""
        labels = [Label(span)] if span is not None else []
        if rate == 0:
            raise TablaError("the learning rate is 0", *labels, hint="set it: mu = 0.1; or -D mu=0.1")
        self.sign = 1 if rate > 0 else -1
        self.mantissa, self.shift = abs(rate), 0
        while self.mantissa > 1:
            self.mantissa, self.shift = self.mantissa / 2, self.shift - 1
        while self.mantissa <= Fraction(1, 2):
            self.mantissa, self.shift = self.mantissa * 2, self.shift + 1
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


def touched(operand: Operand, indices: tuple[Index, ...]) -> int:
    """How many elements an operand takes over the box."""
    count = 1
    for index in indices:
        if index.name in mentioned(operand):
            count *= index.extent
    return count


def is_product(term: Term) -> bool:
    """Whether a gradient's only term is a product of two words that `mu` may join: neither constant nor summed."""
    return len(term.factors) == 2 and not term.reduce and all(isinstance(f, Read | Ordinal) for f in term.factors)
