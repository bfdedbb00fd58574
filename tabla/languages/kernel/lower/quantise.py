"""Constants are held against the number format: what it cannot hold, what becomes zero, and how far off the rest is."""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

from tabla.base.source import Label, Span, TablaError
from tabla.graph.format import Format

Use = Literal["factor", "addend"]


class Quantiser:
    """Looks at every constant where it is used, and gathers faults and notes.

    A constant that does not fit is a fault. So is a factor or divisor that rounds to zero and is not zero, because it
    would silence all that it multiplies. An addend that rounds to zero is noted. How far a constant is from its word is
    noted once per value.
    """

    def __init__(self, number_format: Format) -> None:
        self._format = number_format
        self._noted: set[Fraction] = set()
        self._scaled: set[Fraction] = set()
        self._told: set[tuple[int, Fraction]] = set()
        self.faults: list[TablaError] = []
        self.notes: list[str] = []

    def constant(self, value: Fraction, use: Use, span: Span | None) -> None:
        """Check a constant that is used as `use` at `span`."""
        word = self._format.nearest(value)
        if not self._format.holds(value):
            self._unfit(value, f"{shown(value)} does not fit", span)
        elif word == 0 and value != 0 and use == "factor":
            self._fault(
                value,
                f"{shown(value)} rounds to zero in {self._format}, and so would all that it multiplies",
                span,
                f"choose a format with more fraction bits: the smallest step of {self._format} is "
                f"{shown(Fraction(1, self._format.one))}",
            )
        elif value not in self._noted:
            self._note("", value, Fraction(1), span)

    def rate(self, mantissa: Fraction, scale: Fraction, span: Span | None) -> None:
        """Note how exactly the format holds the learning rate ``mantissa * scale``, of which the mantissa becomes a
        word.
        """
        self._note("the learning rate ", mantissa, scale, span)

    def scaled(self, mantissa: Fraction, value: Fraction, span: Span | None, *, inverse: bool) -> None:
        """Note how exactly a product takes the constant `value`, whose mantissa becomes a word.

        With `inverse` the program divides by 1 / `value`.
        """
        self._noted.add(mantissa)
        if value not in self._scaled:
            self._scaled.add(value)
            self._note("", mantissa, value / mantissa, span, f"1/{shown(1 / value)}" if inverse else "")

    def told(self, value: Fraction) -> None:
        """Make no remark about the mantissa `value`, because a remark about its constant says the same."""
        self._scaled.add(value)

    def unscaled(self, value: Fraction, span: Span | None, *, inverse: bool) -> None:
        """Refuse a constant that is so large that every product with it saturates, or so small that every product is 0.

        With `inverse` the program divides by 1 / `value`.
        """
        if not inverse:
            self.constant(value, "factor", span)
            return
        what = "rounds to zero" if value < 1 else "saturates, or is 0,"
        hint = "choose a format with more bits (--format), or scale the value"
        self._fault(value, f"every quotient by {shown(1 / value)} {what} in {self._format}", span, hint)

    def _note(self, what: str, value: Fraction, scale: Fraction, span: Span | None, written: str = "") -> None:
        self._noted.add(value)
        becomes = Fraction(self._format.nearest(value), self._format.one)
        if becomes != value:
            place = f"{span.source.name}:{span.line}:{span.column}: " if span is not None else ""
            off = float(abs(becomes - value) / abs(value) * 100)
            becomes_shown = f"{shown(becomes * scale)} in {self._format}"
            change = f"{written or shown(value * scale)} becomes {becomes_shown}, {off:.2g} % off"
            self.notes.append(f"{place}{what}{change}")

    def integers(self, low: int, high: int, span: Span | None, fraction: int) -> None:
        """Check integers from `low` to `high`, divided by 2^fraction, that are used as values at `span`."""
        for value in (low, high):
            if not self._format.holds(Fraction(value, 1 << fraction)):
                what = f"the iterators run from {low} to {high} here, {value} does not fit"
                self._unfit(Fraction(value), what, span, self._format.one >> fraction)
                return

    def _unfit(self, value: Fraction, what: str, span: Span | None, one: int = 0) -> None:
        """`one`: the word of 1, if not that of the format."""
        one = one or self._format.one
        low, high = Fraction(self._format.lowest, one), Fraction(self._format.highest, one)
        self._fault(
            value,
            f"{what} {self._format}, which holds {shown(low)} to {shown(high)}",
            span,
            "choose a format with more integer bits (--format), or scale the value",
        )

    def _fault(self, value: Fraction, message: str, span: Span | None, hint: str) -> None:
        key = (span.start if span is not None else -1, value)
        if key not in self._told:
            self._told.add(key)
            self.faults.append(TablaError(message, *([Label(span)] if span is not None else []), hint=hint))

    def raise_any(self) -> None:
        """Raise the first fault in the order of the text, with the others in its `more`.

        Return if there is no fault.
        """
        if self.faults:
            ordered = sorted(self.faults, key=lambda fault: fault.labels[0].span.start if fault.labels else -1)
            first = ordered[0]
            raise TablaError(first.message, *first.labels, hint=first.hint, more=ordered[1:])


def shown(value: Fraction) -> str:
    """Return a rational number as messages show it."""
    text = str(value) if value.denominator == 1 else f"{float(value):.10g}"
    return text if len(text) <= 24 else f"a number of {len(text)} digits"
