"""Clock rates that a PLL can make, and the dividers that make them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import gcd

from tabla.templates.targets import Pll


@dataclass(frozen=True, slots=True, kw_only=True)
class PllSettings:
    """The dividers of a PLL whose feedback is its output: output = reference * feedback / reference_divider.

    The PLL's oscillator runs at the output's rate times `output_divider`. Rates are in Hz.
    """

    reference: int
    reference_divider: int
    feedback_divider: int
    output_divider: int

    @property
    def exact(self) -> Fraction:
        """The rate of the output in Hz."""
        return Fraction(self.reference * self.feedback_divider, self.reference_divider)

    @property
    def hertz(self) -> int:
        """The rate of the output in Hz, rounded."""
        return round(self.exact)


def settings_of(pll: Pll, reference: int) -> list[PllSettings]:
    """Return one setting for each rate that the PLL can make of the reference (in Hz), slowest first.

    Where several dividers make a rate, those with the fastest phase detector are chosen, and of these the ones whose
    oscillator is farthest from its limits. A reference that the PLL does not take has no settings.
    """
    if not pll.source[0] <= reference <= pll.source[1]:
        return []
    middle = sum(pll.oscillator) / 2
    found = []
    for divider in range(1, pll.dividers + 1):
        detector = Fraction(reference, divider)
        if not pll.detector[0] <= detector <= pll.detector[1]:
            continue
        for feedback in range(1, pll.dividers + 1):
            output = detector * feedback
            if gcd(divider, feedback) > 1 or not pll.output[0] <= output <= pll.output[1]:
                continue
            outputs = [
                each for each in range(1, pll.dividers + 1) if pll.oscillator[0] <= output * each <= pll.oscillator[1]
            ]
            if outputs:
                best = min(outputs, key=lambda each: abs(output * each - middle))
                found.append(
                    PllSettings(
                        reference=reference, reference_divider=divider, feedback_divider=feedback, output_divider=best
                    )
                )
    return sorted(found, key=lambda one: one.exact)
